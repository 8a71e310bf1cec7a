"""The user's folders for data and for cached files."""

import os
from pathlib import Path
from typing import Literal


class NoHomeFolderError(OSError):
    """Raised if the user has no home folder. The message names the variable to set instead."""


def user_folder(variable: str, kind: Literal["data", "cache"]) -> Path:
    """Return the folder that an environment variable names, or else the user's default folder.

    The folder may not exist. Raise `NoHomeFolderError` if the home folder is needed but unknown, as
    for a user id without an account in a container.
    """
    named = os.environ.get(variable)
    try:
        if named:
            return Path(named).expanduser()
        import platformdirs  # lazy import: slow to load

        default = platformdirs.user_data_path if kind == "data" else platformdirs.user_cache_path
        folder = default("kempelen", appauthor=False)
    except RuntimeError:
        folder = Path("~")
    # Earlier releases of platformdirs return a path that begins with "~".
    if not folder.is_absolute():
        raise NoHomeFolderError(f"the home folder is unknown (set {variable} to a folder)")
    return folder


def private_temporary_folder() -> Path:
    """Return a folder for a user without a home folder.

    Its name is predictable, so the caller must check its owner.
    """
    import tempfile  # lazy import: rarely used

    try:
        base = tempfile.gettempdir()
    except FileNotFoundError:  # no folder is writable
        base = os.getcwd()
    return Path(base) / (f"kempelen-{os.getuid()}" if hasattr(os, "getuid") else "kempelen")
