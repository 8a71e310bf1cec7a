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
_MAX_OVERSHOOT = 4  # the hard node limit, in multiples of the level's nodes
_MIN_NODES_PER_MOVE = 4  # per move and line, for the first iteration
_MATE = 2500  # value of a mate in centipawns
_MATE_STEP = 10  # centipawns subtracted for each move to mate


class LimitedStrengthSearch(SearcherWrapper["chess.Board", "chess.Move"]):
    """Runs a short search and picks a random move from its best lines.

    `seed` and the position determine the random numbers.
    """

    def __init__(self, searcher: ChessSearcher, level: SkillLevel, seed: int) -> None:
        super().__init__(searcher)
        self._level = level
        self._seed = seed

    def search(
        self, board: chess.Board, limits: Limits[chess.Move], lines: int = 1
    ) -> Iterator[Info[chess.Move]]:
        """Yield the lines of each completed iteration, with the randomly chosen line first."""
        n_moves = len(limits.search_moves) or board.legal_moves.count()
        # The choice needs at least one complete iteration.
        max_nodes = max(
            self._level.nodes * _MAX_OVERSHOOT, _MIN_NODES_PER_MOVE * CANDIDATE_LINES * n_moves
        )
        limits = replace(limits, nodes=min(limits.nodes or max_nodes, max_nodes))
        count = min(max(lines, CANDIDATE_LINES), n_moves)
        iteration: list[Info[chess.Move]] = []
        last: Info[chess.Move] | None = None
        chosen = False
        with closing(self.search_wrapped(board, limits, count)) as infos:
            for info in infos:
                if info.multipv == 1:
                    last = info
                if not info.complete or info.bound:
                    continue
                iteration.append(info)
                if info.multipv < count:
                    continue
                if len(iteration) == count:
                    chosen = True
                    yield from self._ordered(board, iteration)[:lines]
                if info.nodes >= self._level.nodes:
                    break
                iteration = []
        if not chosen and last is not None:
            yield iteration[0] if iteration else replace(last, multipv=1)

    def _ordered(
        self, board: chess.Board, iteration: list[Info[chess.Move]]
    ) -> list[Info[chess.Move]]:
        """Return the lines with a randomly chosen line first.

        The probability of a line is proportional to `exp(score / temperature)` (Gumbel-max trick).
        Each move gets the same random number in every iteration.
        """
        from random import Random  # lazy import: slow to load

        position = board.fen()
        best = max(_value(info.score) for info in iteration)

        def noisy_score(info: Info[chess.Move]) -> float:
            deficit = best - _value(info.score)
            if deficit > self._level.margin:
                return -math.inf
            draw = Random(f"{self._seed} {position} {info.pv[0].uci()}").random()
            noise = -math.log(-math.log(max(draw, 1e-12)))
            return noise - deficit / self._level.temperature

        first = max(iteration, key=noisy_score)
        other_lines = [info for info in iteration if info is not first]
        return [replace(info, multipv=n) for n, info in enumerate([first, *other_lines], 1)]


def _value(score: Score) -> int:
    """Convert a score to centipawns. A mate outweighs every other score."""
    if isinstance(score, Cp):
        return min(max(score.value, -_MATE // 2), _MATE // 2)
    value = _MATE - _MATE_STEP * min(abs(score.moves), 50)
    return value if score.moves > 0 else -value
