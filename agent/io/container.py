"""Container files: a magic number, a checksum, integers, a JSON header, and binary content.

The checksum is the SHA-256 hash of all bytes after it. The integers and the header length follow as
little-endian uint32. Zeros pad the header up to the alignment of the content.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

_CHECKSUM_BYTES = hashlib.sha256().digest_size
_NUMBER_BYTES = 4


@dataclass(frozen=True)
class ContainerFormat:
    """A container format: `numbers` integers, and content aligned to `alignment` bytes."""

    magic: bytes
    numbers: int = 0
    alignment: int = 1

    @property
    def min_size(self) -> int:
        """The offset of the header, which is also the minimum file size in bytes."""
        return self.numbers_start + (self.numbers + 1) * _NUMBER_BYTES

    @property
    def numbers_start(self) -> int:
        """The offset of the integers in bytes. The checksum covers the file from here."""
        return len(self.magic) + _CHECKSUM_BYTES

    def content_start(self, header_length: int) -> int:
        return -(-(self.min_size + header_length) // self.alignment) * self.alignment

    def pack(self, header: str, content: bytes, numbers: Sequence[int] = ()) -> bytes:
        """Return the bytes of a container file.

        Raise ValueError for a wrong number of integers, and OverflowError if one exceeds 32 bits.
        """
        if len(numbers) != self.numbers:
            raise ValueError(f"expected {self.numbers} numbers, got {len(numbers)}")
        header_bytes = header.encode()
        body = b"".join(
            number.to_bytes(_NUMBER_BYTES, "little") for number in (*numbers, len(header_bytes))
        )
        padded_size = self.content_start(len(header_bytes)) - self.numbers_start
        body = (body + header_bytes).ljust(padded_size, b"\0") + content
        return self.magic + hashlib.sha256(body).digest() + body


@dataclass(frozen=True)
class Container:
    """The parts of a container file. In a damaged file, parts may be wrong or too short."""

    format: ContainerFormat
    data: memoryview

    @property
    def has_magic(self) -> bool:
        return self.data[: len(self.format.magic)] == self.format.magic

    @property
    def is_intact(self) -> bool:
        start = self.format.numbers_start
        return hashlib.sha256(self.data[start:]).digest() == self.checksum

    @property
    def checksum(self) -> bytes:
        return bytes(self.data[len(self.format.magic) : self.format.numbers_start])

    @property
    def numbers(self) -> tuple[int, ...]:
        return tuple(self._number(index) for index in range(self.format.numbers))

    @property
    def header_length(self) -> int:
        return self._number(self.format.numbers)

    @property
    def header(self) -> bytes:
        return bytes(self.data[self.format.min_size : self.format.min_size + self.header_length])

    @property
    def content_start(self) -> int:
        return self.format.content_start(self.header_length)

    @property
    def content(self) -> memoryview:
        return self.data[self.content_start :]

    def _number(self, index: int) -> int:
        start = self.format.numbers_start + index * _NUMBER_BYTES
        return int.from_bytes(self.data[start : start + _NUMBER_BYTES], "little")
