"""Lag estimation, and simulated games with lag."""

from random import Random

import chess
import pytest

from agent.chess.engine.board_adapter import BoardAdapter
from agent.clock import allocate_time
from agent.lag import MAX_CLOCK_FRACTION, MAX_LAG, LagEstimator, measure_lag
from agent.limits import Limits, SideClock
from tests.support import board_after

OVERHEAD = 0.010
MINUTE = SideClock(60.0)


def estimator_with(*lags):
    lag = LagEstimator()
    for value in lags:
        lag.update(value)
    return lag


def test_reserve_is_zero_without_lags_or_clock():
    assert LagEstimator().reserve(MINUTE) == 0.0
    assert estimator_with(0.1, 0.1).reserve(None) == 0.0


def test_reserve_grows_when_a_lag_repeats():
    once, twice = estimator_with(0.1).reserve(MINUTE), estimator_with(0.1, 0.1).reserve(MINUTE)
    assert once == pytest.approx(0.1)
    assert twice == pytest.approx(0.3, rel=0.01)


def test_reserve_decays_after_many_small_lags():
    lag = estimator_with(0.1, 0.1)
    at_first = lag.reserve(MINUTE)
    for _ in range(60):
        lag.update(0.001)
    assert lag.reserve(MINUTE) > 0.8 * at_first
    for _ in range(2000):
        lag.update(0.001)
    assert lag.reserve(MINUTE) < OVERHEAD


def test_reserve_is_capped_at_a_share_of_the_games_clock():
    lag = estimator_with(1.0, 1.0)
    second = SideClock(1.0)
    assert lag.reserve(second) == pytest.approx(MAX_CLOCK_FRACTION)
    assert lag.reserve(SideClock(0.1)) == pytest.approx(MAX_CLOCK_FRACTION), (
        "it is the game's clock"
    )
    assert lag.reserve(MINUTE) > 2.9
    lag.new_game()
    assert lag.reserve(second) == pytest.approx(MAX_CLOCK_FRACTION)


@pytest.mark.parametrize(
    ("before", "after", "planned_time", "expected"),
    [
        ((60.123, 0.0), 58.0, 2.0, 0.122),
        ((60.123, 1.0), 58.0, 2.0, 1.122),
        ((60.123, 0.0), 58.124, 2.0, 0.0),
        ((60.12, 0.0), 58.0, 2.0, 0.11),  # the front end counts hundredths
        ((60.0, 0.0), 57.0, 2.0, 0.0),  # seconds
        ((1.0, 0.01), 0.91, 0.02, 0.07),
        ((1.0001, 0.01), 0.91, 0.02, 0.0801),  # an exact clock
        ((60.123, 0.0), 59.0, 2.0, 0.0),  # a clock that compensates lag
        ((60.123, 0.0), 60.126, 2.0, None),  # a time control, or another game
        ((0.5, 0.0), 60.5, 0.3, None),
        ((60.123, 0.0), 50.0, 2.0, None),  # the clock was set
    ],
)
def test_lag_is_computed_from_consecutive_clocks(before, after, planned_time, expected):
    found = measure_lag(SideClock(*before), SideClock(after, before[1]), planned_time)
    assert found == (expected if expected is None else pytest.approx(expected))


CASTLING = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
CASTLED = board_after("e1g1", CASTLING).fen()


@pytest.mark.parametrize(
    ("later", "move", "earlier", "expected"),
    [
        (board_after("e2e4 e7e5 g1f3 b8c6"), "g1f3", board_after("e2e4 e7e5"), True),
        (board_after("e2e4 e7e5"), "e2e4", board_after(""), True),
        (chess.Board(board_after("e2e4 e7e5").fen()), "e2e4", chess.Board(), True),
        (chess.Board(board_after("e2e4 e7e5").fen()), "e2e4", board_after(""), True),
        (board_after("h8f8", CASTLED), "e1g1", chess.Board(CASTLING), True),
        (board_after("e2e4 e7e5"), "d2d4", board_after(""), False),  # another move was played
        (board_after(""), "e2e4", board_after(""), False),  # the same again
        (board_after(""), "g1f3", board_after("e2e4 e7e5"), False),  # taken back
        (board_after("e2e4"), "e2e4", board_after(""), False),  # the other side
        (board_after("e2e4 e7e5 g1f3 b8c6"), "e2e4", board_after(""), False),  # jumped to
    ],
)  # fmt: skip
def test_follows_detects_own_move_plus_one_reply(later, move, earlier, expected):
    before = earlier.copy()
    assert BoardAdapter().follows(later, chess.Move.from_uci(move), earlier) is expected
    assert earlier == before


def play(draw, rng, lag, learning=True, moves=80, time=1.0, increment=0.01):
    """Simulate a game in which each move has the lag `draw(rng)`.

    Return the budgets, fewer than `moves` if the flag fell.
    """
    budgets = []
    remaining, previous, planned_time = time + increment, None, 0.0
    lag.new_game()
    for _ in range(moves):
        now = SideClock(round(remaining, 3), increment)
        if learning and previous is not None:
            late = measure_lag(previous, now, planned_time)
            assert late is not None
            lag.update(late)
        budget = allocate_time(Limits(clock=now), OVERHEAD, lag.reserve(now))
        planned_time = min(rng.uniform(0.6, 2.0) * budget.soft, budget.hard)
        remaining -= planned_time + draw(rng)
        if remaining < 0:
            break
        remaining, previous = remaining + increment, now
        budgets.append(budget)
    return budgets


def flags(draw, learning, games=200, **game):
    """Return the number of games lost on time in a series with one estimator."""
    rng, lag = Random(1), LagEstimator()
    return sum(len(play(draw, rng, lag, learning, moves=80, **game)) < 80 for _ in range(games))


def quiet(rng):
    return rng.uniform(0.0005, 0.0015)


def often(rng):
    return rng.uniform(0.010, 0.080) if rng.random() < 0.05 else rng.uniform(0.001, 0.004)


def seldom(rng):
    return rng.uniform(0.040, 0.080) if rng.random() < 0.02 else 0.001


def heavy(rng):
    return min(0.0015 * rng.paretovariate(1.4), 0.1)


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize(
    ("draw", "min_without", "max_with"), [(often, 90, 1), (seldom, 40, 1), (heavy, 40, 5)]
)
def test_learned_lag_prevents_time_losses_under_load(draw, min_without, max_with):
    """Losses on time in 200 games at 1+0.01, from an empty estimator."""
    assert flags(draw, learning=False) > min_without
    assert flags(draw, learning=True) <= max_with


def test_learning_changes_no_budget_on_a_quiet_machine():
    learned = play(quiet, Random(1), LagEstimator(), learning=True, moves=200)
    assert len(learned) == 200
    assert learned == play(quiet, Random(1), LagEstimator(), learning=False, moves=200)


def test_learned_lag_prevents_time_losses_over_a_slow_network():
    def network(rng):
        return rng.uniform(0.2, 0.8) if rng.random() < 0.03 else rng.uniform(0.03, 0.06)

    game = {"games": 50, "time": 10.0, "increment": 0.1}
    assert flags(network, learning=False, **game) > 20
    assert flags(network, learning=True, **game) <= 2


def test_ignores_delays_beyond_the_longest_lag():
    assert measure_lag(MINUTE, SideClock(60.0 - MAX_LAG - 1.1), 0.0) is None
