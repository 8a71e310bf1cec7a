import time

import pytest

from agent.game_clock import GameClock, TimeSystem
from agent.limits import Overtime, SideClock

SUDDEN_DEATH = TimeSystem(60)


def test_increment_is_added_after_each_move():
    clock = GameClock(TimeSystem(60, increment=2))
    assert (clock.side_clock(), clock.moves_to_go) == (SideClock(60, 2), None)
    clock.spend(10)
    assert clock.side_clock() == SideClock(52, 2)
    clock.set_remaining(50)
    assert clock.side_clock(used=4) == SideClock(46, 2)
    assert clock.side_clock(used=100) == SideClock(0, 2)


def test_main_time_is_added_at_each_time_control():
    clock = GameClock(TimeSystem(30, moves=3))
    for left, to_go in ((20, 2), (10, 1), (30, 3), (20, 2)):
        clock.spend(10)
        assert (clock.remaining, clock.moves_to_go) == (left, to_go)


def test_increment_does_not_exceed_the_main_time_cap():
    clock = GameClock(TimeSystem(60, increment=10, max_main_time=65))
    clock.spend(2)
    assert clock.side_clock() == SideClock(65, 10)
    clock.spend(20)
    assert clock.side_clock() == SideClock(55, 10)
    clock.set_remaining(30)
    assert clock.side_clock() == SideClock(30, 10)


def test_canadian_overtime_counts_stones():
    clock = GameClock(TimeSystem(0, 30, stones=10))
    for _ in range(9):
        clock.spend(2)
    assert clock.side_clock() == SideClock(0, overtime=Overtime(12, 1))
    clock.spend(2)
    assert clock.side_clock() == SideClock(0, overtime=Overtime(30, 10))


def test_byo_yomi_loses_periods():
    clock = GameClock(TimeSystem(1, 10, periods=3))
    assert clock.side_clock() == SideClock(1, overtime=Overtime(10, 1))
    assert clock.move_limit == 31
    clock.spend(25)
    assert (clock.side_clock(), clock.move_limit) == (SideClock(0, overtime=Overtime(10, 1)), 10)


@pytest.mark.parametrize(
    ("system", "limit"),
    [
        (TimeSystem(), None),
        (TimeSystem(max_move_time=5), 5),
        (SUDDEN_DEATH, 60),
        (TimeSystem(60, max_move_time=5), 5),
        (TimeSystem(60, 30, stones=10), 90),
    ],
)
def test_time_limit_of_a_move(system, limit):
    clock = GameClock(system)
    assert (clock.move_limit, clock.flagged) == (limit, False)
    assert (clock.side_clock() is None) == (clock.remaining is None) == (system.main_time is None)


def test_running_clock_loses_time(monkeypatch):
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    clock = GameClock(SUDDEN_DEATH, 10)
    clock.start()
    now += 4
    assert (clock.remaining, clock.flagged) == (6, False)
    clock.start()
    clock.stop()
    now += 100
    assert (clock.remaining, clock.elapsed) == (6, 0)
    clock.start()
    now += 6
    assert (clock.remaining, clock.flagged) == (0, True)
    clock.cancel()
    assert (clock.remaining, clock.flagged) == (6, False)
