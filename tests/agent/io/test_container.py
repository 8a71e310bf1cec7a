"""Container files: their bytes, and detection of damage."""

import hashlib
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.io.container import Container, ContainerFormat

PLAIN = ContainerFormat(b"\x8bPlain\r\n")
ALIGNED = ContainerFormat(b"\x8bNums\r\n", numbers=2, alignment=64)


def opened(form: ContainerFormat, data: bytes) -> Container:
    return Container(form, memoryview(data))


def test_packed_bytes_match_the_format() -> None:
    body = struct.pack("<I", 2) + b"{}" + b"content"
    written = PLAIN.magic + hashlib.sha256(body).digest() + body
    assert PLAIN.pack("{}", b"content") == written
    head = '"é"'.encode()
    front = struct.pack("<III", 7, (1 << 32) - 1, len(head)) + head
    body = front + bytes(64 - len(ALIGNED.magic) - 32 - len(front)) + b"content"
    written = ALIGNED.magic + hashlib.sha256(body).digest() + body
    assert ALIGNED.pack('"é"', b"content", (7, (1 << 32) - 1)) == written
    assert written.index(b"content") == 64


@pytest.mark.thorough
@given(
    head=st.text(max_size=100),
    content=st.binary(max_size=100),
    numbers=st.lists(st.integers(0, (1 << 32) - 1), max_size=3),
    alignment=st.sampled_from([1, 8, 64]),
)
def test_packed_data_round_trips(
    head: str, content: bytes, numbers: list[int], alignment: int
) -> None:
    form = ContainerFormat(b"\x8bAny\r\n", len(numbers), alignment)
    file = opened(form, form.pack(head, content, numbers))
    assert file.has_magic
    assert file.is_intact
    assert file.numbers == tuple(numbers)
    assert (file.header.decode(), file.header_length) == (head, len(head.encode()))
    assert file.content == content
    assert file.content_start % alignment == 0
    assert len(file.data) == file.content_start + len(content)


@pytest.mark.parametrize("form", [PLAIN, ALIGNED], ids=["plain", "aligned"])
def test_damage_is_detected_and_file_stays_readable(form: ContainerFormat) -> None:
    whole = form.pack('{"a": 1}', b"content", range(form.numbers))
    for index in range(len(whole)):
        damaged = bytearray(whole)
        damaged[index] ^= 0x40
        file = opened(form, bytes(damaged))
        assert file.has_magic == (index >= len(form.magic))
        assert file.is_intact == (index < len(form.magic))
    for length in range(len(whole)):
        file = opened(form, whole[:length])
        assert file.has_magic == (length >= len(form.magic))
        assert not file.is_intact
        assert whole.startswith(form.magic[:length] + file.checksum)
        assert b"content".startswith(file.content)
        assert len(file.numbers) == form.numbers


def test_numbers_that_do_not_fit_are_rejected() -> None:
    with pytest.raises(ValueError, match="expected 2 numbers, got 1"):
        ALIGNED.pack("{}", b"", (1,))
    with pytest.raises(OverflowError):
        ALIGNED.pack("{}", b"", (1, 1 << 32))
