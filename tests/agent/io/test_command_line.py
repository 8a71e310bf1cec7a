"""Splitting of command lines by the rules of the operating system."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.io.command_line import split_command_line


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
def test_windows_command_line_is_split(text: str, words: list[str]) -> None:
    assert split_command_line(text) == words


@given(st.lists(st.text(alphabet='ab\\" \t')))
def test_windows_splitting_inverts_list2cmdline(words: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "platform", "win32")
        assert split_command_line(subprocess.list2cmdline(words)) == words


@pytest.mark.usefixtures("windows")
def test_windows_splitting_rejects_unclosed_quotation() -> None:
    with pytest.raises(ValueError, match="No closing quotation"):
        split_command_line(r'e.exe "C:\a')


@pytest.mark.skipif(sys.platform == "win32", reason="rules of other systems")
def test_other_systems_split_like_a_shell() -> None:
    assert split_command_line(r"e 'a b' c\ d") == ["e", "a b", "c d"]
