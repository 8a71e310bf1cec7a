"""Container files: magic number, checksum, integers, JSON header, and binary content.

Layout: magic number, SHA-256 of all following bytes, the integers that the format defines, header
length, header (JSON), zero padding up to the alignment, content. The integers and the header length
are little-endian, unsigned, 32 bits wide.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

_CHECKSUM_BYTES = hashlib.sha256().digest_size
_NUMBER_BYTES = 4


@dataclass(frozen=True)
class ContainerFormat:
    """The format of a container file.

    `magic` is the magic number. `numbers` is the number of integers before the header. The content
    starts at a multiple of `alignment` bytes.
    """

    magic: bytes
    numbers: int = 0
    alignment: int = 1

    @property
    def min_size(self) -> int:
        """The minimum file size in bytes. The header starts at this offset."""
        return self.numbers_start + (self.numbers + 1) * _NUMBER_BYTES

    @property
    def numbers_start(self) -> int:
        """The offset of the integers, where the part covered by the checksum starts."""
        return len(self.magic) + _CHECKSUM_BYTES

    def content_start(self, header_length: int) -> int:
        """Return the offset of the content after a header of `header_length` bytes."""
        return -(-(self.min_size + header_length) // self.alignment) * self.alignment

    def pack(self, header: str, content: bytes, numbers: Sequence[int] = ()) -> bytes:
        """Return the contents of a container file.

        Raise OverflowError if an integer does not fit in 32 bits.
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
    """The parts of a container file. In a damaged file, any part may be wrong.

    `data` contains all bytes of the file. The other attributes are views of `data`, which are
    shorter if the file is truncated.
    """

    format: ContainerFormat
    data: memoryview

    @property
    def has_magic(self) -> bool:
        return self.data[: len(self.format.magic)] == self.format.magic

    @property
    def is_intact(self) -> bool:
        """Whether the checksum matches the data."""
        start = self.format.numbers_start
        return hashlib.sha256(self.data[start:]).digest() == self.checksum

    @property
    def checksum(self) -> bytes:
        return bytes(self.data[len(self.format.magic) : self.format.numbers_start])

    @property
    def numbers(self) -> tuple[int, ...]:
        """The integers before the header."""
        return tuple(self._number(index) for index in range(self.format.numbers))

    @property
    def header_length(self) -> int:
        """The stored length of the header in bytes."""
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
