"""Best-node search: find the best move without its value, by guesses that set it apart.

Source: D. Rutko, 'Fuzzified algorithm for game tree search' (2011); the listing of 'Técnicas de
IA, Tema 3.2'.
"""

from collections.abc import Callable
from math import inf
from typing import Any, TypeVar

from agent.game import Game
from agent.search.alpha_beta import AlphaBeta
from agent.search.ending import AS_PLAYED, Ending
from agent.search.ordering import Ordering
from agent.search.search import Found, below
from agent.search.table import Table

Move = TypeVar("Move")


class BestNodeSearch(AlphaBeta[Move]):
    """BNS: guess a value until exactly one move is worth at least that much.

    Each guess is tested on the moves by null-window searches. What these return narrows the
    range in which the next guess is made, which begins as low to high. The value found is a
    lower bound of the best move's. A table spares the repeated work.
    """

    name = "bns"
    exact = False

    def __init__(
        self,
        evaluate: Callable[[Any], float],
        *,
        ending: Ending = AS_PLAYED,
        ordering: Ordering[Move] | None = None,
        node_limit: float = inf,
        continuation: bool = False,
        table: Table[Move] | None = None,
        low: float = -1e6,
        high: float = 1e6,
    ) -> None:
        super().__init__(
            evaluate,
            ending=ending,
            ordering=ordering,
            node_limit=node_limit,
            continuation=continuation,
            table=table,
        )
        self.low, self.high = low, high

    def search(
        self,
        game: Game[Move],
        depth: int,
        alpha: float = -inf,
        beta: float = inf,
        ply: int = 0,
    ) -> Found[Move]:
        """Return a best move, and the greatest value that it is known to reach."""
        self._begin(game, ply)
        leaf = self._leaf(game, depth, ply)
        if leaf is not None:
            return Found(leaf, ())
        moves = self._moves(game, ply)
        low, high = max(alpha, self.low), min(beta, self.high)
        while True:
            guess = _next_guess(low, high, len(moves))
            values = {move: self._test(game, move, depth, ply, guess) for move in moves}
            better = [move for move in moves if values[move] >= guess]
            if better:
                moves, low = better, min(values[move] for move in better)
            else:
                high = max(values.values())
            if len(moves) == 1 or low >= high:
                best = max(moves, key=values.__getitem__)
                return Found(values[best], (best,))

    def _test(self, game: Game[Move], move: Move, depth: int, ply: int, guess: float) -> float:
        """Return a bound of the move's value that tells whether it is at least the guess."""
        game.play(move)
        value = -self._value(game, depth - 1, ply + 1, -guess, -below(guess))
        game.undo()
        return value


def _next_guess(low: float, high: float, moves: int) -> float:
    """Return a guess that about one of so many moves should reach."""
    guess = low + (high - low) * (moves - 1) / moves
    return guess if low < guess else high
