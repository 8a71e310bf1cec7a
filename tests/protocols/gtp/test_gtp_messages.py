"""Parsing of GTP lines, and formatting of responses."""

import pytest
from hypothesis import given

from protocols.gtp.messages import (
    MAX_NUMBER,
    Arguments,
    GtpError,
    ParsedCommand,
    failure_response,
    parse_line,
    success_response,
)
from tests.support import ANY_TEXT


@pytest.mark.parametrize(
    ("line", "call"),
    [
        ("genmove b\n", ParsedCommand("", "genmove", "b")),
        ("7 play\tblack  D4 \r\n", ParsedCommand("7", "play", "black  D4")),
        ("12", ParsedCommand("12", "", "")),
        ("12name", ParsedCommand("", "12name", "")),
        ("00 name # b", ParsedCommand("00", "name", "")),
        ("na\x07me\x7f", ParsedCommand("", "name", "")),
        ("# a comment", None),
        (" \t\r\n", None),
        ("\x01", None),
    ],
)
def test_parse_line_reads_gtp_commands(line, call):
    assert parse_line(line) == call


@given(ANY_TEXT, ANY_TEXT)
def test_response_contains_no_empty_line(line, text):
    """A response has no empty line, and an error no line end."""
    call = parse_line(line) or ParsedCommand("1", "name", "")
    answer = success_response(call, text)
    assert answer.startswith(f"={call.id}")
    assert answer.endswith("\n")
    assert "\n\n" not in answer
    assert failure_response(call, text).startswith(f"?{call.id} ")
    assert failure_response(call, text).count("\n") == 1
    for response in (answer, failure_response(call, text)):
        shown = response.replace(call.id, "")
        assert all(line.isprintable() for line in shown.split("\n"))


def test_success_formats_single_and_multi_line_text():
    assert success_response(ParsedCommand("3", "showboard", ""), "\n A\n\n1 .\n") == "=3\n A\n1 .\n"
    assert success_response(ParsedCommand("", "name", ""), "Kempelen") == "= Kempelen\n"
    assert success_response(ParsedCommand("4", "quit", "")) == "=4\n"


def test_arguments_are_consumed_in_order():
    arguments = Arguments(("WHITE", "b", "+7", "2.5", "rest", "of it"))
    assert (arguments.player(), arguments.optional_player()) == (1, 0)
    assert arguments.optional_player() is None
    assert (arguments.integer(), arguments.seconds()) == (7, 2.5)
    assert arguments
    assert arguments.rest() == ["rest", "of it"]
    assert not arguments
    arguments.expect_end()


@pytest.mark.parametrize(
    ("take", "words"),
    [
        (Arguments.word, [()]),
        (Arguments.player, [(), ("grey",), ("B4",)]),
        (Arguments.integer, [(), ("-1",), ("1.5",), ("x",), ("٣",), ("1" * 21,)]),
        (Arguments.real, [(), ("x",), ("nan",), ("inf",), ("1e999",)]),
        (Arguments.seconds, [("-0.1",)]),
        (Arguments.expect_end, [("more",)]),
    ],
)
def test_invalid_arguments_are_syntax_errors(take, words):
    for each in words:
        with pytest.raises(GtpError, match=r"^syntax error$"):
            take(Arguments(each))


def test_numeric_arguments_are_clamped():
    assert Arguments(("99999999999",)).integer() == MAX_NUMBER
    assert Arguments(("-1e300",)).real() == -MAX_NUMBER
