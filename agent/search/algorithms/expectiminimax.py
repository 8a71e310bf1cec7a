"""Expectiminimax: minimax with chance nodes, whose value is the mean of their children.

Source: D. Michie, 'Game-playing and game-learning automata' (1966).
"""

from dataclasses import fields, replace
from math import frexp, inf
from typing import TypeVar, cast

from agent.game import CHANCE, ChanceGame, Game
from agent.search.search import Search, recursion

Move = TypeVar("Move")


class WinValueExceeded(Exception):  # noqa: N818 - control flow, not an error
    """An evaluation has reached the value of a win."""


class Expectiminimax(Search[Move]):
    """Minimax for games of chance. The search depth counts players' moves but not chance events.

    The principal variation ends at the first chance event. If an evaluation reaches the value of a
    win, which is 1 at first, the search restarts. The value of a win is then a power of two and at
    least twice the evaluation. Later searches keep this value.
    """

    name = "expectiminimax"

    # Value of a win in games of chance.
    _win = 1.0

    def forget(self) -> None:
        """Clear all data from earlier searches, but not the statistics."""
        super().forget()
        self._win = 1.0

    def _root(self, game: Game[Move], depth: int) -> float:
        if not isinstance(game, ChanceGame) or self._has_terminal_values:
            return self._value(game, depth, 0)
        counts = replace(self.counts)
        while True:
            self._scoring = replace(self.ending, scale=self._win)
            try:
                return self._value(game, depth, 0)
            except WinValueExceeded:
                for field in fields(counts):
                    setattr(self.counts, field.name, getattr(counts, field.name))
                if self.tracer is not None:
                    self.tracer.restarted(self._win)

    def _evaluate_leaf(self, game: Game[Move], ply: int) -> float:
        value = super()._evaluate_leaf(game, ply)
        if self._has_terminal_values or not self._scoring.is_decisive(value):
            return value
        self._win = 2.0 ** (frexp(value)[1] + 1)
        self._undo_to_root(game, ply)
        raise WinValueExceeded

    @recursion
    def _value(self, game: Game[Move], depth: int, ply: int) -> float:
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
        self._visit(game, ply)
        mean = 0.0
        for event, probability in game.chance_outcomes():
            game.play(event)
            mean += probability * self._value(game, depth, ply + 1)
            game.undo()
        self._pv_table[ply] = ()
        return mean
