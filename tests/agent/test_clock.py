from math import inf

import pytest

from agent.clock import MIN_TIME, SearchClock, allocate_time
from agent.limits import Cp, Limits, Overtime, SideClock

OVERHEAD = 0.010


class Watch:
    """A fake clock with a settable time."""

    def __init__(self):
        self.time = 100.0

    def __call__(self):
        return self.time


def sudden_death(seconds, increment=0.0):
    return Limits(clock=SideClock(seconds, increment))


@pytest.mark.parametrize(
    "limits", [Limits(), Limits(depth=8), Limits(nodes=9), Limits(mate=2), Limits(infinite=True)]
)
def test_no_time_limit_without_a_clock(limits):
    assert allocate_time(limits, OVERHEAD).hard == inf


def test_infinite_overrides_the_clock():
    limits = Limits(clock=SideClock(1.0), movetime=1.0, infinite=True)
    assert allocate_time(limits, OVERHEAD).hard == inf


def test_movetime_caps_the_hard_limit_on_a_clock():
    clock = SideClock(300.0, 5.0)
    alone = allocate_time(Limits(clock=clock), OVERHEAD)
    assert allocate_time(Limits(clock=clock, movetime=1000.0), OVERHEAD) == alone
    limited = allocate_time(Limits(clock=clock, movetime=alone.hard / 2), OVERHEAD)
    assert limited.hard == pytest.approx(alone.hard / 2 - OVERHEAD)
    assert limited.soft == alone.soft


def test_movetime_is_used_minus_the_overhead():
    budget = allocate_time(Limits(movetime=0.5), OVERHEAD)
    assert budget.hard == pytest.approx(0.49)
    assert budget.soft == inf


@pytest.mark.parametrize("main_time", [0.0, 0.2])
def test_lag_reserve_is_subtracted_from_an_overtime_period(main_time):
    limits = Limits(clock=SideClock(main_time, overtime=Overtime(10.0, 2)))
    assert allocate_time(limits, OVERHEAD).hard == pytest.approx(5 - OVERHEAD)
    assert allocate_time(limits, OVERHEAD, reserve=0.3).hard == pytest.approx(4.7)
    assert allocate_time(limits, OVERHEAD, reserve=60.0).hard == pytest.approx(2.5)


@pytest.mark.parametrize("seconds", [0.0, 0.001, 0.005, 0.010, 0.011])
def test_nearly_empty_clock_gets_the_minimum_time(seconds):
    for limits in (sudden_death(seconds), Limits(movetime=seconds)):
        budget = allocate_time(limits, OVERHEAD)
        assert budget.hard == pytest.approx(MIN_TIME, abs=1e-6)
        assert budget.soft <= budget.hard or budget.soft == inf


@pytest.mark.parametrize("seconds", [0.02, 0.1, 1.0, 60.0, 5400.0])
@pytest.mark.parametrize("increment", [0.0, 0.01, 1.0, 30.0])
@pytest.mark.parametrize("moves_to_go", [None, 1, 2, 3, 10, 40])
def test_hard_limit_leaves_the_overhead_unused(seconds, increment, moves_to_go):
    limits = Limits(clock=SideClock(seconds, increment), moves_to_go=moves_to_go)
    budget = allocate_time(limits, OVERHEAD)
    assert 0 < budget.soft <= budget.hard <= max(seconds - OVERHEAD, MIN_TIME)


@pytest.mark.parametrize("seconds", [0.1, 1.0, 60.0])
def test_clock_never_runs_out_in_sudden_death(seconds):
    """Even if each move uses its hard limit, the flag never falls."""
    remaining = seconds
    for _ in range(300):
        budget = allocate_time(sudden_death(remaining), 0.0)
        if budget.hard <= MIN_TIME:
            break
        remaining -= budget.hard
        assert remaining > 0


@pytest.mark.parametrize("seconds", [0.1, 0.2, 1.0, 60.0])
def test_last_move_before_time_control_leaves_a_reserve(seconds):
    limits = Limits(clock=SideClock(seconds), moves_to_go=1)
    left = seconds - allocate_time(limits, OVERHEAD).hard
    # An answer takes up to 6 ms, after which this must be left.
    assert left - 0.006 >= max(OVERHEAD, 0.02 * seconds)
    assert left <= 2 * OVERHEAD + 0.02 * seconds  # The rest may be used.


def test_restarted_clock_has_its_full_time():
    watch = Watch()
    clock = SearchClock(Limits(movetime=1.0), now=watch)
    watch.time += 5.0
    clock.restart()
    assert (clock.elapsed(), clock.remaining()) == (0.0, 1.0)
    pondering = SearchClock(Limits(movetime=1.0, ponder=True), now=watch)
    watch.time += 5.0
    pondering.restart()
    assert (pondering.elapsed(), pondering.running) == (0.0, False)


def test_fewer_moves_to_go_give_more_time_per_move():
    soft = [
        allocate_time(Limits(clock=SideClock(60.0), moves_to_go=moves), OVERHEAD).soft
        for moves in (1, 5, 20, 40)
    ]
    assert soft == sorted(soft, reverse=True)
    assert len(set(soft)) == 4


def test_increment_raises_the_soft_limit():
    without, with_increment = (
        allocate_time(sudden_death(60.0), 0.0),
        allocate_time(sudden_death(60.0, 2.0), 0.0),
    )
    assert with_increment.soft > without.soft + 0.5


def test_stable_best_move_ends_the_search_earlier():
    def iterations(best_moves):
        watch = Watch()
        clock = SearchClock(sudden_death(60.0), OVERHEAD, now=watch)
        for done, move in enumerate(best_moves, 1):
            watch.time += 0.05
            if not clock.should_continue(move):
                return done
        raise AssertionError("the clock never ended the search")

    assert iterations(["e2e4"] * 100) < iterations(["e2e4", "d2d4"] * 50)


def test_no_iteration_starts_after_the_hard_limit():
    watch = Watch()
    clock = SearchClock(sudden_death(60.0), OVERHEAD, now=watch)
    watch.time += clock.budget.hard
    assert clock.remaining() == pytest.approx(0.0)
    assert not clock.should_continue("e2e4")


def test_pondering_uses_no_time_before_ponderhit():
    watch = Watch()
    clock = SearchClock(Limits(clock=SideClock(1.0), ponder=True), OVERHEAD, now=watch)
    watch.time += 0.5 * clock.budget.soft
    assert clock.limited
    assert clock.remaining() == inf
    assert clock.should_continue("e2e4")
    clock.start()
    assert clock.remaining() == pytest.approx(clock.budget.hard)
    assert clock.should_continue("e2e4")
    watch.time += clock.budget.hard
    clock.start()
    assert clock.remaining() == pytest.approx(0.0)
    assert clock.elapsed() == pytest.approx(0.5 * clock.budget.soft + clock.budget.hard)


def test_ponderhit_after_long_pondering_leaves_no_time():
    watch = Watch()
    clock = SearchClock(Limits(clock=SideClock(1.0), ponder=True), OVERHEAD, now=watch)
    watch.time += 1000.0
    assert clock.should_continue("e2e4")
    assert clock.remaining() == inf
    clock.start()
    assert clock.remaining() <= 0.0


def test_ponderhit_with_a_forced_move_leaves_no_time():
    clock = SearchClock(Limits(clock=SideClock(9.0), ponder=True), only_move=True, now=Watch())
    clock.should_continue("e2e4")
    clock.start()
    assert clock.remaining() <= 0.0


def test_forced_move_stops_a_clock_search_after_one_iteration():
    watch = Watch()
    assert not SearchClock(sudden_death(60.0), only_move=True, now=watch).should_continue("e2e4")
    assert SearchClock(Limits(movetime=60.0), only_move=True, now=watch).should_continue("e2e4")
    assert SearchClock(Limits(depth=9), only_move=True, now=watch).should_continue("e2e4")


@pytest.mark.parametrize("limits", [sudden_death(60.0), Limits(movetime=4.0)])
def test_search_stops_early_when_second_move_cannot_catch_up(limits):
    def seconds(visit_lead):
        watch = Watch()
        clock = SearchClock(limits, now=watch)
        for hundredths in range(1, 1000):
            watch.time = 100.0 + hundredths / 100
            if not clock.should_continue("D4", visit_lead=visit_lead):
                return hundredths / 100
        raise AssertionError("the clock never ended the search")

    # With a lead of half of all nodes, the second move needs half of the time so far to catch up.
    assert seconds(0.5) == pytest.approx(seconds(0.0) / 1.5, abs=0.02)


def test_always_using_the_hard_limit_keeps_a_time_reserve():
    remaining, increment = 10.0, 0.1
    for _ in range(500):
        remaining += increment - allocate_time(sudden_death(remaining, increment), OVERHEAD).hard
    assert remaining > 4 * increment


def soft_limit(agreements, scores=(), effort=None):
    """Return the time in seconds after which no iteration begins, found by trial."""
    watch = Watch()
    for hundredths in range(1, 10_000):
        watch.time = 100.0
        clock = SearchClock(sudden_death(60.0), 0.0, now=watch)
        for number in range(agreements):
            clock.should_continue("e2e4", Cp(scores[number]) if scores else None, effort)
        watch.time = 100.0 + hundredths / 100
        score = Cp(scores[agreements]) if scores else None
        if not clock.should_continue("e2e4", score, effort):
            return hundredths / 100
    raise AssertionError("the search never ends")


def test_soft_limit_falls_with_the_best_moves_node_share():
    assert soft_limit(3, effort=0.95) < soft_limit(3, effort=0.6) < soft_limit(3, effort=0.2)


def test_a_falling_score_gets_more_time():
    steady, fallen, crashed = (soft_limit(2, (20, 20, last)) for last in (20, -10, -900))
    assert steady < fallen < crashed
    assert crashed < 2 * steady


def test_a_rising_score_does_not_change_the_time():
    assert soft_limit(2, (20, 20, 90)) == soft_limit(2, (20, 20, 20))
