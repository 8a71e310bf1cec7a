"""A lock on a file that this process writes: it ends with the process at the latest."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, TextIO

from agent.io.files import resolve_target


def lock_or_raise(
    path: str | os.PathLike[str],
    make_error: Callable[[str], Exception],
    held_reason: str = "being written by another process",
) -> TextIO:
    """Lock as `lock` does; raise what `refusal` makes of the reason where that fails.

    how: what is said of a file whose lock another process has.
    """
    try:
        return lock_path(os.fspath(path))
    except BlockingIOError:
        raise make_error(f"{path} is {held_reason}") from None
    except OSError as error:
        raise make_error(f"{path} cannot be locked: {error.strerror}") from None


def lock_path(path: str) -> TextIO:
    """Return the open lock file beside `path`, or what it links to; to close it unlocks.

    Raises BlockingIOError if another process holds it, and OSError if the lock file cannot be
    written, or if `path` is a device, a pipe or a folder.
    """
    file = open(f"{resolve_target(Path(path))}.lock", "a")  # noqa: SIM115
    lock_file(file)
    return file


def lock_file(file: IO[Any]) -> None:
    """Lock an open file until it is closed; close it, and raise as `lock` does, if that fails."""
    try:
        if sys.platform == "win32":
            import msvcrt

            try:
                msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
            except OSError:
                raise BlockingIOError(file.name) from None
        else:
            import fcntl

            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except PermissionError:  # as some file systems say it
                raise BlockingIOError(file.name) from None
    except OSError:
        file.close()
        raise
