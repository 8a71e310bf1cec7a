"""Lines out of bytes that come in pieces, whatever they hold."""

from collections.abc import Iterator


class LineSplitter:
    """Puts lines together. One of more bytes than `longest` is dropped, however long it is."""

    def __init__(self, max_length: int) -> None:
        self._max_length = max_length
        self._pending: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> Iterator[str | None]:
        """Take bytes and yield the lines that they complete, None for one that is too long.

        Bytes that are not UTF-8 are shown as escapes. Consume all before the next call.
        """
        first, *rest = chunk.split(b"\n")
        for more in (first, *rest)[:-1]:
            yield self._line(more)
        last = rest[-1] if rest else first
        self._size += len(last)
        if self._size <= self._max_length:
            self._pending.append(last)
        else:
            self._pending = []

    def end(self) -> Iterator[str | None]:
        """Yield what came after the last line end, which counts as a line."""
        if self._size:
            yield self._line(b"")

    def _line(self, more: bytes) -> str | None:
        whole, size = b"".join((*self._pending, more)), self._size + len(more)
        self._pending, self._size = [], 0
        if size > self._max_length:
            return None
        return whole.decode(errors="backslashreplace").rstrip("\r").lstrip("\ufeff")
