"""Alpha-beta over any game, in the fail-soft negamax form, with the techniques that refine it.

Source: D. Knuth and R. Moore, 'An analysis of alpha-beta pruning' (1975); fail-soft by
J. Fishburn (1981). 'Tema 2: Búsqueda en juegos' gives the fail-hard form with MAX and MIN,
which is agent.search.alpha_beta_hard.
"""

from collections.abc import Callable
from math import inf
from typing import Any, TypeVar, cast

from agent.game import Continued, Game
from agent.search.ending import AS_PLAYED, Ending
from agent.search.ordering import Ordering
from agent.search.search import Found, Search
from agent.search.table import Entry, Table

Move = TypeVar("Move")


class AlphaBeta(Search[Move]):
    """A search by alpha-beta; with every option off it prunes by alpha and beta alone.

    continuation: continue leaves on the noisy moves of a `Continued` game, with no limit of
    depth. table: remember positions. The other options are those of every search.
    """

    name = "alpha-beta"

    def __init__(
        self,
        evaluate: Callable[[Any], float],
        *,
        ending: Ending = AS_PLAYED,
        ordering: Ordering[Move] | None = None,
        node_limit: float = inf,
        continuation: bool = False,
        table: Table[Move] | None = None,
    ) -> None:
        super().__init__(evaluate, ending=ending, ordering=ordering, node_limit=node_limit)
        self.continuation = continuation
        self.table = table

    def reset(self) -> None:
        """Forget what earlier searches counted and learned."""
        super().reset()
        if self.table is not None:
            self.table.clear()

    def search(
        self,
        game: Game[Move],
        depth: int,
        alpha: float = -inf,
        beta: float = inf,
        ply: int = 0,
    ) -> Found[Move]:
        """Return the value of the game's position, `depth` plies deep, and its variation.

        A value v between alpha and beta is exact; v <= alpha is an upper bound and v >= beta a
        lower bound of the exact one. `ply` counts from the root of a larger search.
        """
        if self.continuation and not isinstance(game, Continued):
            raise TypeError(f"{type(game).__name__} has no moves to continue leaves on")
        self._begin(game, ply)
        value = self._value(game, depth, ply, alpha, beta)
        return Found(value, self._lines[ply])

    def _root(self, game: Game[Move], depth: int) -> float:
        return self._value(game, depth, 0, -inf, inf)

    def _value(self, game: Game[Move], depth: int, ply: int, alpha: float, beta: float) -> float:
        if depth <= 0 and self.continuation:
            return self._continue(cast(Continued[Move], game), ply, alpha, beta)
        leaf = self._leaf(game, depth, ply)
        if leaf is not None:
            return leaf
        if self.table is not None:
            return self._remembered(game, self.table, depth, ply, alpha, beta)
        return self._best(game, self._moves(game, ply), depth, ply, alpha, beta)

    def _continue(self, game: Continued[Move], ply: int, alpha: float, beta: float) -> float:
        """Search on from a leaf: every move if the mover is forced, else stand pat or be noisy."""
        if game.forced():
            leaf = self._leaf(game, 1, ply)
            if leaf is not None:
                return leaf
            return self._best(game, self._moves(game, ply), 0, ply, alpha, beta)
        self._visit(game, ply)
        outcome = game.settled()
        if outcome is not None:
            self.counts.leaves += 1
            return self.ending.value(-outcome if game.turn else outcome, ply)
        stand = self._evaluation(game, ply)
        if stand >= beta:
            return stand
        noisy = list(game.noisy())
        if self.ordering is not None:
            noisy = self.ordering.sort(game, noisy, ply)
        return max(stand, self._best(game, noisy, 0, ply, max(alpha, stand), beta))

    def _remembered(
        self,
        game: Game[Move],
        table: Table[Move],
        depth: int,
        ply: int,
        alpha: float,
        beta: float,
    ) -> float:
        """Answer from the table if it knows enough, else search and remember."""
        key = game.key()
        entry = table.get(key)
        first = None
        if entry is not None:
            first = entry.move
            if entry.depth >= depth:
                lower = self.ending.at(entry.lower, ply)
                upper = self.ending.at(entry.upper, ply)
                if lower >= beta or lower == upper:
                    self.counts.table_hits += 1
                    return lower
                if upper <= alpha:
                    self.counts.table_hits += 1
                    return upper
        value = self._best(game, self._moves(game, ply, first), depth, ply, alpha, beta)
        if self._lines[ply]:
            first = self._lines[ply][0]
        relative = self.ending.relative(value, ply)
        lower = relative if value > alpha else -inf
        upper = relative if value < beta else inf
        if entry is not None and entry.depth == depth:
            lower, upper = max(lower, entry.lower), min(upper, entry.upper)
        table.put(key, Entry(depth, lower, upper, first))
        return value

    def _best(
        self,
        game: Game[Move],
        moves: list[Move],
        depth: int,
        ply: int,
        alpha: float,
        beta: float,
    ) -> float:
        """Return the best of the values of the moves, as far as the window asks."""
        best = -inf
        for move in moves:
            game.play(move)
            value = -self._value(game, depth - 1, ply + 1, -beta, -alpha)
            game.undo()
            if value > best:
                best = value
                if value > alpha:
                    alpha = value
                    self._extend(ply, move)
                    if value >= beta:
                        self._cut(game, move, depth, ply)
                        break
        return best
