"""The types of the files that are served.

On Windows programs change them for all, in the registry, and browsers take no script that is
text/plain.
"""

import mimetypes

MEDIA_TYPES = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}


def declare_media_types() -> None:
    """Register our media types with `mimetypes`, which file servers ask."""
    for suffix, media_type in MEDIA_TYPES.items():
        mimetypes.add_type(media_type, suffix)
