"""Minimax: the value of a position is the best that its mover can force.

Source: J. von Neumann (1928); the listings of 'Tema 2: Búsqueda en juegos'.
"""

from math import inf
from typing import TypeVar

from agent.game import Game
from agent.search.algorithms.win_loss import LOSS, WIN, WinLossSearch
from agent.search.search import Search

Move = TypeVar("Move")


class Minimax(Search[Move]):
    """Visit every node of the tree; at MAX take the greatest child, at MIN the least."""

    name = "minimax"

    def _root(self, game: Game[Move], depth: int) -> float:
        return self._value(game, depth, 0)

    def _value(self, game: Game[Move], depth: int, ply: int) -> float:
        """Return the position's value for MAX."""
        leaf = self._leaf_for_max(game, depth, ply)
        if leaf is not None:
            return leaf
        maximise = self._is_max(game)
        best = -inf if maximise else inf
        for move in self._moves(game, ply):
            game.play(move)
            value = self._value(game, depth - 1, ply + 1)
            game.undo()
            if value > best if maximise else value < best:
                best = value
                self._update_pv(ply, move)
        return best


class WinLossMinimax(WinLossSearch[Move]):
    """Minimax where a leaf is won or lost: the first child that wins for its mover is enough.

    The variation of a lost node follows its first move.
    """

    name = "minimax-two-valued"

    def _can_force(self, game: Game[Move], depth: int) -> bool:
        return self._value(game, depth, 0) == WIN

    def _value(self, game: Game[Move], depth: int, ply: int) -> float:
        """Return WIN or LOSS for MAX."""
        leaf = self._leaf_for_max(game, depth, ply)
        if leaf is not None:
            return WIN if self._reaches_bound(leaf) else LOSS
        aim = WIN if self._is_max(game) else LOSS
        for move in self._moves(game, ply):
            game.play(move)
            value = self._value(game, depth - 1, ply + 1)
            game.undo()
            if not self._pv_table[ply]:
                self._update_pv(ply, move)
            if value == aim:
                self._update_pv(ply, move)
                self._record_cutoff(game, move, depth, ply)
                return aim
        return -aim
