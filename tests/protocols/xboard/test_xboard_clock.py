import pytest

from agent.limits import SideClock
from protocols.uci.parsing import UciError
from protocols.xboard.clock import XboardClock, is_consistent
from protocols.xboard.parsing import LevelCommand, parse_centiseconds, parse_level, parse_seconds


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("40 5 0", LevelCommand(40, 300, 0)),
        ("40 0:30 0", LevelCommand(40, 30, 0)),
        ("0 2 12", LevelCommand(0, 120, 12)),
        ("0 2:30 12", LevelCommand(0, 150, 12)),
        ("0 5 3", LevelCommand(0, 300, 3)),
        ("0 0:10 0.1", LevelCommand(0, 10, 0.1)),
        ("40 25+5 0", LevelCommand(40, 1500, 0)),
        ("40 5", LevelCommand(40, 300, 0)),
        ("-1 0 -3", LevelCommand(0, 0, 0)),
    ],
)
def test_level_arguments_are_parsed(text, level):
    assert parse_level(text) == level


@pytest.mark.parametrize("text", ["", "40", "40 x 0", "x 5 0", "40 5 x", "0 -5 0", "nan 5 0"])
def test_invalid_level_arguments_are_rejected(text):
    with pytest.raises(UciError):
        parse_level(text)


def test_parsed_times_are_clamped():
    assert parse_seconds("0.05") == 0.05
    assert parse_seconds("-1") == 0
    assert parse_seconds("1e300") == parse_seconds("inf") == 1e8
    assert parse_centiseconds("2500") == 25


def test_clock_with_increment_tracks_remaining_time():
    clock = XboardClock()
    clock.set_level(LevelCommand(0, 60, 2), 0)
    assert (clock.side_clock(), clock.moves_to_go(0)) == (SideClock(60, 2), None)
    clock.spend(10, 1)
    assert clock.side_clock() == SideClock(52, 2)
    clock.set_remaining(50)
    assert clock.side_clock(used=4) == SideClock(46, 2)
    assert clock.side_clock(used=100) == SideClock(0, 2)
    clock.new_game()
    assert clock.side_clock() == SideClock(60, 2)


def test_clock_refills_at_each_time_control():
    clock = XboardClock()
    clock.set_level(LevelCommand(3, 30, 0), 0)
    for played, left, to_go in ((1, 20, 2), (2, 10, 1), (3, 30, 3), (4, 20, 2)):
        clock.spend(10, played)
        assert (clock.side_clock(), clock.moves_to_go(played)) == (SideClock(left), to_go)


def test_level_during_game_starts_new_time_control():
    clock = XboardClock()
    clock.set_level(LevelCommand(40, 3600, 0), 0)
    clock.set_level(LevelCommand(20, 1320, 0), 40)
    assert (clock.side_clock(), clock.moves_to_go(40)) == (SideClock(1320), 20)
    assert clock.moves_to_go(45) == 15


def test_fixed_move_time_and_level_replace_each_other():
    clock = XboardClock()
    assert not clock.is_set
    clock.set_movetime(5)
    clock.set_remaining(3)
    assert (clock.movetime, clock.side_clock(), clock.moves_to_go(0)) == (5, None, None)
    clock.set_level(LevelCommand(0, 60, 0), 0)
    assert (clock.movetime, clock.side_clock()) == (None, SideClock(60))


@pytest.mark.parametrize(
    ("reckoned", "now", "kept"),
    [
        (SideClock(10), SideClock(9.5), True),
        (SideClock(10), SideClock(12), True),
        (SideClock(10), SideClock(8), False),
        (None, None, True),
        (None, SideClock(10), False),
        (SideClock(10), None, False),
    ],
)
def test_clock_estimate_is_kept_unless_too_high(reckoned, now, kept):
    assert is_consistent(reckoned, now) == kept
