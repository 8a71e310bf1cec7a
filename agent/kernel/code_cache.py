"""The folder of compiled code: what is taken from it, what is put there, and who fills it.

Code that lies there is run, so, as with the keys of ssh, a folder or file counts only if it
belongs to us or to root and nobody else can write it. That is asked of the open descriptor of each,
and each is opened by that of the folder it lies in: of the base folder, which a user may name, of
the folder in it, and of the file. What lies above need not be asked: who can change it can put
other folders in this place, but none that belong to us. On Windows nothing is asked.

A folder that is made for it is open to us alone; the folder in it lets those in whom the base
folder lets in, to read, so that root can fill a cache for all.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from agent.io.file_lock import lock_file
from agent.io.files import rename_over

CACHE_VARIABLE = "KEMPELEN_CACHE_DIR"

_POSIX = sys.platform != "win32"
_OTHERS_WRITE = 0o022
_GROUP_READABLE = 0o755
# Not even to be read: to pass through is enough for what is named in it.
_FOLDER_FLAGS = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_PATH", os.O_RDONLY)
_BINARY = getattr(os, "O_BINARY", 0)
_READ_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _BINARY
_CREATE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY
_LOCK_FLAGS = os.O_RDWR | os.O_CREAT
_LOCK_NAME = "lock"


class UntrustedCacheError(PermissionError):
    """Others can put code there; the message names the folder or file and the remedy."""


def read(folder: Path, name: str) -> bytes:
    """Return a file's content; raises OSError if there is none, UntrustedCacheError if not for us."""
    with _open_folder(folder) as folder_fd:
        descriptor = os.open(_relative_name(folder, name, folder_fd), _READ_FLAGS, dir_fd=folder_fd)
        with open(descriptor, "rb") as file:
            _require_trusted(descriptor, folder / name)
            return file.read()


def write(folder: Path, name: str, content: bytes) -> None:
    """Write a file that others see whole or not at all; raises OSError, UntrustedCacheError."""
    temporary = f"{name}.{os.getpid()}.{threading.get_ident()}.tmp"
    with _open_folder(folder, make=True) as folder_fd:
        here = _relative_name(folder, temporary, folder_fd)
        try:
            with open(os.open(here, _CREATE_FLAGS, 0o644, dir_fd=folder_fd), "wb") as file:
                file.write(content)
            rename_over(here, _relative_name(folder, name, folder_fd), folder=folder_fd)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(here, dir_fd=folder_fd)
            raise


def contains(folder: Path, name: str) -> bool:
    """Tell whether a file is there and code is taken from its folder."""
    try:
        with _open_folder(folder) as folder_fd:
            os.stat(_relative_name(folder, name, folder_fd), dir_fd=folder_fd)
    except OSError:
        return False
    return True


def lock(folder: Path) -> IO[bytes]:
    """Return the folder's open lock, which whoever fills it holds; to close it gives it back.

    Raises BlockingIOError if another process has it, and OSError if there can be none.
    """
    with _open_folder(folder, make=True) as folder_fd:
        descriptor = os.open(
            _relative_name(folder, _LOCK_NAME, folder_fd), _LOCK_FLAGS, 0o644, dir_fd=folder_fd
        )
        file = open(descriptor, "r+b")  # noqa: SIM115
    lock_file(file)
    return file


def note_progress(folder: Path) -> None:
    """Tell those who wait for the lock that its holder makes progress."""
    with contextlib.suppress(OSError), _open_folder(folder) as folder_fd:
        os.utime(_relative_name(folder, _LOCK_NAME, folder_fd), dir_fd=folder_fd)


def progress_stamp(folder: Path) -> int:
    """Return a number that changes when the lock's holder notes progress."""
    try:
        with _open_folder(folder) as folder_fd:
            return os.stat(
                _relative_name(folder, _LOCK_NAME, folder_fd), dir_fd=folder_fd
            ).st_mtime_ns
    except OSError:
        return 0


def write_problem(folder: Path) -> str | None:
    """Say why nothing can be put there, and the remedy; None if it can. It is made if missing."""
    try:
        with _open_folder(folder, make=True):
            pass
    except UntrustedCacheError as error:
        return str(error)
    except OSError as error:
        return _unwritable(folder, error.strerror or str(error))
    return None if os.access(folder, os.W_OK) else _unwritable(folder, "it is read-only")


def revoke_group_write(base: Path) -> None:
    """Take from others the right to write our own base folder.

    Only for the one that none but this program makes: where the umask lets a group write, earlier
    versions made it so. What a user has named is as the user wants it, and refused instead.
    """
    with contextlib.suppress(OSError):
        status = os.stat(base)
        if _POSIX and status.st_uid == os.geteuid() and status.st_mode & _OTHERS_WRITE:
            os.chmod(base, status.st_mode & _GROUP_READABLE)


@contextlib.contextmanager
def _open_folder(folder: Path, make: bool = False) -> Iterator[int | None]:
    """Open the folder, by way of its base folder; None on Windows. make: where it is missing."""
    base = folder.parent
    if make:
        base.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            base.mkdir(0o700)
    if not _POSIX:
        if make:
            folder.mkdir(exist_ok=True)
        yield None
        return
    folder_fd = os.open(base, _FOLDER_FLAGS)
    try:
        _require_trusted(folder_fd, base)
        if make:
            with contextlib.suppress(FileExistsError):
                os.mkdir(
                    folder.name, os.fstat(folder_fd).st_mode & _GROUP_READABLE, dir_fd=folder_fd
                )
        inner = os.open(folder.name, _FOLDER_FLAGS, dir_fd=folder_fd)
    finally:
        os.close(folder_fd)
    try:
        _require_trusted(inner, folder)
        yield inner
    finally:
        os.close(inner)


def _relative_name(folder: Path, name: str, folder_fd: int | None) -> str:
    """Return what a file is called by those who have its folder open, or have not."""
    return str(folder / name) if folder_fd is None else name


def _require_trusted(descriptor: int, path: Path) -> None:
    """Raise UntrustedCacheError if others than us and root can change what is open there."""
    if not _POSIX:
        return
    status = os.fstat(descriptor)
    if status.st_uid not in (os.geteuid(), 0):
        raise _untrusted_error(path, f"belongs to user {status.st_uid}", "delete it")
    if status.st_mode & _OTHERS_WRITE:
        is_folder = stat.S_ISDIR(status.st_mode)
        remedy = f"chmod go-w {path}" if is_folder else "delete it"
        raise _untrusted_error(path, "others can write", remedy)


def _untrusted_error(path: Path, why: str, remedy: str) -> UntrustedCacheError:
    return UntrustedCacheError(
        f"no compiled code is taken from {path}, which {why}: "
        f"{remedy}, or name a folder of your own by {CACHE_VARIABLE}"
    )


def _unwritable(folder: Path, reason: str) -> str:
    return (
        f"compiled code cannot be kept in {folder}: {reason}; "
        f"name another folder by {CACHE_VARIABLE}"
    )
