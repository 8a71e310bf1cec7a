"""Levels in games other than chess: a few playouts, and a random choice among the best lines."""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, cast

import pytest

from agent.agent import Searcher
from agent.games.go import Go
from agent.games.stones import PASS
from agent.games.tic_tac_toe import TicTacToe
from agent.limits import Cp, Info, Limits
from agent.search.defaults import make_search
from agent.search.limited_strength import GAME_LEVELS, GameLevel, LimitedGameSearch
from agent.search.searcher import GameSearcher


class Lines:
    """A searcher that reports moves with fixed outcomes, best first."""

    def __init__(self, *lines: tuple[int, float]) -> None:
        self.lines = lines
        self.asked: list[tuple[Limits[int], int]] = []

    def search(self, game: Any, limits: Limits[int], lines: int = 1) -> Iterator[Info[int]]:
        self.asked.append((limits, lines))
        for depth in range(1, 20):
            for rank, (move, outcome) in enumerate(self.lines[:lines], 1):
                yield Info(
                    depth, Cp(0), (move,), multipv=rank, nodes=100 * depth, expected_outcome=outcome
                )


def choices(level: GameLevel, *lines: tuple[int, float], game: Any = None) -> Counter[int]:
    """Return how often each move is chosen, in 200 games."""
    counts: Counter[int] = Counter()
    for seed in range(200):
        limited = LimitedGameSearch(cast(Searcher[Any, Any], Lines(*lines)), level, seed)
        *_, last = limited.search(game or TicTacToe(), Limits())
        counts[last.pv[0]] += 1
    return counts


def test_higher_levels_search_more_and_choose_among_fewer_moves() -> None:
    for weak, strong in pairwise(GAME_LEVELS):
        assert strong.nodes >= weak.nodes
        assert strong.temperature < weak.temperature
        assert strong.margin < weak.margin
        assert strong.candidates <= weak.candidates


def test_weakest_level_errs_and_strongest_does_not() -> None:
    lines = (0, 0.9), (1, 0.5), (2, 0.0), (3, -0.9)
    weak, strong = choices(GAME_LEVELS[0], *lines), choices(GAME_LEVELS[-1], *lines)
    assert weak[3] > 0
    assert weak[0] < 150
    assert strong == {0: 200}


def test_search_stops_at_the_nodes_of_the_level() -> None:
    lines = Lines((0, 0.0), (1, 0.0), (2, 0.0), (3, 0.0))
    limited = LimitedGameSearch(cast(Searcher[Any, Any], lines), GameLevel(300, 10, 20), 1)
    *_, last = limited.search(TicTacToe(), Limits())
    assert last.nodes == 300
    ((limits, count),) = lines.asked
    assert (limits.nodes, count) == (1200, 4)


def test_fewer_lines_than_expected_are_chosen_from() -> None:
    counts = choices(GameLevel(300, 400, 800, 8), (0, 0.5), (1, 0.5))
    assert counts.keys() == {0, 1}
    assert min(counts.values()) > 50


def test_pass_is_never_chosen_at_random() -> None:
    level = GAME_LEVELS[0]
    assert choices(level, (PASS, 0.9), (3, 0.9), (4, 0.9), game=Go(5)) == {PASS: 200}
    assert PASS not in choices(level, (3, 0.9), (PASS, 0.9), (4, 0.9), game=Go(5))
    assert choices(level, (PASS, 0.0), game=Go(5)) == {PASS: 200}


@pytest.mark.parametrize("level", GAME_LEVELS)
def test_level_plays_legal_moves_to_the_end(level: GameLevel) -> None:
    game = TicTacToe()
    searcher = GameSearcher[int](make_search("mcts", game, lambda game: 0.0, seed=1))
    limited = LimitedGameSearch(searcher, level, 7)
    while game.outcome() is None:
        *_, last = limited.search(game, Limits())
        assert last.pv[0] in game.moves()
        game.play(last.pv[0])
