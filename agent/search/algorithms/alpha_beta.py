"""Alpha-beta search in fail-soft negamax form, with table, extensions and quiescence search.

Sources: D. Knuth and R. Moore, 'An analysis of alpha-beta pruning' (1975); fail-soft by J. Fishburn
(1981).
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any, TypeVar, cast

from agent.game import Game, SupportsQuiescence
from agent.io.message import Message
from agent.search.search import Search, SearchOptions, SearchResult, next_up, recursion
from agent.search.transposition_table import Entry, TranspositionTable

Move = TypeVar("Move")


@dataclass(frozen=True)
class ExtensionRule:
    """A rule that selects leaves to be searched `plies` deeper.

    - `selects`: a function that returns whether to extend a position.
    - `swing`: the minimum change of the evaluation by the last move at which a leaf is extended.

    Sources: the lecture notes 'Tema 2: Búsqueda en juegos' (heuristic continuation) and
    'Fundamentos de IA 10' (dynamic horizon).
    """

    plies: int
    selects: Callable[[Any], bool] | None = None
    swing: float = inf


@dataclass(frozen=True, kw_only=True)
class AlphaBetaOptions(SearchOptions):
    """Options for alpha-beta.

    - `continuation`: whether to run a quiescence search at leaves, in a game that implements
      `SupportsQuiescence`.
    - `table`: the transposition table, or None.
    - `beyond`: the rule for extensions, which come before the quiescence search.
    """

    continuation: bool = False
    table: TranspositionTable[Any] | None = None
    beyond: ExtensionRule | None = None


class AlphaBeta(Search[Move]):
    """Alpha-beta search. Without options, it prunes only by alpha and beta."""

    name = "alpha-beta"
    options = AlphaBetaOptions
    mover_relative = True
    supports_multipv = True

    def __init__(
        self, evaluate: Callable[[Any], float], options: AlphaBetaOptions = AlphaBetaOptions()
    ) -> None:
        super().__init__(evaluate, options)
        self.continuation = options.continuation
        self.table: TranspositionTable[Move] | None = options.table
        self.beyond = options.beyond
        self._horizon = 0
        # The mover's evaluation of the node one ply above the horizon.
        self._previous_evaluation = 0.0

    def forget(self) -> None:
        """Clear all data from earlier searches, but not the statistics."""
        super().forget()
        if self.table is not None:
            self.table.clear()

    def search(
        self,
        game: Game[Move],
        depth: int,
        alpha: float = -inf,
        beta: float = inf,
        ply: int = 0,
    ) -> SearchResult[Move]:
        """Return the value of the position at `depth` plies, and the principal variation.

        A value up to `alpha` is an upper bound on the exact value, and a value from `beta` on is a
        lower bound. `ply` is the distance in plies from the root of the enclosing search.
        """
        result = self.search_window(game, depth, alpha, beta, ply)
        return self._result(result.value, result.pv)

    def search_window(
        self, game: Game[Move], depth: int, alpha: float, beta: float, ply: int
    ) -> SearchResult[Move]:
        """Search like `search`, but return an internal value, in which wins outrank evaluations."""
        if self.continuation and not isinstance(game, SupportsQuiescence):
            raise TypeError(Message("{} does not support continuation", type(game).__name__))
        self._begin(game, ply)
        self._horizon = ply + depth
        value = self._value(game, depth, ply, alpha, beta)
        self._record_table_size()
        return SearchResult(value, self._pv_table[ply])

    def exceeds(self, game: Game[Move], depth: int, bound: float) -> bool:
        """Return whether the value for the player to move exceeds `bound`, using a null window."""
        return self.search(game, depth, bound, next_up(bound)).value > bound

    def _record_table_size(self) -> None:
        if self.table is not None:
            self.counts.peak_open = max(self.counts.peak_open, len(self.table))

    def _root(self, game: Game[Move], depth: int) -> float:
        return self._value(game, depth, 0, -inf, inf)

    @recursion
    def _value(self, game: Game[Move], depth: int, ply: int, alpha: float, beta: float) -> float:
        if self.beyond is not None:
            depth += self._extension(game, self.beyond, ply)
        if depth <= 0 and self.continuation:
            return self._quiescence(cast(SupportsQuiescence[Move], game), ply, alpha, beta)
        leaf = self._leaf(game, depth, ply)
        if leaf is not None:
            return leaf
        if self.table is not None and not (self.root_moves and ply == 0):
            return self._probe_table(game, self.table, depth, ply, alpha, beta)
        return self._best(game, self._moves(game, ply), depth, ply, alpha, beta)

    def _extension(self, game: Game[Move], beyond: ExtensionRule, ply: int) -> int:
        if ply not in (self._horizon - 1, self._horizon) or game.outcome() is not None:
            return 0
        swings = False
        if beyond.swing < inf:
            self.counts.looked_at += 1
            value = self._evaluate_leaf(game, ply)
            if ply == self._horizon - 1:
                self._previous_evaluation = value
            swings = (
                ply == self._horizon > 0 and abs(value + self._previous_evaluation) >= beyond.swing
            )
        if ply < self._horizon:
            return 0
        selected = beyond.selects is not None and beyond.selects(game)
        return beyond.plies if swings or selected else 0

    def _quiescence(
        self, game: SupportsQuiescence[Move], ply: int, alpha: float, beta: float
    ) -> float:
        """Search all moves if the position is forced, otherwise noisy moves after standing pat."""
        if game.forced():
            leaf = self._leaf(game, 1, ply)
            if leaf is not None:
                return leaf
            return self._best(game, self._moves(game, ply), 0, ply, alpha, beta)
        self._visit(game, ply)
        outcome = game.quick_outcome()
        if outcome is None:
            stand = self._evaluate_leaf(game, ply)
        else:
            stand = self._scoring.value(-outcome if game.turn else outcome, ply)
        self.counts.leaves += 1
        if self.tracer is not None:
            self.tracer.evaluated(stand)
        if outcome is not None or stand >= beta:
            return stand
        noisy_moves = list(game.noisy_moves())
        if self.ordering is not None:
            noisy_moves = self.ordering.sort(game, noisy_moves, ply)
        return max(stand, self._best(game, noisy_moves, 0, ply, max(alpha, stand), beta))

    def _probe_table(
        self,
        game: Game[Move],
        table: TranspositionTable[Move],
        depth: int,
        ply: int,
        alpha: float,
        beta: float,
    ) -> float:
        key = game.key()
        entry = table.get(key)
        first = None
        if entry is not None:
            first = entry.move
            if entry.depth >= depth:
                lower = self._scoring.from_table(entry.lower, ply)
                upper = self._scoring.from_table(entry.upper, ply)
                if lower >= beta or lower == upper or upper <= alpha:
                    self.counts.table_hits += 1
                    if first is not None and lower > alpha:
                        self._pv_table[ply] = (first,)
                    return upper if upper <= alpha else lower
        value = self._best(game, self._moves(game, ply, first), depth, ply, alpha, beta)
        if self._pv_table[ply]:
            first = self._pv_table[ply][0]
        relative = self._scoring.to_table(value, ply)
        lower = relative if value > alpha else -inf
        upper = relative if value < beta else inf
        if entry is not None and entry.depth == depth:
            lower, upper = max(lower, entry.lower), min(upper, entry.upper)
        table.put(key, Entry(depth, lower, upper, first))
        if self.tracer is not None:
            self.tracer.stored(key, depth, lower, upper, first)
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
        best = -inf
        for move in moves:
            game.play(move)
            value = -self._value(game, depth - 1, ply + 1, -beta, -alpha)
            game.undo()
            if value > best:
                best = value
                if value > alpha:
                    alpha = value
                    self._new_best(game, move, value, ply)
                    if value >= beta:
                        self._record_cutoff(game, move, depth, ply)
                        break
        return best
