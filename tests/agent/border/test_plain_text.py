"""Text from outside as it is shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.border.plain_text import NAME_LENGTH, plain, plain_lines, plain_name
from tests.support import ANY_TEXT


@given(ANY_TEXT, st.integers(1, 50))
def test_plain_text_is_one_printable_line_of_limited_length(text, most):
    for shown in (plain(text), plain_name(text)):
        assert shown.isprintable()
        assert shown.encode().decode() == shown
        assert plain(shown) == shown
    assert len(plain(text, most)) <= most
    assert len(plain_name(text)) <= NAME_LENGTH


@given(ANY_TEXT)
def test_plain_lines_keep_line_breaks(text):
    assert all(line.isprintable() for line in plain_lines(text).split("\n"))
    assert plain_lines(text).count("\n") == min(text.count("\n"), 99)


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
    assert plain(text) == shown


def test_plain_lines_keep_indentation():
    assert plain_lines("a:\n  b\x07\n\n") == "a:\n  b\\x07\n\n"
