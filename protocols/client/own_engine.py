"""What our own engine says where an option or a search comes to nothing.

UCI has no word for it, only lines for people, and an engine plays on as it can: for whoever counts
games or keeps scores that is an error.
"""

AUTHORS = "The Kempelen authors"

_INFO_STRING = "info string "
_OPTION_ERROR_PREFIXES = ("evaluation ", "cannot read the book ")
_SEARCH_ERROR_WORDS = (" failed: ", " returned ")


def option_error(author: str, line: str) -> str | None:
    """Return why an option was not taken, where a line that follows it says so."""
    said = _own_message(author, line)
    return said if said.startswith(_OPTION_ERROR_PREFIXES) else None


def search_error(author: str, line: str) -> str | None:
    """Return why a search was none, where a line of it says so."""
    said = _own_message(author, line)
    is_failure = said.startswith("evaluation ") and any(
        word in said for word in _SEARCH_ERROR_WORDS
    )
    return said if is_failure or said.startswith("internal error: ") else None


def _own_message(author: str, line: str) -> str:
    return (
        line.removeprefix(_INFO_STRING)
        if author == AUTHORS and line.startswith(_INFO_STRING)
        else ""
    )
