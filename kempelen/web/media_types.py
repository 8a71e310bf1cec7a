"""Media types of the files that the server sends.

The Windows registry may contain other types, and browsers reject scripts of type text/plain.
"""

import mimetypes

MEDIA_TYPES = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}


def declare_media_types() -> None:
    """Register the server's media types with `mimetypes`, which Starlette uses."""
    for suffix, media_type in MEDIA_TYPES.items():
        mimetypes.add_type(media_type, suffix)
