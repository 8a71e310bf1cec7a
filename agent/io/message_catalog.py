"""Messages in another language.

Errors are raised in English, far from anybody who knows the user's language. So a message is
recognised by its form: {} stands for what was filled in, which is translated too if it is a message
itself. Of several forms that fit, the one that says most is meant.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property


class MessageCatalog:
    """Says messages of known forms in another language.

    forms: by an English form what it is there, in which {} or {0} stands for what was filled in.
    """

    def __init__(self, forms: Mapping[str, str]) -> None:
        self._forms = forms

    def translate(self, message: str) -> str:
        """Return a message in the other language; unchanged if it has no known form."""
        for pattern, other in self._patterns:
            if match := pattern.fullmatch(message):
                # What is empty is nothing but a name.
                return other.format(
                    *(self.translate(each) if each else each for each in match.groups())
                )
        return message

    @cached_property
    def _patterns(self) -> list[tuple[re.Pattern[str], str]]:
        """What the messages look like, those that say most first, and the other form of each."""
        forms = self._forms.items()
        ordered = sorted(forms, key=lambda form: len(form[0].replace("{}", "")), reverse=True)
        return [
            (re.compile("(.*?)".join(map(re.escape, form.split("{}"))), re.DOTALL), other)
            for form, other in ordered
        ]
