import pytest

from agent.clock import MIN_TIME, TimeBudget, allocate_time
from agent.game_clock import TimeSystem
from agent.lag import LagEstimator
from agent.limits import Limits, Overtime, SideClock
from protocols.gtp.clock import UNLIMITED, GtpClock, from_time_settings, read_time_system
from protocols.gtp.messages import Arguments

OVERHEAD = 0.05


def budget(time, moves_left=40, lag=None):
    """Return the time budget of a move for a clock."""
    clock = time.side_clock()
    reserve = 0.0 if lag is None else lag.reserve(clock)
    return allocate_time(Limits(clock=clock, moves_to_go=moves_left), OVERHEAD, reserve)


def test_byo_yomi_move_uses_the_whole_period():
    byo_yomi = GtpClock(TimeSystem(0, 10, periods=3))
    assert budget(byo_yomi) == TimeBudget(9.95, 9.95)


def test_zero_overtime_stones_or_seconds_mean_no_overtime():
    assert from_time_settings(0, 1, 0) == UNLIMITED
    assert from_time_settings(60, 0, 5) == TimeSystem(60)


def test_absolute_time_lasts_for_200_moves():
    clock = GtpClock(TimeSystem(300))
    for _ in range(200):
        clock.spend(budget(clock, 40).soft)
    assert clock.remaining > 0


@pytest.mark.parametrize("moves_left", [None, 8, 40, 150])
def test_more_remaining_moves_reduce_time_per_move(moves_left):
    clock = GtpClock(TimeSystem(300))
    assert MIN_TIME < budget(clock, moves_left).soft <= 300 * 0.2
    assert budget(clock, 200).soft < budget(clock, 20).soft


def test_increment_raises_the_time_per_move():
    with_increment, without = GtpClock(TimeSystem(10, increment=5)), GtpClock(TimeSystem(10))
    assert budget(with_increment).soft > budget(without).soft


def test_canadian_overtime_is_divided_among_stones():
    clock = GtpClock(TimeSystem(0, 30, stones=10))
    assert 2.5 < budget(clock, 40).soft < 3
    for _ in range(9):
        clock.spend(2)
    assert 11 < budget(clock, 40).soft < 12
    clock.spend(2)
    assert 2.5 < budget(clock, 40).soft < 3


def test_byo_yomi_gives_each_move_a_period():
    clock = GtpClock(TimeSystem(1, 10, periods=3))
    assert 9 < budget(clock, 40).soft < 10
    clock.spend(25)
    assert clock.move_limit == 10
    assert 9 < budget(clock, 40).soft < 10


def test_time_left_overrides_the_estimated_clock():
    clock = GtpClock(TimeSystem(300, 30, stones=10))
    clock.set_remaining(6, 2)
    assert 2.5 < budget(clock, 40).soft < 3
    clock.set_remaining(100, 0)
    assert budget(clock, 10).soft > 5


def test_lag_is_not_learned_from_a_capped_clock():
    clock = GtpClock(TimeSystem(60, increment=10, max_main_time=60), lag := LagEstimator())
    clock.set_remaining(59.75, 0)
    clock.spend(2.0, 2.0)
    clock.set_remaining(60.0, 0)
    assert lag.reserve(SideClock(60.0)) == 0.0
    clock.spend(10.0, 10.0)
    clock.set_remaining(58.75, 0)
    assert lag.reserve(SideClock(60.0)) > 0.5


def test_first_time_left_starts_a_clock():
    clock = GtpClock(UNLIMITED)
    clock.set_remaining(0, 0)
    assert clock.system is UNLIMITED
    clock.set_remaining(60, 0)
    assert clock.side_clock() == SideClock(60)
    assert budget(clock).hard < 12
    clock.set_remaining(30, 10)
    assert 2.5 < budget(clock).soft < 3
    for _ in range(10):
        clock.spend(2)
    assert clock.side_clock() == SideClock(0.0, overtime=Overtime(30, 10))


def test_time_left_with_unknown_overtime_is_accepted():
    clock = GtpClock(TimeSystem(300))
    clock.set_remaining(30, 10)
    assert 2.5 < budget(clock).soft < 3
    clock.set_remaining(100, 0)
    assert clock.side_clock() == SideClock(100, overtime=Overtime(30, 10))


@pytest.mark.parametrize(
    ("words", "system"),
    [
        ("none", UNLIMITED),
        ("absolute 300.5", TimeSystem(300.5)),
        ("byoyomi 1 2.5 3", TimeSystem(1, 2.5, periods=3)),
        ("byoyomi 1 0 3", TimeSystem(1)),
        ("canadian 1 2 3", TimeSystem(1, 2, stones=3)),
        ("canadian 1 2 0", TimeSystem(1)),
        ("fischer 1 2", TimeSystem(1, increment=2)),
        ("fischer-capped 1 2 3 4", TimeSystem(1, increment=2, max_main_time=3, max_move_time=4)),
        ("Fischer-Capped 1 2 -1 -1", TimeSystem(1, increment=2)),
    ],
)
def test_time_systems_are_parsed_by_name(words, system):
    assert read_time_system(Arguments(tuple(words.split()))) == system


def seconds_for_move(*games):
    """Return the thinking time with 20 seconds left, after moves with these reported times."""
    lag = LagEstimator()
    clock = GtpClock(TimeSystem(300), lag)
    for reported, spent, planned_time in games:
        clock.set_remaining(reported, 0)
        if spent is not None:
            clock.spend(spent, planned_time)
    clock.set_remaining(20, 0)
    return budget(clock, 20, lag).hard


PUNCTUAL = (100.25, 2.0, 2.0), (98.25, 2.0, 2.0), (96.25, None, None)


@pytest.mark.parametrize(
    ("games", "learned"),
    [
        ([(100.25, 2.0, 2.0), (97.75, 2.0, 2.0), (95.25, None, None)], True),
        (
            [(100.25, 2.5, 2.0), (97.75, 2.5, 2.0), (95.25, None, None)],
            True,
        ),  # the search was late itself
        ([(100.0, 2.0, 2.0), (97.0, 2.0, 2.0), (94.0, None, None)], False),  # integer seconds
        ([(100.25, None, None), (97.75, None, None), (95.25, None, None)], False),  # no move
        ([(100.25, 2.0, 2.0), (200.25, 2.0, 2.0), (300.25, None, None)], False),  # clock was set
    ],
)
def test_front_end_lag_is_learned(games, learned):
    expected = seconds_for_move(*PUNCTUAL)
    found = seconds_for_move(*games)
    assert found < expected - 0.05 if learned else found == pytest.approx(expected, abs=0.001)


def test_lag_is_not_learned_from_two_moves_per_report():
    clock = GtpClock(TimeSystem(300), lag := LagEstimator())
    clock.set_remaining(100.25, 0)
    clock.spend(2.0, 2.0)
    clock.spend(2.0, 2.0)
    clock.set_remaining(95.75, 0)
    assert lag.reserve(SideClock(60.0)) == 0.0
