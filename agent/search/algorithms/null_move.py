"""Null-move pruning: a node is pruned if passing already reaches beta.

Sources: the lecture notes 'Fundamentos de IA 10: Estrategia de juego'; D. Beal, 'A generalised
quiescence search algorithm' (1990).
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any, TypeVar

from agent.game import Game, SupportsNullMove
from agent.search.algorithms.alpha_beta import AlphaBeta, AlphaBetaOptions
from agent.search.search import next_down

Move = TypeVar("Move")


@dataclass(frozen=True, kw_only=True)
class NullMoveOptions(AlphaBetaOptions):
    """Options for null-move pruning.

    After a pass, the depth is reduced by `reduction` plies in addition to the ply of the pass.
    """

    reduction: int = 2


class NullMove(AlphaBeta[Move]):
    """Alpha-beta with null-move pruning, in games that implement `SupportsNullMove`.

    The value may differ from that of minimax, because passing may be best (zugzwang).
    """

    name = "null-move"
    options = NullMoveOptions
    exact = False
    meaning = "estimate"

    def __init__(
        self, evaluate: Callable[[Any], float], options: NullMoveOptions = NullMoveOptions()
    ) -> None:
        super().__init__(evaluate, options)
        self.reduction = options.reduction
        self._just_passed = False

    def _begin(self, game: Game[Move], ply: int = 0) -> None:
        super()._begin(game, ply)
        self._just_passed = False

    def _best(
        self, game: Game[Move], moves: list[Move], depth: int, ply: int, alpha: float, beta: float
    ) -> float:
        opponent_passed, self._just_passed = self._just_passed, False
        if not opponent_passed and depth > self.reduction and beta < inf and self._may_pass(game):
            value = self._after_passing(game, depth, ply, beta)
            if value >= beta:
                self._record_cutoff(game, None, depth, ply)
                return value
        return super()._best(game, moves, depth, ply, alpha, beta)

    def _may_pass(self, game: Game[Move]) -> bool:
        return isinstance(game, SupportsNullMove) and game.allows_null_move()

    def _after_passing(self, game: Game[Move], depth: int, ply: int, beta: float) -> float:
        assert isinstance(game, SupportsNullMove)
        game.play_null_move()
        self._just_passed = True
        value = -self._value(game, depth - 1 - self.reduction, ply + 1, -beta, -next_down(beta))
        self._just_passed = False
        game.undo()
        self._pv_table[ply] = ()
        return value
