import pytest

from protocols.uci.parsing import UciError
from protocols.xboard.parsing import parse_centiseconds, parse_level, parse_seconds


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("40 5 0", (300, 0, 40)),
        ("40 0:30 0", (30, 0, 40)),
        ("0 2 12", (120, 12, 0)),
        ("0 2:30 12", (150, 12, 0)),
        ("0 5 3", (300, 3, 0)),
        ("0 0:10 0.1", (10, 0.1, 0)),
        ("40 25+5 0", (1500, 0, 40)),
        ("40 5", (300, 0, 40)),
        ("-1 0 -3", (0, 0, 0)),
    ],
)
def test_level_arguments_are_parsed(text, expected):
    level = parse_level(text)
    assert (level.main_time, level.increment, level.moves) == expected


@pytest.mark.parametrize("text", ["", "40", "40 x 0", "x 5 0", "40 5 x", "0 -5 0", "nan 5 0"])
def test_invalid_level_arguments_are_rejected(text):
    with pytest.raises(UciError):
        parse_level(text)


def test_parsed_times_are_clamped():
    assert parse_seconds("0.05") == 0.05
    assert parse_seconds("-1") == 0
    assert parse_seconds("1e300") == parse_seconds("inf") == 1e8
    assert parse_centiseconds("2500") == 25
