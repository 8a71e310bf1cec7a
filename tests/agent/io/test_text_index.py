"""Records of a large file are read one at a time."""

from pathlib import Path

import pytest

from agent.io import text_index
from agent.io.text_index import TextIndex, find_lines
from tests.agent.io.test_text_files import ENCODINGS, LINE_ENDINGS, encoded

LINES = ["# players", "Müller", "", "Réti", "#", "  Nimzowitsch", " \t", "  # end", " "]


def records(index: TextIndex) -> list[str]:
    return [index[number].partition("\n")[0] for number in range(len(index))]


@pytest.mark.parametrize("line_ending", LINE_ENDINGS)
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_lines_are_indexed_in_all_encodings(
    encoding: str, line_ending: str, tmp_path: Path
) -> None:
    path = tmp_path / "file"
    path.write_bytes(encoded(line_ending.join(LINES), encoding))
    index = TextIndex(path, find_lines)
    assert records(index) == ["Müller", "Réti", "  Nimzowitsch"]
    assert [index.line_number(number) for number in range(3)] == [2, 4, 6]


def test_blocks_end_between_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_index, "_BLOCK", 10)
    lines = [f"{number}" * (number % 7 + 1) for number in range(100)]
    path = tmp_path / "file"
    path.write_text("\n".join(lines) + "\n")
    read = []
    index = TextIndex(path, find_lines, read.append)
    assert records(index) == lines
    assert read[-1] == path.stat().st_size
    assert index.line_number(99) == 100


@pytest.mark.parametrize("data", [b"", b"\n\n# nothing\n\r\n", b"\xef\xbb\xbf"])
def test_file_without_records_is_empty(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    assert len(TextIndex(path, find_lines)) == 0


def test_small_file_may_be_changed(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("one\ntwo\n")
    index = TextIndex(path, find_lines)
    path.write_text("three\n")
    assert records(index) == ["one", "two"]


def test_changed_file_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_index, "MAX_IN_MEMORY", 5)
    path = tmp_path / "file"
    path.write_text("one\ntwo\n")
    index = TextIndex(path, find_lines)
    path.write_text("one and a half\ntwo\n")
    with pytest.raises(OSError, match="changed by another program"):
        index[1]


def test_replaced_file_is_still_read(tmp_path: Path) -> None:
    path, other = tmp_path / "file", tmp_path / "other"
    path.write_text("one\ntwo\n")
    index = TextIndex(path, find_lines)
    other.write_text("three\n")
    other.replace(path)
    assert records(index) == ["one", "two"]
