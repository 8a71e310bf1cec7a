"""Random access to the records of a large text file, for example the lines of an EPD file.

Only the offsets of the records are kept in memory: 8 bytes each.
"""

from __future__ import annotations

import errno
import io
import os
import weakref
from collections.abc import Callable
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from agent.io.files import MAX_LINE_LENGTH
from agent.io.text_files import decode_text, open_lines

# Files of up to this size in bytes are read at once, and may then be changed or deleted.
MAX_IN_MEMORY = 16 << 20
# Size limit of a record in bytes.
MAX_RECORD_LENGTH = 4 << 20
_BLOCK = 4 << 20
_NEWLINE, _RETURN, _SPACE, _COMMENT = b"\n\r #"

Offsets = npt.NDArray[np.int64]
# Returns the offsets of all records in a file, from its current position. The second argument is
# regularly called with the number of bytes read.
FindRecords = Callable[[BinaryIO, Callable[[int], None]], Offsets]


class TextIndex:
    """The records of a file. A large file is open as long as this object exists.

    All methods raise OSError if reading fails.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        find: FindRecords,
        progress: Callable[[int], None] = lambda done: None,
    ) -> None:
        self._path = os.fspath(path)
        self._file = _load_if_small(open_lines(path))
        weakref.finalize(self, self._file.close)
        self._status = self._file_status()
        self._offsets = find(self._file, progress)

    def __len__(self) -> int:
        return len(self._offsets)

    def __getitem__(self, number: int) -> str:
        """Return a record, and what follows it up to the next record."""
        start = int(self._offsets[number])
        size = MAX_RECORD_LENGTH
        if number + 1 < len(self):
            size = min(int(self._offsets[number + 1]) - start, size)
        self._file.seek(start)
        data = self._file.read(size)
        if self._file_status() != self._status:
            raise OSError(errno.EIO, "changed by another program", self._path)
        return decode_text(data)

    def line_number(self, number: int) -> int:
        """Return the number of the first line of a record, for messages."""
        self._file.seek(0)
        left, count = int(self._offsets[number]), 1
        while left and (block := self._file.read(min(left, _BLOCK))):
            left -= len(block)
            count += block.count(b"\n")
        return count

    def _file_status(self) -> tuple[int, int] | None:
        if isinstance(self._file, io.BytesIO):
            return None
        status = os.fstat(self._file.fileno())
        return status.st_size, status.st_mtime_ns


def _load_if_small(file: BinaryIO) -> BinaryIO:
    if isinstance(file, io.BytesIO) or os.fstat(file.fileno()).st_size > MAX_IN_MEMORY:
        return file
    with file:
        return io.BytesIO(file.read())


def find_lines(file: BinaryIO, progress: Callable[[int], None]) -> Offsets:
    """Find the lines of a file, except blank lines and lines that contain only a comment (`#`)."""
    found = [np.empty(0, np.int64)]
    position = file.tell()
    while block := file.read(_BLOCK) + file.readline(MAX_LINE_LENGTH):
        data = np.frombuffer(block, np.uint8)
        starts = np.append(0, np.flatnonzero(data[:-1] == _NEWLINE) + 1)
        first = data[starts]
        kept = (first != _COMMENT) & (first != _NEWLINE) & (first != _RETURN)
        for indented in np.flatnonzero(kept & (first <= _SPACE)):
            end = starts[indented + 1] if indented + 1 < len(starts) else len(block)
            kept[indented] = block[starts[indented] : end].lstrip()[:1] not in (b"", b"#")
        found.append(starts[kept] + position)
        position += len(block)
        progress(position)
    return np.concatenate(found)
