"""What our own engine says where an option or a search comes to nothing.

UCI has no word for it, only lines for people, and an engine plays on as it can: for whoever counts
games or keeps scores that is an error.
"""

AUTHORS = "The Kempelen authors"

_SAID = "info string "
_UNTOUCHED = ("evaluation ", "cannot read the book ")
_FAILED = (" failed: ", " returned ")


def not_taken(author: str, line: str) -> str | None:
    """Return why an option was not taken, where a line that follows it says so."""
    said = _said(author, line)
    return said if said.startswith(_UNTOUCHED) else None


def failed(author: str, line: str) -> str | None:
    """Return why a search was none, where a line of it says so."""
    said = _said(author, line)
    is_failure = said.startswith("evaluation ") and any(word in said for word in _FAILED)
    return said if is_failure or said.startswith("internal error: ") else None


def _said(author: str, line: str) -> str:
    return line.removeprefix(_SAID) if author == AUTHORS and line.startswith(_SAID) else ""
