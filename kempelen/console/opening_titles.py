"""Opening names in another language, put together from the translations of their parts."""

import re

from kempelen.console.translation import catalogue

CONTEXT = "opening"
# Most parts are a proper name and one of these words, which may have other words after it.
_TYPE = re.compile(
    r"(?P<name>.+?)(?:'s)? (?P<type>(?:Variation|Attack|Defence|Gambit|Countergambit|Counterattack"
    r"|Opening|System|Line)(?: Accepted| Declined| Deferred)?)"
)
_SEPARATORS = re.compile("(: |, )")


def translate_opening(title: str, language: str) -> str:
    """Return an opening's name in a language. Parts without a translation are unchanged."""
    if language == "en":
        return title
    find = catalogue(language).pgettext

    def translated(part: str) -> str:
        found = find(CONTEXT, part)
        if found != part or not (match := _TYPE.fullmatch(part)):
            return found
        pattern = f"{{}} {match['type']}"
        form = find(CONTEXT, pattern)
        return part if form == pattern else form.format(match["name"])

    text = "".join(map(translated, _SEPARATORS.split(title)))
    return text[:1].upper() + text[1:]
