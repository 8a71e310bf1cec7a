"""Expectiminimax: minimax with a third kind of node, whose value is the mean of its children.

Source: D. Michie, 'Game-playing and game-learning automata' (1966).
"""

from dataclasses import fields, replace
from math import frexp, inf
from typing import TypeVar, cast

from agent.game import CHANCE, ChanceGame, Game
from agent.search.search import Search

Move = TypeVar("Move")


class WinValueExceeded(Exception):  # noqa: N818 - it reports no error
    """An evaluation is no less than a win."""


class Expectiminimax(Search[Move]):
    """Minimax for games of chance; `depth` counts the players' moves, not the events.

    The principal variation ends at the first event. Without chance it is minimax.

    With chance, values are averages of wins and evaluations, and so cannot be of different ranks:
    a win is worth its utility. If an evaluation turns out to be as much, the search begins anew,
    wins being worth a power of two that is at least twice that, and stays with it.
    """

    name = "expectiminimax"

    # What a win is worth in games of chance.
    _win = 1.0

    def reset(self) -> None:
        """Forget what earlier searches counted and learned."""
        super().reset()
        self._win = 1.0

    def _root(self, game: Game[Move], depth: int) -> float:
        if not isinstance(game, ChanceGame) or self._has_terminal_values:
            return self._value(game, depth, 0)
        counted = replace(self.counts)
        while True:
            self._scoring = replace(self.ending, scale=self._win)
            try:
                return self._value(game, depth, 0)
            except WinValueExceeded:
                for each in fields(counted):
                    setattr(self.counts, each.name, getattr(counted, each.name))
                self._on_restart(self._win)

    def _on_restart(self, win: float) -> None:
        """Take note that the search begins again, a win being worth so much."""

    def _evaluate_leaf(self, game: Game[Move], ply: int) -> float:
        value = super()._evaluate_leaf(game, ply)
        if self._has_terminal_values or not self._scoring.is_decisive(value):
            return value
        self._win = 2.0 ** (frexp(value)[1] + 1)
        self._undo_to_root(game, ply)
        raise WinValueExceeded

    def _value(self, game: Game[Move], depth: int, ply: int) -> float:
        """Return the position's value for MAX."""
        if game.turn == CHANCE:
            return self._chance_value(cast(ChanceGame[Move], game), depth, ply)
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

    def _chance_value(self, game: ChanceGame[Move], depth: int, ply: int) -> float:
        """Return the mean of the events' values, each weighted by its probability."""
        self._visit(game, ply)
        mean = 0.0
        for event, probability in game.chance_outcomes():
            game.play(event)
            mean += probability * self._value(game, depth, ply + 1)
            game.undo()
        self._pv_table[ply] = ()
        return mean
