"""Safe access to files named by a user: only regular files, with a size limit.

Reading a device could exhaust memory, and reading a pipe without a writer could block forever. File
errors are OSErrors with the message in `strerror`.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from agent.io.message import Message

# Default size limits in bytes for a whole file, and for one line.
MAX_FILE_SIZE = 16 << 20
MAX_LINE_LENGTH = 1 << 20

# Timeout and interval of retries. On Windows, a virus scanner or indexer may briefly hold a new
# file open.
REPLACE_TIMEOUT_S = 1.0
REPLACE_RETRY_S = 0.02

_BINARY = getattr(os, "O_BINARY", 0)
_NONBLOCK = getattr(os, "O_NONBLOCK", 0)  # open a pipe without waiting for the other end


class FileInUseError(PermissionError):
    """Raised if a file cannot be replaced because another program has it open (Windows)."""


def require_regular(path: str | os.PathLike[str]) -> None:
    """Raise OSError unless `path` is a regular file."""
    _require_type(os.stat(path), path, pipes=False)


def open_file(path: str | os.PathLike[str], *, pipes: bool = False) -> BinaryIO:
    """Open a regular file for reading. If `pipes` is true, named pipes are allowed too."""
    return open(_open_descriptor(path, os.O_RDONLY | (0 if pipes else _NONBLOCK), pipes), "rb")


def open_append(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a regular file for appending, and create it if it does not exist."""
    with contextlib.suppress(FileNotFoundError):
        require_regular(path)
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | _NONBLOCK
    return open(_open_descriptor(path, flags, pipes=False), "ab")


def read_bytes(
    path: str | os.PathLike[str], max_size: int = MAX_FILE_SIZE, *, pipes: bool = False
) -> bytes:
    """Return the contents of a file. Raise OSError if it is larger than `max_size` bytes."""
    with open_file(path, pipes=pipes) as file:
        if os.fstat(file.fileno()).st_size <= max_size:
            content = file.read(max_size + 1)
            if len(content) <= max_size:
                return content
    raise OSError(errno.EFBIG, Message("larger than {} KiB", max_size >> 10), os.fspath(path))


def iter_lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a file. Lines over MAX_LINE_LENGTH are split."""
    while line := file.readline(MAX_LINE_LENGTH):
        yield line


@contextlib.contextmanager
def name_in_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    """Set the file name of any OSError raised in the block to `path`."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file atomically, and create its folder if needed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_atomically(path, content)


def replace_atomically(
    path: Path, content: bytes, *, durable: bool = False, keep: bool = True
) -> None:
    """Create or replace a file atomically. If `path` is a link, its target is replaced.

    If `durable` is true, the file survives a power failure. `keep` is described in `replace_file`.
    Raise OSError with the file name on failure, or if the target is a device or pipe.
    """
    with name_in_errors(path), atomic_writer(path, durable=durable, keep=keep) as file:
        file.write(content)


@contextlib.contextmanager
def atomic_writer(
    path: Path, *, mode: int = 0o666, durable: bool = False, keep: bool = True
) -> Iterator[BinaryIO]:
    """Yield a new temporary file, which replaces `path` unless the block raises an exception.

    The parameters are those of `replace_atomically`; `mode` is the permissions of the new file.
    """
    path = resolve_target(path)
    # The name is unpredictable, and an existing file of this name is never opened.
    temporary = path.with_name(f"{path.name}.{os.urandom(8).hex()}.tmp")
    file = open(temporary, "xb", opener=lambda name, flags: os.open(name, flags, mode))  # noqa: SIM115
    try:
        with file:
            yield file
            if durable:
                file.flush()
                os.fsync(file.fileno())
        replace_file(temporary, path, keep=keep)
    finally:
        temporary.unlink(missing_ok=True)


def replace_file(temporary: Path, path: Path, *, keep: bool = True) -> None:
    """Replace `path` with the file `temporary`. Raise OSError on failure.

    On Windows, retry while another program has `path` open. If all retries fail and `keep` is true,
    save the new contents as `NAME.new` and mention that file in the error.
    """
    try:
        rename_over(temporary, path)
    except FileInUseError as error:
        if keep:
            kept = path.with_name(f"{path.name}.new")
            os.replace(temporary, kept)
            raise FileInUseError(
                error.errno,
                f"in use by another program (nothing is lost: close that program, then run in a "
                f'command prompt: move /Y "{kept}" "{path}")',
                os.fspath(path),
            ) from None
        raise


def rename_over(
    source: str | os.PathLike[str], target: str | os.PathLike[str], *, folder: int | None = None
) -> None:
    """Rename a file and replace `target`. Raise FileInUseError if a program has `target` open.

    `folder` is the descriptor of the folder to which both names are relative, or None.
    """
    deadline = time.monotonic() + REPLACE_TIMEOUT_S
    while True:
        try:
            os.replace(source, target, src_dir_fd=folder, dst_dir_fd=folder)
            return
        except PermissionError as error:
            protected = os.path.exists(target) and not os.access(target, os.W_OK)
            if sys.platform != "win32" or protected:
                raise
            if time.monotonic() > deadline:
                raise FileInUseError(
                    error.errno, "in use by another program (close it)", os.fspath(target)
                ) from None
        time.sleep(REPLACE_RETRY_S)


def resolve_target(path: Path) -> Path:
    """Return `path` with links resolved. Raise OSError if it is a folder, a device or a pipe."""
    with contextlib.suppress(FileNotFoundError):
        require_regular(path)
    return Path(os.path.realpath(path))


def _open_descriptor(path: str | os.PathLike[str], flags: int, pipes: bool) -> int:
    """Open a file, then check its type. A check before opening would leave a race."""
    try:
        descriptor = os.open(path, flags | _BINARY, 0o666)
    except PermissionError:  # Windows raises this for a folder
        if os.path.isdir(path):
            raise IsADirectoryError(
                errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path)
            ) from None
        raise
    try:
        _require_type(os.fstat(descriptor), path, pipes)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _require_type(status: os.stat_result, path: str | os.PathLike[str], pipes: bool) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if not stat.S_ISREG(status.st_mode) and not (pipes and stat.S_ISFIFO(status.st_mode)):
        raise OSError(errno.EINVAL, "not a regular file", os.fspath(path))
