"""Two versions of NegaScout, which is SCOUT in negamax form with null-window searches as tests.

Sources: A. Reinefeld, 'An improvement to the Scout tree search algorithm' (1983), and a later
listing by Reinefeld. Both are in the lecture notes 'Técnicas de IA, Tema 3.2'.
"""

from typing import TypeVar

from agent.game import Game
from agent.search.algorithms.null_window import NullWindowSearch
from agent.search.search import next_up

Move = TypeVar("Move")


class NegaScout1(NullWindowSearch[Move]):
    """NegaScout version 1, which searches a better move again with the test value as alpha.

    Moves that lead to leaves are not searched again, because leaf values are always exact.
    """

    name = "negascout-1"

    def _best(
        self, game: Game[Move], moves: list[Move], depth: int, ply: int, alpha: float, beta: float
    ) -> float:
        children_are_leaves = depth <= 1 and not self.continuation and self.beyond is None
        upper = beta
        for index, move in enumerate(moves):
            game.play(move)
            value = -self._value(game, depth - 1, ply + 1, -upper, -alpha)
            if alpha < value < beta and index > 0 and not children_are_leaves:
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
    """NegaScout version 2, which searches a better move again with the original alpha."""

    name = "negascout-2"

    def _best(
        self, game: Game[Move], moves: list[Move], depth: int, ply: int, alpha: float, beta: float
    ) -> float:
        upper = beta
        for index, move in enumerate(moves):
            game.play(move)
            value = -self._value(game, depth - 1, ply + 1, -upper, -alpha)
            if alpha < value < beta and index > 0:
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
