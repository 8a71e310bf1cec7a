"""Exclusive file locks, which the operating system releases when the process ends."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, TextIO

from agent.io.files import resolve_target
from agent.io.message import Message


def lock_or_raise(
    path: str | os.PathLike[str],
    make_error: Callable[[str], Exception],
    held_reason: str = "being written by another process",
) -> TextIO:
    """Lock a file with `lock_path`. On failure, raise `make_error(message)`.

    `held_reason` completes the message "PATH is ..." if another process holds the lock.
    """
    try:
        return lock_path(os.fspath(path))
    except BlockingIOError:
        raise make_error(Message("{} is {}", path, Message(held_reason))) from None
    except OSError as error:
        raise make_error(Message("{} cannot be locked: {}", path, error)) from None


def lock_path(path: str) -> TextIO:
    """Lock `path` with a separate lock file beside it, until the returned file is closed.

    Links in `path` are followed. Raise BlockingIOError if another process holds the lock. Raise
    OSError if the lock file is not writable, or if `path` is a device, a pipe or a folder.
    """
    file = open(f"{resolve_target(Path(path))}.lock", "a")  # noqa: SIM115
    lock_file(file)
    return file


def lock_file(file: IO[Any]) -> None:
    """Lock an open file until it is closed. On failure, close it and raise as in `lock_path`."""
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
            except PermissionError:  # some file systems raise this if the lock is held
                raise BlockingIOError(file.name) from None
    except OSError:
        file.close()
        raise
