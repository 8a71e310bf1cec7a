"""Recognize errors in Kempelen's `info string` lines."""

AUTHORS = "The Kempelen authors"

_INFO_STRING = "info string "
_OPTION_ERROR_PREFIXES = ("evaluation ", "could not open book ")
_SEARCH_ERROR_WORDS = (" failed: ", " returned ")


def option_error(author: str, line: str) -> str | None:
    """Return the error text if a line from Kempelen reports a rejected option, or None."""
    message = _own_message(author, line)
    return message if message.startswith(_OPTION_ERROR_PREFIXES) else None


def search_error(author: str, line: str) -> str | None:
    """Return the error text if a line from Kempelen reports a failed search, or None."""
    message = _own_message(author, line)
    is_failure = message.startswith("evaluation ") and any(
        word in message for word in _SEARCH_ERROR_WORDS
    )
    return message if is_failure or message.startswith("internal error: ") else None


def _own_message(author: str, line: str) -> str:
    return (
        line.removeprefix(_INFO_STRING)
        if author == AUTHORS and line.startswith(_INFO_STRING)
        else ""
    )
