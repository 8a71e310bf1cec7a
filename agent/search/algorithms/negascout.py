"""NegaScout: SCOUT's test as a null window in negamax form, in Reinefeld's two versions.

Source: A. Reinefeld, 'An improvement to the Scout tree search algorithm' (1983) and his later
listing; both are in 'Técnicas de IA, Tema 3.2'.
"""

from typing import TypeVar

from agent.game import Game
from agent.search.algorithms.null_window import NullWindowSearch
from agent.search.search import next_up

Move = TypeVar("Move")


class NegaScout1(NullWindowSearch[Move]):
    """The first version: search again from the tested value up, but not just above the leaves.

    The value of a leaf is exact whatever the window, so a test of a leaf need not be repeated.
    """

    name = "negascout-1"

    def _best(
        self, game: Game[Move], moves: list[Move], depth: int, ply: int, alpha: float, beta: float
    ) -> float:
        children_are_leaves = depth <= 1 and not self.continuation and self.beyond is None
        upper = beta
        for number, move in enumerate(moves):
            game.play(move)
            value = -self._value(game, depth - 1, ply + 1, -upper, -alpha)
            if alpha < value < beta and number > 0 and not children_are_leaves:
                self.counts.researches += 1
                value = -self._value(game, depth - 1, ply + 1, -beta, -value)
            game.undo()
            if value > alpha:
                alpha = value
                self._new_best(game, move, value, ply)
                if alpha >= beta:
                    self._record_cutoff(game, move, depth, ply)
                    break
            upper = next_up(alpha)
        return alpha


class NegaScout2(NullWindowSearch[Move]):
    """The second version: search again with the window from alpha up, at any depth."""

    name = "negascout-2"

    def _best(
        self, game: Game[Move], moves: list[Move], depth: int, ply: int, alpha: float, beta: float
    ) -> float:
        upper = beta
        for number, move in enumerate(moves):
            game.play(move)
            value = -self._value(game, depth - 1, ply + 1, -upper, -alpha)
            if alpha < value < beta and number > 0:
                self.counts.researches += 1
                value = -self._value(game, depth - 1, ply + 1, -beta, -alpha)
            game.undo()
            if value > alpha:
                alpha = value
                self._new_best(game, move, value, ply)
                if alpha >= beta:
                    self._record_cutoff(game, move, depth, ply)
                    break
            upper = next_up(alpha)
        return alpha
