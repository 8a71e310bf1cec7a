"""Best-node search (BNS), which finds the best move without its exact value.

Sources: D. Rutko, 'Fuzzified algorithm for game tree search' (2011); the lecture notes 'Técnicas de
IA, Tema 3.2'.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, inf, isfinite
from typing import Any, TypeVar

from agent.game import Game
from agent.search.algorithms.alpha_beta import AlphaBeta, AlphaBetaOptions
from agent.search.search import SearchResult, next_down

Move = TypeVar("Move")


@dataclass(frozen=True, kw_only=True)
class BestNodeOptions(AlphaBetaOptions):
    """Options for best-node search.

    The first guess is chosen between `low` and `high`. If both are infinite, it is 0.
    """

    low: float = -inf
    high: float = inf


class BestNodeSearch(AlphaBeta[Move]):
    """Best-node search, which adjusts a guess until one move reaches it in null-window tests.

    The returned value is a lower bound on the value of the best move. It is exact if there is only
    one legal move. A transposition table avoids repeated work.
    """

    name = "bns"
    options = BestNodeOptions
    exact = False
    supports_multipv = False
    meaning = "lower bound"

    def __init__(
        self, evaluate: Callable[[Any], float], options: BestNodeOptions = BestNodeOptions()
    ) -> None:
        super().__init__(evaluate, options)
        self.low, self.high = options.low, options.high

    def search_window(
        self, game: Game[Move], depth: int, alpha: float, beta: float, ply: int
    ) -> SearchResult[Move]:
        """Return the best move and the greatest known lower bound on its value."""
        self._begin(game, ply)
        self._horizon = ply + depth
        leaf = self._leaf(game, depth, ply)
        if leaf is not None:
            return SearchResult(leaf, ())
        moves = self._moves(game, ply)
        if len(moves) == 1:
            return SearchResult(
                self._search_only_move(game, moves[0], depth, ply), self._pv_table[ply]
            )
        first = max(alpha, self.low), min(beta, self.high)
        low, high = -inf, inf
        while True:
            guess = self._next_guess(low, high, first, len(moves))
            if self.tracer is not None:
                self.tracer.guessed(guess, len(moves))
            values = {move: self._test(game, move, depth, ply, guess) for move in moves}
            better = [move for move in moves if values[move] >= guess]
            if better:
                moves, low = better, min(values[move] for move in better)
            else:
                high = max(values.values())
            if len(moves) == 1 or low >= high:
                self._record_table_size()
                best = max(moves, key=values.__getitem__)
                return SearchResult(values[best], (best,))

    def _search_only_move(self, game: Game[Move], move: Move, depth: int, ply: int) -> float:
        game.play(move)
        value = -self._value(game, depth - 1, ply + 1, -inf, inf)
        game.undo()
        self._update_pv(ply, move)
        self._record_table_size()
        return value

    def _test(self, game: Game[Move], move: Move, depth: int, ply: int, guess: float) -> float:
        game.play(move)
        value = -self._value(game, depth - 1, ply + 1, -guess, -next_down(guess))
        game.undo()
        return value

    def _next_guess(self, low: float, high: float, first: tuple[float, float], moves: int) -> float:
        """Return a guess that about one of `moves` moves is expected to reach.

        `low` and `high` are the known bounds on the value. An infinite bound is replaced by that in
        `first`, unless the lower bound would then reach the upper bound. If only one bound is
        finite, the guess is at least 1 above a lower bound or below an upper bound.
        """
        lower = low if isfinite(low) else first[0] if first[0] < high else -inf
        upper = high if isfinite(high) else first[1] if first[1] > low else inf
        if isfinite(lower) and isfinite(upper):
            guess = lower + (upper - lower) * (moves - 1) / moves
            guess = guess if lower < guess else upper
        elif isfinite(lower):
            guess = lower + max(1, abs(lower))
        elif isfinite(upper):
            guess = upper - max(1, abs(upper))
        else:
            guess = 0
        return ceil(guess) if self._has_integer_values else guess
