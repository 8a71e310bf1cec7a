"""Display of untrusted text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.io.sanitize import (
    MAX_NAME_LENGTH,
    escape_lines,
    sanitize_line,
    sanitize_lines,
    sanitize_name,
)
from tests.support import ANY_TEXT


@given(ANY_TEXT, st.integers(1, 50))
def test_plain_text_is_one_printable_line_of_limited_length(text, max_length):
    for shown in (sanitize_line(text), sanitize_name(text)):
        assert shown.isprintable()
        assert shown.encode().decode() == shown
        assert sanitize_line(shown) == shown
    assert len(sanitize_line(text, max_length)) <= max_length
    assert len(sanitize_name(text)) <= MAX_NAME_LENGTH


@given(ANY_TEXT)
def test_plain_lines_keep_line_breaks(text):
    assert all(line.isprintable() for line in sanitize_lines(text).split("\n"))
    assert sanitize_lines(text).count("\n") == min(text.count("\n"), 99)


@given(ANY_TEXT)
def test_escaped_lines_keep_length_and_line_breaks(text):
    shown = escape_lines(f"  {text}\n" * 200)
    assert shown.count("\n") == 200 * (text.count("\n") + 1)
    assert all(line.isprintable() for line in shown.split("\n"))
    assert escape_lines(shown) == shown
    assert shown.startswith("  ")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[/b]x", "[/b]x"),
        (":smile:", ":smile:"),
        ("Ω ♔ 名前", "Ω ♔ 名前"),
        ("a\x1b[31mb", r"a\x1b[31mb"),
        ("a\nb\tc\u2028d", "a b c d"),
        ("\u202eabc\udcff", r"\u202eabc\udcff"),
        ("x" * 2000, "x" * 999 + "…"),
    ],
)
def test_plain_escapes_and_truncates_text(text, shown):
    assert sanitize_line(text) == shown


def test_plain_lines_keep_indentation():
    assert sanitize_lines("a:\n  b\x07\n\n") == "a:\n  b\\x07\n\n"
