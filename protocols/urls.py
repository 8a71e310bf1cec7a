"""Addresses on a network, which people and strangers' programs write in any way."""

from urllib.parse import SplitResult, urlsplit


def split(text: str) -> SplitResult:
    """Split an address; ValueError for a host that cannot be looked up, or a port that is none."""
    parts = urlsplit(text)
    _ = parts.port  # which is read when it is asked for
    (parts.hostname or "").encode("idna")  # as it is looked up
    return parts


def split_any(text: str) -> SplitResult:
    """Split what a stranger calls an address; one that is none has empty parts."""
    try:
        return urlsplit(text)
    except ValueError:
        return urlsplit("")
