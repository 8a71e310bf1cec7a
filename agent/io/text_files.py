"""Text files of users, in any of the usual encodings and line endings.

Text is UTF-8, or UTF-16 with a byte order mark. Bytes that are not valid UTF-8 are read as
Windows-1252, which contains the printable characters of ISO 8859-1, the encoding of the PGN
standard. A byte order mark is removed, and all line endings are converted to newlines.
"""

from __future__ import annotations

import codecs
import errno
import io
import os
from collections.abc import Iterator
from typing import BinaryIO, TextIO

from agent.io.files import MAX_FILE_SIZE, MAX_LINE_LENGTH, open_file, read_bytes
from agent.io.message import Message

_FALLBACK = "kempelen-windows-1252"


def encoding_of(start: bytes) -> str:
    """Return the encoding of a text that begins with the bytes `start`, for `decode`."""
    is_utf16 = start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return "utf-16" if is_utf16 else "utf-8-sig"


def decode_text(data: bytes) -> str:
    text = data.decode(encoding_of(data), _FALLBACK)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_text(
    path: str | os.PathLike[str], max_size: int = MAX_FILE_SIZE, *, pipes: bool = False
) -> str:
    """Return the text of a file. Raise OSError if it is larger than `max_size` bytes."""
    return decode_text(read_bytes(path, max_size, pipes=pipes))


def open_text(
    path: str | os.PathLike[str], max_size: int | None = None, *, pipes: bool = False
) -> TextIO:
    """Open a text file for reading. Lines over MAX_LINE_LENGTH are split.

    `file.buffer.tell()` is the number of bytes read, for progress. Raise OSError if the file is
    larger than `max_size` bytes.
    """
    file = open_file(path, pipes=pipes)
    try:
        require_size(file, max_size)
    except OSError:
        file.close()
        raise
    return _BoundedLineText(file, encoding=encoding_of(_peek(file)), errors=_FALLBACK)


def require_size(file: BinaryIO, max_size: int | None) -> None:
    """Raise OSError if a file is larger than `max_size` bytes."""
    if max_size is not None and os.fstat(file.fileno()).st_size > max_size:
        raise OSError(errno.EFBIG, Message("larger than {} KiB", max_size >> 10))


def read_lines(path: str | os.PathLike[str]) -> Iterator[str]:
    """Yield the lines of a text file, see `open_text`."""
    with open_text(path) as file:
        yield from file


def open_lines(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a text file whose lines end with a newline byte, and which `decode_text` can decode.

    A file in UTF-16, or with the line endings of old Macs, is converted in memory.
    """
    file = open_file(path)
    start = _peek(file)
    if encoding_of(start) == "utf-16" or (b"\r" in start and b"\n" not in start):
        with file:
            return io.BytesIO(decode_text(file.read()).encode())
    if start.startswith(codecs.BOM_UTF8):
        file.seek(len(codecs.BOM_UTF8))
    return file


def _peek(file: BinaryIO) -> bytes:
    assert isinstance(file, io.BufferedReader)
    return file.peek()


class _BoundedLineText(io.TextIOWrapper):
    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]
        return super().readline(MAX_LINE_LENGTH if size < 0 else size)


def _decode_invalid(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    if not error.encoding.startswith("utf-8"):
        return "\ufffd", error.end
    return error.object[error.start : error.end].decode("windows-1252", "replace"), error.end


codecs.register_error(_FALLBACK, _decode_invalid)
