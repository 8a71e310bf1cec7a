from collections.abc import Iterator


class LineSplitter:
    """Splits chunks of bytes into lines, and drops lines of more than `max_length` bytes."""

    def __init__(self, max_length: int) -> None:
        self._max_length = max_length
        self._pending: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> Iterator[str | None]:
        """Add bytes and yield each completed line, or None for a line that was dropped.

        Invalid UTF-8 is replaced with escapes. The iterator must be exhausted before the next call.
        """
        first, *rest = chunk.split(b"\n")
        for piece in (first, *rest)[:-1]:
            yield self._line(piece)
        last = rest[-1] if rest else first
        self._size += len(last)
        if self._size <= self._max_length:
            self._pending.append(last)
        else:
            self._pending = []

    def end(self) -> Iterator[str | None]:
        """Yield the last line if it does not end with a newline."""
        if self._size:
            yield self._line(b"")

    def _line(self, piece: bytes) -> str | None:
        line, size = b"".join((*self._pending, piece)), self._size + len(piece)
        self._pending, self._size = [], 0
        if size > self._max_length:
            return None
        return line.decode(errors="backslashreplace").rstrip("\r").lstrip("\ufeff")
