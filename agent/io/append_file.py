"""Files that a long run appends to, although other programs may remove them meanwhile."""

import errno
import itertools
import os
import shutil
import stat
from pathlib import Path
from typing import IO, Any, Self

from agent.io.files import atomic_writer, name_in_errors, resolve_target


class AppendFile:
    """A file that only grows. If another program removes it, it is written again."""

    def __init__(self, path: Path, size: int) -> None:
        """Open an existing file, and truncate it to `size` bytes."""
        self._path = resolve_target(path)
        self._size = size
        self._file = self._path.open("r+b", buffering=0)
        self._cut_off()

    def write(self, data: bytes, *, durable: bool = False) -> None:
        """Append data. If `durable` is true, they survive a power failure.

        Raise OSError, as does `restore`.
        """
        self.restore()
        with name_in_errors(self._path):
            try:
                rest = memoryview(data)
                while rest:
                    rest = rest[self._file.write(rest) :]
                if durable:
                    os.fsync(self._file.fileno())
            except OSError:
                self._cut_off()
                raise
        self._size += len(data)

    def restore(self) -> None:
        """Write the file again if it has been removed.

        Raise OSError if another program has changed or replaced it. The contents of a replaced file
        are saved under another name.
        """
        if os.fstat(self._file.fileno()).st_size != self._size:
            reason = "changed by another program while it was written"
            raise OSError(errno.EIO, reason, os.fspath(self._path))
        if is_in_place(self._file, self._path):
            return
        path = self._path if not self._path.exists() else unused_path(self._path)
        mode = 0o600 | stat.S_IMODE(os.fstat(self._file.fileno()).st_mode)
        with name_in_errors(path), atomic_writer(path, mode=mode) as copy:
            self._file.seek(0)
            shutil.copyfileobj(self._file, copy)
        self._file.close()
        self._file = path.open("r+b", buffering=0)
        self._cut_off()
        if path != self._path:
            replaced, self._path = self._path, path
            reason = f"replaced by another file while it was written (its contents are in {path})"
            raise OSError(errno.EEXIST, reason, os.fspath(replaced))

    def close(self) -> None:
        try:
            self.restore()
        finally:
            self._file.close()

    def _cut_off(self) -> None:
        self._file.truncate(self._size)
        self._file.seek(self._size)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def is_in_place(file: IO[Any], path: Path) -> bool:
    """Return whether `path` is still the open file, and not removed or replaced by another."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    except OSError:
        return False


def unused_path(path: Path) -> Path:
    """Return the first of PATH.1, PATH.2, ... that does not exist."""
    names = (path.with_name(f"{path.name}.{number}") for number in itertools.count(1))
    return next(name for name in names if not name.exists())
