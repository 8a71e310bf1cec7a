import pytest

from agent.clock import LEAST, Budget, allot
from agent.lag import Lag
from agent.limits import Limits, SideClock
from protocols.gtp.clocks import SideTime, TimeSystem, from_time_settings

OVERHEAD = 0.05


def budget(time, moves_left=40, lag=None):
    """Return what a move may take by what the clock shows."""
    clock = time.clock()
    reserve = 0.0 if lag is None else lag.reserve(clock)
    return allot(Limits(clock=clock, moves_to_go=moves_left), OVERHEAD, reserve)


def test_where_no_clock_runs_out_all_of_a_moves_part_is_used():
    byo_yomi = SideTime(TimeSystem(0, 10, periods=3))
    assert budget(byo_yomi) == Budget(9.95, 9.95)


def test_overtime_of_no_stones_is_no_limit():
    assert from_time_settings(0, 1, 0).unlimited
    assert from_time_settings(60, 0, 5) == TimeSystem(60)


def test_absolute_time_lasts_for_the_game():
    clock = SideTime(TimeSystem(300))
    for _ in range(200):
        clock.spend(budget(clock, 40).soft)
    assert clock._main > 0


@pytest.mark.parametrize("moves_left", [None, 8, 40, 150])
def test_more_moves_to_come_means_less_for_each(moves_left):
    clock = SideTime(TimeSystem(300))
    assert LEAST < budget(clock, moves_left).soft <= 300 * 0.2
    assert budget(clock, 200).soft < budget(clock, 20).soft


def test_an_increment_is_used():
    with_increment, without = SideTime(TimeSystem(10, increment=5)), SideTime(TimeSystem(10))
    assert budget(with_increment).soft > budget(without).soft


def test_canadian_overtime_is_shared_out():
    clock = SideTime(TimeSystem(0, 30, stones=10))
    assert 2.5 < budget(clock, 40).soft < 3
    for _ in range(9):
        clock.spend(2)
    assert 11 < budget(clock, 40).soft < 12
    clock.spend(2)
    assert 2.5 < budget(clock, 40).soft < 3


def test_byo_yomi_gives_each_move_a_period():
    clock = SideTime(TimeSystem(1, 10, periods=3))
    assert 9 < budget(clock, 40).soft < 10
    clock.spend(25)
    assert clock._count == 1
    assert 9 < budget(clock, 40).soft < 10


def test_the_front_end_knows_better():
    clock = SideTime(TimeSystem(300, 30, stones=10))
    clock.set_left(6, 2)
    assert 2.5 < budget(clock, 40).soft < 3
    clock.set_left(100, 0)
    assert budget(clock, 10).soft > 5


def seconds_for_move(*games):
    """Return how long to think when 20 seconds are left, after moves and what was told of them."""
    lag = Lag()
    clock = SideTime(TimeSystem(300), lag)
    for told, spent, meant in games:
        clock.set_left(told, 0)
        if spent is not None:
            clock.spend(spent, meant)
    clock.set_left(20, 0)
    return budget(clock, 20, lag).hard


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
