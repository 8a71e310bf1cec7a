"""Command lines are split by the rules of the system."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.border.command_line import split_command_line


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")


@pytest.mark.usefixtures("windows")
@pytest.mark.parametrize(
    ("text", "words"),
    [
        (r"C:\x\fake.exe -x C:\b\n.txt", [r"C:\x\fake.exe", "-x", r"C:\b\n.txt"]),
        (r'"C:\Program Files\e.exe" a', [r"C:\Program Files\e.exe", "a"]),
        (r'e.exe "C:\a b\\" c', ["e.exe", "C:\\a b\\", "c"]),
        (r"\\server\share\e.exe", [r"\\server\share\e.exe"]),
        (r"e.exe \"a \\\"b", ["e.exe", '"a', '\\"b']),
        ("e.exe \"\" 'a b'", ["e.exe", "", "'a", "b'"]),
        ('e.exe "a ""b"" c"', ["e.exe", 'a "b" c']),
        ('  e.exe\ta"b c"d  ', ["e.exe", "ab cd"]),
        ("C:\\", ["C:\\"]),
        ("", []),
    ],
)
def test_on_windows(text: str, words: list[str]) -> None:
    assert split_command_line(text) == words


@given(st.lists(st.text(alphabet='ab\\" \t')))
def test_on_windows_it_undoes_what_python_joins(words: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "platform", "win32")
        assert split_command_line(subprocess.list2cmdline(words)) == words


@pytest.mark.usefixtures("windows")
def test_on_windows_a_quotation_has_an_end() -> None:
    with pytest.raises(ValueError, match="No closing quotation"):
        split_command_line(r'e.exe "C:\a')


@pytest.mark.skipif(sys.platform == "win32", reason="of other systems")
def test_elsewhere_as_a_shell_does() -> None:
    assert split_command_line(r"e 'a b' c\ d") == ["e", "a b", "c d"]
