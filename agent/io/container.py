"""Files of ours that say what they are, whether they are whole, and what they hold.

A magic number, a SHA-256 of all that follows, numbers of the format's own, the head's length, the
head (JSON), zeros up to a multiple of the format's alignment, and the content. The numbers and the
length have 32 bits, little-endian.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

_CHECKSUM_BYTES = hashlib.sha256().digest_size
_NUMBER_BYTES = 4


@dataclass(frozen=True)
class ContainerFormat:
    """One kind of such files.

    magic: by what its files begin. numbers: how many it has of its own. alignment: of the content,
    in bytes from the file's beginning.
    """

    magic: bytes
    numbers: int = 0
    alignment: int = 1

    @property
    def min_size(self) -> int:
        """The bytes of a file up to its head, which every file has."""
        return self.numbers_start + (self.numbers + 1) * _NUMBER_BYTES

    @property
    def numbers_start(self) -> int:
        """Where the numbers begin, and what the checksum is of."""
        return len(self.magic) + _CHECKSUM_BYTES

    def content_start(self, header_length: int) -> int:
        """Return where the content begins behind a head of so many bytes."""
        return -(-(self.min_size + header_length) // self.alignment) * self.alignment

    def pack(self, header: str, content: bytes, numbers: Sequence[int] = ()) -> bytes:
        """Return a file's bytes. head: JSON; OverflowError for a number that has no 32 bits."""
        if len(numbers) != self.numbers:
            raise ValueError(f"{len(numbers)} numbers are not {self.numbers}")
        said = header.encode()
        checked = b"".join(
            number.to_bytes(_NUMBER_BYTES, "little") for number in (*numbers, len(said))
        )
        filled = self.content_start(len(said)) - self.numbers_start
        checked = (checked + said).ljust(filled, b"\0") + content
        return self.magic + hashlib.sha256(checked).digest() + checked


@dataclass(frozen=True)
class Container:
    """A file as its format sees it: of a file that is damaged everything may be wrong.

    data: all its bytes. What is given of them is a view of them, shorter where they end too soon.
    """

    format: ContainerFormat
    data: memoryview

    @property
    def has_magic(self) -> bool:
        """Whether it begins as files of the format do."""
        return self.data[: len(self.format.magic)] == self.format.magic

    @property
    def is_intact(self) -> bool:
        """Whether the checksum is that of what follows it."""
        start = self.format.numbers_start
        return hashlib.sha256(self.data[start:]).digest() == self.checksum

    @property
    def checksum(self) -> bytes:
        """The SHA-256 that the file has."""
        return bytes(self.data[len(self.format.magic) : self.format.numbers_start])

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the format's own."""
        return tuple(self._number(index) for index in range(self.format.numbers))

    @property
    def header_length(self) -> int:
        """How many bytes the head is said to have."""
        return self._number(self.format.numbers)

    @property
    def header(self) -> bytes:
        """The JSON."""
        return bytes(self.data[self.format.min_size : self.format.min_size + self.header_length])

    @property
    def content_start(self) -> int:
        """Where the content begins."""
        return self.format.content_start(self.header_length)

    @property
    def content(self) -> memoryview:
        """What comes behind the head."""
        return self.data[self.content_start :]

    def _number(self, index: int) -> int:
        start = self.format.numbers_start + index * _NUMBER_BYTES
        return int.from_bytes(self.data[start : start + _NUMBER_BYTES], "little")
