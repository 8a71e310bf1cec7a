"""Parse untrusted URLs."""

from urllib.parse import SplitResult, urlsplit

_EMPTY_URL = urlsplit("")


def split_valid_url(text: str) -> SplitResult:
    """Split a URL. Return empty parts if the URL, its host name or its port is invalid."""
    parts = split_url_leniently(text)
    try:
        _ = parts.port  # raises ValueError if invalid
        (parts.hostname or "").encode("idna")
    except ValueError:
        return _EMPTY_URL
    return parts


def split_url_leniently(text: str) -> SplitResult:
    """Split a URL without checking its host name and port. Return empty parts if it is invalid."""
    try:
        return urlsplit(text)
    except ValueError:
        return _EMPTY_URL
