"""Error messages for unreadable files."""

from pathlib import Path

import pytest

from agent.io.read_errors import convert_read_errors
from agent.io.text_files import read_text


class UnreadableError(Exception):
    """The error type of the caller."""


def test_read_error_names_file_and_reason(tmp_path: Path) -> None:
    wrong = {
        tmp_path: "Is a directory",
        tmp_path / "none.txt": "No such file or directory",
    }
    for path, reason in wrong.items():
        with pytest.raises(UnreadableError) as raised, convert_read_errors(path, UnreadableError):
            read_text(path)
        assert str(raised.value) == f"cannot read {path}: {reason}"
        assert raised.value.__suppress_context__, "the message says all of it"


def test_unrelated_errors_are_not_wrapped() -> None:
    with pytest.raises(ZeroDivisionError), convert_read_errors("numbers.txt", UnreadableError):
        1 / 0  # noqa: B018 - it raises
