"""Principal variation search (PVS): full window for the first move, null windows for the rest.

Sources: T. Marsland and M. Campbell, 'Parallel search of strongly ordered game trees' (1982); the
lecture notes 'Técnicas de IA, Tema 3.2'.
"""

from typing import TypeVar

from agent.game import Game
from agent.search.algorithms.null_window import NullWindowSearch
from agent.search.search import next_up

Move = TypeVar("Move")


class PrincipalVariationSearch(NullWindowSearch[Move]):
    """Alpha-beta that tests all moves except the first with a null window."""

    name = "pvs"

    def _best(
        self, game: Game[Move], moves: list[Move], depth: int, ply: int, alpha: float, beta: float
    ) -> float:
        for index, move in enumerate(moves):
            game.play(move)
            if index == 0:
                value = -self._value(game, depth - 1, ply + 1, -beta, -alpha)
            else:
                value = -self._value(game, depth - 1, ply + 1, -next_up(alpha), -alpha)
                if alpha < value < beta:
                    self.counts.researches += 1
                    value = -self._value(game, depth - 1, ply + 1, -beta, -value)
            game.undo()
            if value > alpha:
                alpha = value
                self._new_best(game, move, value, ply)
                if alpha >= beta:
                    self._record_cutoff(game, move, depth, ply)
                    break
        return alpha
