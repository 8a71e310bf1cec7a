"""The search that plays at a level: of the lines of a shallow one, it draws the one to play."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

from agent.agent import SearcherWrapper
from agent.chess.engine.levels import SkillLevel
from agent.limits import Cp, Info, Limits, Score

if TYPE_CHECKING:
    import chess

    from agent.chess.engine.board_adapter import ChessSearcher

CANDIDATE_LINES = 4  # moves to choose from
_MAX_OVERSHOOT = 4  # times its nodes, a level is cut short
_MIN_NODES_PER_MOVE = 4  # for each move in each line of the first iteration
_MATE = 2500  # centipawns that a mate counts as, less what keeps a nearer one ahead
_MATE_STEP = 10


class LimitedStrengthSearch(SearcherWrapper["chess.Board", "chess.Move"]):
    """A search that plays at a level: the player's Searcher around another.

    seed: with the position, it determines every choice.
    """

    def __init__(self, searcher: ChessSearcher, level: SkillLevel, seed: int) -> None:
        super().__init__(searcher)
        self._level = level
        self._seed = seed

    def search(
        self, board: chess.Board, limits: Limits[chess.Move], lines: int = 1
    ) -> Iterator[Info[chess.Move]]:
        """Yield the lines of each completed level, first the one that it would play."""
        moves = len(limits.search_moves) or board.legal_moves.count()
        # Enough for a first iteration: without one there would be nothing to choose from.
        most = max(
            self._level.nodes * _MAX_OVERSHOOT, _MIN_NODES_PER_MOVE * CANDIDATE_LINES * moves
        )
        limits = replace(limits, nodes=min(limits.nodes or most, most))
        count = min(max(lines, CANDIDATE_LINES), moves)
        level: list[Info[chess.Move]] = []
        last: Info[chess.Move] | None = None
        chosen = False
        with closing(self.search_wrapped(board, limits, count)) as infos:
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
