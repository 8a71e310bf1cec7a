"""Addresses on a network, which people and strangers' programs write in any way."""

from urllib.parse import SplitResult, urlsplit

_NONE = urlsplit("")


def split(text: str) -> SplitResult:
    """Split an address; one whose host cannot be looked up, or whose port is none, has no parts."""
    parts = split_any(text)
    try:
        _ = parts.port  # which is read when it is asked for
        (parts.hostname or "").encode("idna")  # as it is looked up
    except ValueError:
        return _NONE
    return parts


def split_any(text: str) -> SplitResult:
    """Split what a stranger calls an address; one that is none has no parts."""
    try:
        return urlsplit(text)
    except ValueError:
        return _NONE
