"""Numbers on the command line: valid values and errors. Numbers in JSON."""

import json
from argparse import ArgumentTypeError

import pytest

from kempelen.console.argument_types import (
    board_size,
    fraction,
    number_up_to,
    positive_int,
    positive_seconds,
)
from kempelen.console.settings_codec import encode
from kempelen.lab.language import json_value


@pytest.mark.parametrize(
    ("read", "text", "value"),
    [
        (positive_int, "1", 1),
        (positive_int, "1000000000000", 10**12),
        (positive_seconds, "0.001", 0.001),
        (positive_seconds, "1e3", 1000.0),
        (fraction, "0", 0.0),
        (fraction, "1", 1.0),
        (fraction, "0.25", 0.25),
        (lambda text: number_up_to(20, text), "20", 20.0),
        (board_size, "19", 19),
        (board_size, "9x13", "9x13"),
        (board_size, "9X9", 9),
    ],
)
def test_valid_numbers_are_accepted(read, text, value):
    assert read(text) == value


@pytest.mark.parametrize(
    ("read", "texts", "message"),
    [
        (positive_int, ["0", "-1", "1.5", "", "x", "inf"], "whole number above 0"),
        (positive_seconds, ["0", "-0.1", "inf", "nan", "", "x"], "seconds above 0"),
        (fraction, ["-0.1", "1.01", "nan", "inf", "", "x"], "from 0 to 1"),
        (lambda text: number_up_to(20, text), ["20.5", "-1"], "from 0 to 20"),
        (
            board_size,
            ["1", "20", "9x20", "0x13", "9x", "-9", "²", "9" * 5000, ""],
            "a size from 2 to 19, or WIDTHxHEIGHT such as 9x13",
        ),
    ],
)
def test_invalid_numbers_are_rejected(read, texts, message):
    for text in texts:
        with pytest.raises(ArgumentTypeError, match=f"{message}, not {text!r}"):
            read(text)


@pytest.mark.parametrize("convert", [encode, json_value])
def test_zero_in_json_has_no_sign(convert):
    assert json.dumps(convert({"value": -0.0, "values": [-0.0, -1.5]})) == (
        '{"value": 0.0, "values": [0.0, -1.5]}'
    )
