"""A lock on a file that this process writes: it ends with the process at the latest."""

import sys
from typing import TextIO


def lock(path: str) -> TextIO:
    """Return the open lock file beside `path`; to close it is to give the lock back.

    Raises BlockingIOError if another process holds it, and OSError if there can be none.
    """
    file = open(path + ".lock", "a")  # noqa: SIM115
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise BlockingIOError(path) from None
    return file
