"""Minimax, which finds the best outcome that the player to move can force.

Sources: J. von Neumann (1928); the lecture notes 'Tema 2: Búsqueda en juegos'.
"""

from math import inf
from typing import TypeVar

from agent.game import Game
from agent.search.algorithms.win_loss import LOSS, WIN, WinLossSearch
from agent.search.search import Search, recursion

Move = TypeVar("Move")


class Minimax(Search[Move]):
    """Minimax search, which visits every node of the tree."""

    name = "minimax"

    def _root(self, game: Game[Move], depth: int) -> float:
        return self._value(game, depth, 0)

    @recursion
    def _value(self, game: Game[Move], depth: int, ply: int) -> float:
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
    """Minimax for trees with won and lost leaves only, which stops at the first winning move.

    At a lost node, the principal variation continues with the first move.
    """

    name = "minimax-two-valued"

    def _can_force(self, game: Game[Move], depth: int) -> bool:
        return self._value(game, depth, 0) == WIN

    @recursion
    def _value(self, game: Game[Move], depth: int, ply: int) -> float:
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
