"""Recognize errors in Kempelen's messages, which UCI sends as `info string` lines."""

AUTHORS = "The Kempelen authors"

_INFO_STRING = "info string "
_OPTION_ERROR_PREFIXES = ("evaluation ", "could not open book ")
_SEARCH_ERROR_WORDS = (" failed: ", " returned ")


def own_message(author: str, line: str) -> str:
    """Return the text of Kempelen's `info string` line, or "" for other lines and authors."""
    if author != AUTHORS or not line.startswith(_INFO_STRING):
        return ""
    return line.removeprefix(_INFO_STRING)


def is_option_error(message: str) -> bool:
    """Return whether a message reports a rejected option."""
    return message.startswith(_OPTION_ERROR_PREFIXES)


def is_search_error(message: str) -> bool:
    """Return whether a message reports a failed search."""
    is_failure = message.startswith("evaluation ") and any(
        word in message for word in _SEARCH_ERROR_WORDS
    )
    return is_failure or message.startswith("internal error: ")
