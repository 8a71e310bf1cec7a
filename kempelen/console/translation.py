"""Translate messages and labels with the gettext catalogues in `kempelen/locale`."""

from __future__ import annotations

import gettext
from functools import cache
from pathlib import Path

from agent.io.message import Message

LANGUAGES = ("en", "es")
DOMAIN = "kempelen"
CATALOGUES = Path(__file__).parents[1] / "locale"


def translate(text: str, language: str) -> str:
    """Return a message in a language, or unchanged if the catalogue does not contain it."""
    return text if language == "en" else Message(text).translated(catalogue(language).gettext)


def error_message(error: Exception, language: str) -> str:
    """Return the message of an error, with the file name of an OSError before the reason."""
    if not isinstance(error, OSError) or error.errno is None:
        return translate(str(error), language)
    reason = translate(str(error.strerror), language)
    return reason if error.filename is None else f"{error.filename}: {reason}"


@cache
def catalogue(language: str) -> gettext.NullTranslations:
    return gettext.translation(DOMAIN, CATALOGUES, [language])
