"""All commands read text in the usual encodings, with any line endings."""

import io
from pathlib import Path

import pytest

from agent.io.text_files import decode_text, open_lines, open_text, read_text

TEXT = 'white "Müller"\nblack "Réti"\n'
ENCODINGS = ("utf-8", "utf-8-sig", "latin-1", "utf-16", "utf-16-be-with-bom")
LINE_ENDINGS = ("\n", "\r\n", "\r")


def encoded(text: str, encoding: str) -> bytes:
    if encoding == "utf-16-be-with-bom":
        return f"\ufeff{text}".encode("utf-16-be")
    return text.encode(encoding)


@pytest.mark.parametrize("line_ending", LINE_ENDINGS)
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_text_is_the_same_in_all_encodings(encoding: str, line_ending: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(encoded(TEXT.replace("\n", line_ending), encoding))
    assert read_text(path) == TEXT
    with open_text(path) as file:
        assert list(file) == TEXT.splitlines(keepends=True)
    with open_lines(path) as lines:
        assert [decode_text(line) for line in lines] == TEXT.splitlines(keepends=True)


def test_a_file_may_mix_utf8_and_windows_1252() -> None:
    data = "Müller\n".encode() + "Möller, Šaric\n".encode("cp1252")
    assert decode_text(data) == "Müller\nMöller, Šaric\n"


@pytest.mark.parametrize(
    "data", [b"", b"\xff", b"\xff\xfea\0b", b"\xef\xbb\xbf", bytes(range(256))]
)
def test_any_bytes_are_text(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    with open_text(path) as file:
        assert file.read() == read_text(path) == decode_text(data)


def test_too_large_file_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(1025))
    with pytest.raises(OSError, match="larger than 1 KiB"):
        read_text(path, 1024)


def test_progress_of_open_text_is_in_bytes(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(TEXT.encode("utf-16"))
    with open_text(path) as file:
        assert isinstance(file, io.TextIOWrapper)
        file.read()
        assert file.buffer.tell() == path.stat().st_size
