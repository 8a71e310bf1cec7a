"""The cache folder for compiled code: secure reading, writing and locking.

Cached code is executed. A file or folder is therefore trusted only if it belongs to the current
user or root, and no other user can write to it, as OpenSSH requires for keys. The base folder, the
kernel's folder in it, and each file are checked by file descriptor, each opened relative to the
previous one. Parents of the base folder are not checked. On Windows nothing is checked.

A new base folder is accessible only to its owner. The kernel's folder gets the read permissions of
the base folder, so that root can fill a cache for all users.
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

# Free disk space required for compiled code, in bytes: about three times its size.
MIN_FREE_BYTES = 20 << 20

_POSIX = sys.platform != "win32"
_OTHERS_WRITE = 0o022
_GROUP_READABLE = 0o755
# O_PATH needs no read permission: a folder is opened only to access files in it by name.
_FOLDER_FLAGS = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_PATH", os.O_RDONLY)
_BINARY = getattr(os, "O_BINARY", 0)
_READ_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _BINARY
_CREATE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY
_LOCK_FLAGS = os.O_RDWR | os.O_CREAT
_LOCK_NAME = "lock"


class UntrustedCacheError(PermissionError):
    """Raised if another user could have written the cached code. The message suggests a fix."""


def read(folder: Path, name: str) -> bytes:
    """Return the content of a cached file.

    Raise `UntrustedCacheError` if others can write to it.
    """
    with _open_folder(folder) as folder_fd:
        descriptor = os.open(_relative_name(folder, name, folder_fd), _READ_FLAGS, dir_fd=folder_fd)
        with open(descriptor, "rb") as file:
            _require_trusted(descriptor, folder / name)
            return file.read()


def write(folder: Path, name: str, content: bytes) -> None:
    """Write a file atomically. Raise `UntrustedCacheError` if others can write to the folder."""
    temporary = f"{name}.{os.getpid()}.{threading.get_ident()}.tmp"
    with _open_folder(folder, make=True) as folder_fd:
        path = _relative_name(folder, temporary, folder_fd)
        try:
            with open(os.open(path, _CREATE_FLAGS, 0o644, dir_fd=folder_fd), "wb") as file:
                file.write(content)
            rename_over(path, _relative_name(folder, name, folder_fd), folder=folder_fd)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(path, dir_fd=folder_fd)
            raise


def contains(folder: Path, name: str) -> bool:
    """Return whether the file `name` exists in a trusted folder."""
    try:
        with _open_folder(folder) as folder_fd:
            os.stat(_relative_name(folder, name, folder_fd), dir_fd=folder_fd)
    except OSError:
        return False
    return True


def lock(folder: Path) -> IO[bytes]:
    """Lock the folder until the returned file is closed. Raise `BlockingIOError` if locked."""
    with _open_folder(folder, make=True) as folder_fd:
        descriptor = os.open(
            _relative_name(folder, _LOCK_NAME, folder_fd), _LOCK_FLAGS, 0o644, dir_fd=folder_fd
        )
        file = open(descriptor, "r+b")  # noqa: SIM115
    lock_file(file)
    return file


def note_progress(folder: Path) -> None:
    """Signal to waiting processes that the process with the lock is making progress."""
    with contextlib.suppress(OSError), _open_folder(folder) as folder_fd:
        os.utime(_relative_name(folder, _LOCK_NAME, folder_fd), dir_fd=folder_fd)


def progress_stamp(folder: Path) -> int:
    """Return a number that changes with each call of `note_progress`."""
    try:
        with _open_folder(folder) as folder_fd:
            return os.stat(
                _relative_name(folder, _LOCK_NAME, folder_fd), dir_fd=folder_fd
            ).st_mtime_ns
    except OSError:
        return 0


def write_problem(folder: Path) -> str | None:
    """Create the folder if needed. Return why it is not writable and how to fix this, or None."""
    try:
        with _open_folder(folder, make=True):
            pass
    except UntrustedCacheError as error:
        return str(error)
    except OSError as error:
        return _unwritable(folder, error.strerror or str(error))
    if not os.access(folder, os.W_OK):
        return _unwritable(folder, "read-only")
    from shutil import disk_usage  # lazy import: rarely used

    if disk_usage(folder).free < MIN_FREE_BYTES:
        return _unwritable(folder, "disk full")
    return None


def revoke_group_write(base: Path) -> None:
    """Remove the write permissions of other users if the current user owns the folder.

    Call this only for the default folder, which earlier versions made group-writable. A
    group-writable folder that the user has chosen is rejected instead.
    """
    with contextlib.suppress(OSError):
        status = os.stat(base)
        if _POSIX and status.st_uid == os.geteuid() and status.st_mode & _OTHERS_WRITE:
            os.chmod(base, status.st_mode & _GROUP_READABLE)


@contextlib.contextmanager
def _open_folder(folder: Path, make: bool = False) -> Iterator[int | None]:
    """Open a trusted folder. Yield its descriptor, or None on Windows."""
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
    return str(folder / name) if folder_fd is None else name


def _require_trusted(descriptor: int, path: Path) -> None:
    if not _POSIX:
        return
    status = os.fstat(descriptor)
    if status.st_uid not in (os.geteuid(), 0):
        raise _untrusted_error(path, f"belongs to user {status.st_uid}", "delete it")
    if status.st_mode & _OTHERS_WRITE:
        is_folder = stat.S_ISDIR(status.st_mode)
        remedy = f"chmod go-w {path}" if is_folder else "delete it"
        raise _untrusted_error(path, "is writable by others", remedy)


def _untrusted_error(path: Path, reason: str, remedy: str) -> UntrustedCacheError:
    return UntrustedCacheError(
        f"{path}: {reason}, so its compiled code is not used "
        f"({remedy}, or set {CACHE_VARIABLE} to a folder of your own)"
    )


def _unwritable(folder: Path, reason: str) -> str:
    remedy = f"set {CACHE_VARIABLE} to another folder"
    return f"{folder}: cannot cache compiled code: {reason} ({remedy})"
