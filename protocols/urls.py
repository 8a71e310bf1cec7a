"""Addresses on a network, which people and strangers' programs write in any way."""

from urllib.parse import SplitResult, urlsplit

_EMPTY_URL = urlsplit("")


def split_valid_url(text: str) -> SplitResult:
    """Split an address; one whose host cannot be looked up, or whose port is none, has no parts."""
    parts = split_url_leniently(text)
    try:
        _ = parts.port  # which is read when it is asked for
        (parts.hostname or "").encode("idna")  # as it is looked up
    except ValueError:
        return _EMPTY_URL
    return parts


def split_url_leniently(text: str) -> SplitResult:
    """Split what a stranger calls an address; one that is none has no parts."""
    try:
        return urlsplit(text)
    except ValueError:
        return _EMPTY_URL
