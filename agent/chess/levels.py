"""Weaker play, for people and for other programs: a shallow look, and a choice among good moves.

A level searches few nodes, so that it overlooks what lies deep, and then plays one of the best
moves it knows, the likelier the better it looks, but none that it sees to be worse than the best
by more than a margin. Both shrink from level to level: a strong level errs finely and never drops
a piece for no reason. Nodes, not time, limit it, so it plays alike on any machine and clock that
leave it the moment it needs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from agent.limits import Cp, Info, Limits, Score
from agent.player import SearcherAround

if TYPE_CHECKING:
    import chess

    from agent.chess.reader import ChessSearcher

FULL = 20.0  # the skill that plays as well as it can

LINES = 4  # moves to choose from
_FEWEST_NODES = 40
_DOUBLING = 0.7  # doublings of the nodes from one skill to the next
_MOST_OVERSHOOT = 4  # times its nodes, a level is cut short
_LEAST_NODES = 4  # for each move in each line of the first iteration
_TEMPERATURE = 110.0  # centipawns at skill 0
_MARGIN = 2.0  # temperatures that a move may be worse than the best
_MATE = 2500  # centipawns that a mate counts as, less what keeps a nearer one ahead
_MATE_STEP = 10

# Skill and Elo on the scale of Stockfish's UCI_Elo, as `benchmarks/levels.py` measures them; the
# last, play without a limit, depends on the time it is given.
CALIBRATION = (
    (0.0, 1240),
    (4.0, 1720),
    (8.0, 1865),
    (12.0, 2090),
    (FULL, 2750),
)
LEAST_ELO, MOST_ELO = 1350, CALIBRATION[-1][1]


def skill_of(elo: int) -> float:
    """Return the skill that plays at an Elo, between those that were measured."""
    for (low, low_elo), (high, high_elo) in pairwise(CALIBRATION):
        if elo <= high_elo:
            share = (elo - low_elo) / (high_elo - low_elo)
            return low + (high - low) * max(share, 0.0)
    return FULL


@dataclass(frozen=True, slots=True)
class Level:
    """How well to play; skill: from 0 to less than FULL."""

    skill: float

    @property
    def nodes(self) -> int:
        """The nodes after which it looks no deeper."""
        return round(_FEWEST_NODES * 2 ** (_DOUBLING * self.skill))

    @property
    def temperature(self) -> float:
        """How many centipawns make a move e times less likely."""
        return _TEMPERATURE * (1 - self.skill / FULL) ** 2

    @property
    def margin(self) -> float:
        """How many centipawns worse than the best a move may look."""
        return _MARGIN * self.temperature


class WeakSearch(SearcherAround["chess.Board", "chess.Move"]):
    """A search that plays at a level: the player's Searcher around another.

    seed: with the position, it determines every choice.
    """

    def __init__(self, searcher: ChessSearcher, level: Level, seed: int) -> None:
        super().__init__(searcher)
        self._level = level
        self._seed = seed

    def deepen(
        self, board: chess.Board, limits: Limits[chess.Move], lines: int = 1
    ) -> Iterator[Info[chess.Move]]:
        """Yield the lines of each completed level, first the one that it would play."""
        moves = len(limits.search_moves) or board.legal_moves.count()
        # Enough for a first iteration: without one there would be nothing to choose from.
        most = max(self._level.nodes * _MOST_OVERSHOOT, _LEAST_NODES * LINES * moves)
        limits = replace(limits, nodes=min(limits.nodes or most, most))
        count = min(max(lines, LINES), moves)
        level: list[Info[chess.Move]] = []
        last: Info[chess.Move] | None = None
        chosen = False
        with closing(self.inner(board, limits, count)) as infos:
            for info in infos:
                if info.multipv == 1:
                    last = info
                if not info.complete or info.bound:
                    continue
                level.append(info)
                if info.multipv < count:
                    continue
                if len(level) == count:
                    chosen = True
                    yield from self._ordered(board, level)[:lines]
                if info.nodes >= self._level.nodes:
                    break
                level = []
        if not chosen and last is not None:
            yield level[0] if level else replace(last, multipv=1)

    def _ordered(self, board: chess.Board, level: list[Info[chess.Move]]) -> list[Info[chess.Move]]:
        """Put the line to play before the others.

        The greatest sum of score / temperature and Gumbel noise is a draw with probabilities
        proportional to exp(score / temperature); the noise of a move in a position stays the same
        from one iteration to the next.
        """
        from random import Random  # not at start-up, which it would lengthen

        position = board.fen()
        best = max(_value(info.score) for info in level)

        def merit(info: Info[chess.Move]) -> float:
            behind = best - _value(info.score)
            if behind > self._level.margin:
                return -math.inf
            draw = Random(f"{self._seed} {position} {info.pv[0].uci()}").random()
            noise = -math.log(-math.log(max(draw, 1e-12)))
            return noise - behind / self._level.temperature

        first = max(level, key=merit)
        others = [info for info in level if info is not first]
        return [replace(info, multipv=n) for n, info in enumerate([first, *others], 1)]


def _value(score: Score) -> int:
    """Return a score in centipawns, mates ahead of everything."""
    if isinstance(score, Cp):
        return min(max(score.value, -_MATE // 2), _MATE // 2)
    value = _MATE - _MATE_STEP * min(abs(score.moves), 50)
    return value if score.moves > 0 else -value
