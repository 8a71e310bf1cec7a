"""Negamax, which is minimax with values from the point of view of the player to move.

Source: the lecture notes 'Técnicas de IA, Tema 3.2: Búsqueda adversaria en juegos'.
"""

from math import inf
from typing import TypeVar

from agent.game import Game
from agent.search.search import Search, recursion

Move = TypeVar("Move")


class Negamax(Search[Move]):
    """Negamax search, which visits every node of the tree."""

    name = "negamax"
    mover_relative = True

    def _root(self, game: Game[Move], depth: int) -> float:
        return self._value(game, depth, 0)

    @recursion
    def _value(self, game: Game[Move], depth: int, ply: int) -> float:
        leaf = self._leaf(game, depth, ply)
        if leaf is not None:
            return leaf
        best = -inf
        for move in self._moves(game, ply):
            game.play(move)
            value = -self._value(game, depth - 1, ply + 1)
            game.undo()
            if value > best:
                best = value
                self._new_best(game, move, value, ply)
        return best
