"""Alpha-beta with MAX and MIN nodes, as in the lecture notes 'Tema 2: Búsqueda en juegos'."""

from math import inf
from typing import TypeVar

from agent.game import Game
from agent.search.search import Search, recursion

Move = TypeVar("Move")


class FailHardAlphaBeta(Search[Move]):
    """Fail-hard alpha-beta search, where values of inner nodes are never outside the window."""

    name = "alpha-beta-hard"

    def _root(self, game: Game[Move], depth: int) -> float:
        return self._value(game, depth, 0, -inf, inf)

    @recursion
    def _value(self, game: Game[Move], depth: int, ply: int, alpha: float, beta: float) -> float:
        leaf = self._leaf_for_max(game, depth, ply)
        if leaf is not None:
            return leaf
        maximise = self._is_max(game)
        for move in self._moves(game, ply):
            game.play(move)
            value = self._value(game, depth - 1, ply + 1, alpha, beta)
            game.undo()
            if maximise and value > alpha:
                alpha = value
                self._new_best(game, move, value, ply)
            if not maximise and value < beta:
                beta = value
                self._new_best(game, move, -value, ply)
            if alpha >= beta:
                self._record_cutoff(game, move, depth, ply)
                return beta if maximise else alpha
        return alpha if maximise else beta
