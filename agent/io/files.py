"""Files that a user names: regular ones, read whole only up to a size.

A device has no end and a pipe may have no writer: to read what a name turns out to be could fill
the memory or wait for ever. All errors are OSErrors, whose `strerror` says what is wrong.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import stat
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, TextIO

# The largest file that is read whole, unless its reader expects other sizes, and the longest line
# of one that is read line by line.
MAX_FILE_SIZE = 16 << 20
MAX_LINE_LENGTH = 1 << 20

# On Windows, a virus scanner or an indexer may briefly open a new file. Retry timeout and interval.
REPLACE_TIMEOUT_S = 1.0
REPLACE_RETRY_S = 0.02

_BINARY = getattr(os, "O_BINARY", 0)
_NONBLOCK = getattr(os, "O_NONBLOCK", 0)  # the other end of a pipe is not waited for


class FileInUseError(PermissionError):
    """A file that cannot be replaced, since another program has it open (Windows)."""


def require_regular(path: str | os.PathLike[str]) -> None:
    """Raise OSError unless this is a regular file, for those who open it themselves."""
    _require_type(os.stat(path), path, pipes=False)


def open_file(path: str | os.PathLike[str], *, pipes: bool = False) -> BinaryIO:
    """Open a regular file, and where it makes sense a pipe, to read it."""
    return open(_open_descriptor(path, os.O_RDONLY | (0 if pipes else _NONBLOCK), pipes), "rb")


def open_append(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a regular file, which is made if it is not there, to write at its end."""
    with contextlib.suppress(FileNotFoundError):
        require_regular(path)
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | _NONBLOCK
    return open(_open_descriptor(path, flags, pipes=False), "ab")


def read_bytes(
    path: str | os.PathLike[str], max_size: int = MAX_FILE_SIZE, *, pipes: bool = False
) -> bytes:
    """Return the content of a file of at most so many bytes."""
    with open_file(path, pipes=pipes) as file:
        if os.fstat(file.fileno()).st_size <= max_size:
            content = file.read(max_size + 1)
            if len(content) <= max_size:
                return content
    raise OSError(errno.EFBIG, f"it is larger than {max_size >> 10} KiB", os.fspath(path))


def read_text(
    path: str | os.PathLike[str],
    max_size: int = MAX_FILE_SIZE,
    *,
    encoding: str = "utf-8",
    errors: str = "strict",
    pipes: bool = False,
) -> str:
    """Return the text of a file of at most so many bytes, its lines ended by newlines alone."""
    text = read_bytes(path, max_size, pipes=pipes).decode(encoding, errors)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def open_text(path: str | os.PathLike[str]) -> TextIO:
    """Open a text of any length, also from a pipe; a line that is too long comes in pieces."""
    return _BoundedLineText(open_file(path, pipes=True), encoding="utf-8", errors="replace")


class _BoundedLineText(io.TextIOWrapper):
    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]
        return super().readline(MAX_LINE_LENGTH if size < 0 else size)


def iter_lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a file; one that is too long comes in pieces."""
    while line := file.readline(MAX_LINE_LENGTH):
        yield line


@contextlib.contextmanager
def name_in_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    """Have the OSErrors of writing a file name it.

    That of a full disk names none, and that of a file which is to take its place another.
    """
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file that other processes see whole or not at all; make its folder if need be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_atomically(path, content)


def replace_atomically(
    path: Path, content: bytes, *, durable: bool = False, keep: bool = True
) -> None:
    """Write a file, which may be there, so that other processes see the old one or the new.

    Of a link, what it leads to is replaced; devices and pipes are left as they are, an OSError.
    durable: so that the file is the old one or the new even after the machine has lost its power.
    keep: the content of a file in use, as `replace_file` does. Errors name the file.
    """
    with name_in_errors(path):
        path = resolve_target(path)
        temporary = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}.tmp")
        try:
            with temporary.open("wb") as file:
                file.write(content)
                if durable:
                    file.flush()
                    os.fsync(file.fileno())
            replace_file(temporary, path, keep=keep)
        finally:
            temporary.unlink(missing_ok=True)


def replace_file(temporary: Path, path: Path, *, keep: bool = True) -> None:
    """Replace `path` by a temporary file, or raise OSError.

    On Windows this is retried while another program has `path` open.
    keep: if it stays open, save the content as `NAME.new` and name that file in the error.
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
    """Give a file the name of another, which it replaces; FileInUseError if that is open elsewhere.

    folder: the descriptor of the folder that both are in, if they are names in it.
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
    """Return the file, there or not, that another takes the place of: what a link leads to.

    Raises OSError where that is a folder, a device or a pipe.
    """
    with contextlib.suppress(FileNotFoundError):
        require_regular(path)
    return Path(os.path.realpath(path))


def _open_descriptor(path: str | os.PathLike[str], flags: int, pipes: bool) -> int:
    """Open a file that is asked, once it is open, whether it is of the right kind."""
    try:
        descriptor = os.open(path, flags | _BINARY, 0o666)
    except PermissionError:  # what Windows says of a folder
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
        raise OSError(errno.EINVAL, "it is no regular file", os.fspath(path))
