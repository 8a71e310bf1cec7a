import pytest

from agent.lag import Lag
from agent.limits import SideClock
from protocols.gtp.clocks import LEAST, SideTime, TimeSystem, from_time_settings


def test_overtime_of_no_stones_is_no_limit():
    assert from_time_settings(0, 1, 0).unlimited
    assert from_time_settings(60, 0, 5) == TimeSystem(60)


def test_absolute_time_lasts_for_the_game():
    clock = SideTime(TimeSystem(300))
    for _ in range(200):
        clock.spend(clock.for_move(40))
    assert clock._main > 0


@pytest.mark.parametrize("moves_left", [None, 8, 40, 150])
def test_more_moves_to_come_means_less_for_each(moves_left):
    clock = SideTime(TimeSystem(300))
    assert LEAST < clock.for_move(moves_left) <= 300 * 0.2
    assert clock.for_move(200) < clock.for_move(20)


def test_an_increment_is_used():
    assert SideTime(TimeSystem(10, increment=5)).for_move(40) > SideTime(TimeSystem(10)).for_move(
        40
    )


def test_canadian_overtime_is_shared_out():
    clock = SideTime(TimeSystem(0, 30, stones=10))
    assert 2.5 < clock.for_move(40) < 3
    for _ in range(9):
        clock.spend(2)
    assert 11 < clock.for_move(40) < 12
    clock.spend(2)
    assert 2.5 < clock.for_move(40) < 3


def test_byo_yomi_gives_each_move_a_period():
    clock = SideTime(TimeSystem(1, 10, periods=3))
    assert 9 < clock.for_move(40) < 10
    clock.spend(25)
    assert clock._count == 1
    assert 9 < clock.for_move(40) < 10


def test_the_front_end_knows_better():
    clock = SideTime(TimeSystem(300, 30, stones=10))
    clock.set_left(6, 2)
    assert 2.5 < clock.for_move(40) < 3
    clock.set_left(100, 0)
    assert clock.for_move(10) > 5


def seconds_for_move(*games, lag=None):
    """Return how long to think when 20 seconds are left, after moves and what was told of them."""
    clock = SideTime(TimeSystem(300), lag or Lag())
    for told, spent, meant in games:
        clock.set_left(told, 0)
        if spent is not None:
            clock.spend(spent, meant)
    clock.set_left(20, 0)
    return clock.for_move(20)


PUNCTUAL = (100.25, 2.0, 2.0), (98.25, 2.0, 2.0), (96.25, None, None)


@pytest.mark.parametrize(
    ("games", "learned"),
    [
        ([(100.25, 2.0, 2.0), (97.75, 2.0, 2.0), (95.25, None, None)], True),
        ([(100.25, 2.5, 2.0), (97.75, 2.5, 2.0), (95.25, None, None)], True),  # it was late itself
        ([(100.0, 2.0, 2.0), (97.0, 2.0, 2.0), (94.0, None, None)], False),  # whole seconds
        ([(100.25, None, None), (97.75, None, None), (95.25, None, None)], False),  # no move
        ([(100.25, 2.0, 2.0), (200.25, 2.0, 2.0), (300.25, None, None)], False),  # set
    ],
)
def test_what_the_front_end_takes_beside_is_learned(games, learned):
    expected = seconds_for_move(*PUNCTUAL)
    found = seconds_for_move(*games)
    assert found < expected - 0.05 if learned else found == pytest.approx(expected, abs=0.001)


def test_two_moves_between_times_teach_nothing():
    clock = SideTime(TimeSystem(300), lag := Lag())
    clock.set_left(100.25, 0)
    clock.spend(2.0, 2.0)
    clock.spend(2.0, 2.0)
    clock.set_left(95.75, 0)
    assert lag.reserve(SideClock(60.0)) == 0.0
