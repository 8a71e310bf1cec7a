from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property


class MessageCatalog:
    """Translates complete English messages into one language.

    `forms` maps patterns, such as "unknown game {}", to translations with {} or {0}. Arguments are
    translated too. If several patterns match, the one with the most literal text is used.
    """

    def __init__(self, forms: Mapping[str, str]) -> None:
        self._forms = forms

    def translate(self, message: str) -> str:
        """Return the translation of a message, or the message itself if no pattern matches."""
        for pattern, translation in self._patterns:
            if match := pattern.fullmatch(message):
                return translation.format(
                    *(self.translate(text) if text else text for text in match.groups())
                )
        return message

    @cached_property
    def _patterns(self) -> list[tuple[re.Pattern[str], str]]:
        forms = self._forms.items()
        ordered = sorted(forms, key=lambda form: len(form[0].replace("{}", "")), reverse=True)
        return [
            (re.compile("(.*?)".join(map(re.escape, form.split("{}"))), re.DOTALL), translation)
            for form, translation in ordered
        ]
