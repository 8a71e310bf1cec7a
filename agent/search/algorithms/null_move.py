"""The null move: where even passing is good enough, some move surely is.

Source: 'Fundamentos de IA 10: Estrategia de juego'; D. Beal, 'A generalised quiescence search
algorithm' (1990).
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
    """reduction: by how many plies more than a move the search after passing is shallower."""

    reduction: int = 2


class NullMove(AlphaBeta[Move]):
    """Alpha-beta that first lets the mover pass, and cuts off if that already reaches beta.

    It is wrong where every move does harm (zugzwang), so the value need not be minimax's. A game
    that is not `Passing` is searched as by alpha-beta.
    """

    name = "null-move"
    options = NullMoveOptions
    exact = False

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
        """Try to pass, never twice running; then search the moves."""
        passed, self._just_passed = self._just_passed, False
        if not passed and depth > self.reduction and beta < inf and self._may_pass(game):
            value = self._after_passing(game, depth, ply, beta)
            if value >= beta:
                self._record_cutoff(game, None, depth, ply)
                return value
        return super()._best(game, moves, depth, ply, alpha, beta)

    def _may_pass(self, game: Game[Move]) -> bool:
        return isinstance(game, SupportsNullMove) and game.allows_null_move()

    def _after_passing(self, game: Game[Move], depth: int, ply: int, beta: float) -> float:
        """Return a bound of the position's value if its mover passes."""
        assert isinstance(game, SupportsNullMove)
        game.play_null_move()
        self._just_passed = True
        value = -self._value(game, depth - 1 - self.reduction, ply + 1, -beta, -next_down(beta))
        self._just_passed = False
        game.undo()
        self._pv_table[ply] = ()
        return value
