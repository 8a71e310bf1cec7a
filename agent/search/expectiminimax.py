"""Expectiminimax: minimax with a third kind of node, whose value is the mean of its children.

Source: D. Michie, 'Game-playing and game-learning automata' (1966).
"""

from math import inf
from typing import TypeVar, cast

from agent.game import CHANCE, Chance, Game
from agent.search.search import Search

Move = TypeVar("Move")


class Expectiminimax(Search[Move]):
    """Minimax for games of chance; `depth` counts the players' moves, not the events.

    The principal variation ends at the first event. Without chance it is minimax.
    """

    name = "expectiminimax"

    def _root(self, game: Game[Move], depth: int) -> float:
        return self._value(game, depth, 0)

    def _value(self, game: Game[Move], depth: int, ply: int) -> float:
        """Return the position's value for MAX."""
        if game.turn == CHANCE:
            return self._mean(cast(Chance[Move], game), depth, ply)
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
                self._extend(ply, move)
        return best

    def _mean(self, game: Chance[Move], depth: int, ply: int) -> float:
        """Return the mean of the events' values, each weighted by its probability."""
        self._visit(game, ply)
        mean = 0.0
        for event, probability in game.chances():
            game.play(event)
            mean += probability * self._value(game, depth, ply + 1)
            game.undo()
        self._lines[ply] = ()
        return mean
