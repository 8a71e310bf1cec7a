"""Alpha-beta search in fail-soft negamax form, with common refinements.

The search keeps a window. Alpha is the value that the player to move can already force, and beta is
the value to which the opponent can already limit that player. If the value of a node reaches beta,
the node cannot affect the result, and the remaining moves are skipped. Fail-soft means that a
returned value may be outside the window. It is then a bound on the exact value.

Source: D. Knuth and R. Moore, 'An analysis of alpha-beta pruning' (1975); fail-soft by J. Fishburn
(1981). For the fail-hard form with MAX and MIN in the lecture notes 'Tema 2: Búsqueda en juegos',
see agent.search.algorithms.alpha_beta_fail_hard.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any, TypeVar, cast

from agent.game import Game, SupportsQuiescence
from agent.search.search import Search, SearchOptions, SearchResult, next_up
from agent.search.transposition_table import Entry, TranspositionTable

Move = TypeVar("Move")


@dataclass(frozen=True)
class ExtensionRule:
    """A rule that selects leaves at the horizon. They are searched `plies` deeper, with all moves.

    `selects` is a game-specific function that returns whether to extend a position. This is the
    heuristic continuation in 'Tema 2: Búsqueda en juegos'.
    `swing` extends leaves if the last move changed the evaluation by at least this value, because
    such an evaluation is unreliable. This is the dynamic horizon in 'Fundamentos de IA 10'.
    """

    plies: int
    selects: Callable[[Any], bool] | None = None
    swing: float = inf


@dataclass(frozen=True, kw_only=True)
class AlphaBetaOptions(SearchOptions):
    """Options for alpha-beta.

    `continuation` enables a quiescence search of unlimited depth at leaves. The game must implement
    `SupportsQuiescence`.
    `table` is the transposition table, or None to use no table.
    `beyond` is the rule that selects leaves to extend. Leaves are extended before the quiescence
    search starts.
    """

    continuation: bool = False
    table: TranspositionTable[Any] | None = None
    beyond: ExtensionRule | None = None


class AlphaBeta(Search[Move]):
    """Alpha-beta search. Without options, the tree is pruned only by alpha and beta."""

    name = "alpha-beta"
    options = AlphaBetaOptions
    mover_relative = True

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

    def reset(self) -> None:
        """Clear the statistics and all data from earlier searches."""
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
    ) -> SearchResult[Move]:
        """Return the value of the position at `depth` plies, and the principal variation.

        The value is exact if it is between `alpha` and `beta`. A value at or below `alpha` is an
        upper bound on the exact value. A value at or above `beta` is a lower bound. Both parameters
        are on the scale of the evaluation. `ply` is the distance in plies from the root of the
        enclosing search.
        """
        result = self.search_window(game, depth, alpha, beta, ply)
        return self._result(result.value, result.pv)

    def search_window(
        self, game: Game[Move], depth: int, alpha: float, beta: float, ply: int
    ) -> SearchResult[Move]:
        """Return the same result as `search`, but on the internal scale.

        On this scale wins are always greater than evaluations.
        """
        if self.continuation and not isinstance(game, SupportsQuiescence):
            raise TypeError(f"{type(game).__name__} does not support continuation")
        self._begin(game, ply)
        self._horizon = ply + depth
        value = self._value(game, depth, ply, alpha, beta)
        self._record_table_size()
        return SearchResult(value, self._pv_table[ply])

    def exceeds(self, game: Game[Move], depth: int, bound: float) -> bool:
        """Return whether the value for the player to move is greater than `bound`.

        This is the null-window search in 'Técnicas de IA, Tema 3.2'. It either fails high or fails
        low.
        """
        return self.search(game, depth, bound, next_up(bound)).value > bound

    def _record_table_size(self) -> None:
        if self.table is not None:
            self.counts.peak_open = max(self.counts.peak_open, len(self.table))

    def _root(self, game: Game[Move], depth: int) -> float:
        return self._value(game, depth, 0, -inf, inf)

    def _value(self, game: Game[Move], depth: int, ply: int, alpha: float, beta: float) -> float:
        if self.beyond is not None:
            depth += self._extension(game, self.beyond, ply)
        if depth <= 0 and self.continuation:
            return self._quiescence(cast(SupportsQuiescence[Move], game), ply, alpha, beta)
        leaf = self._leaf(game, depth, ply)
        if leaf is not None:
            return leaf
        if self.table is not None:
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
        """Run a quiescence search and return the value for the player to move.

        If the player to move is forced, all moves are searched. Otherwise the player may stand pat,
        and only noisy moves are searched.
        """
        if game.forced():
            leaf = self._leaf(game, 1, ply)
            if leaf is not None:
                return leaf
            return self._best(game, self._moves(game, ply), 0, ply, alpha, beta)
        self._visit(game, ply)
        outcome = game.quick_outcome()
        stand = self._stand_pat(game, outcome, ply)
        if outcome is not None or stand >= beta:
            return stand
        noisy_moves = list(game.noisy_moves())
        if self.ordering is not None:
            noisy_moves = self.ordering.sort(game, noisy_moves, ply)
        return max(stand, self._best(game, noisy_moves, 0, ply, max(alpha, stand), beta))

    def _stand_pat(self, game: Game[Move], outcome: float | None, ply: int) -> float:
        self.counts.leaves += 1
        if outcome is not None:
            return self._scoring.value(-outcome if game.turn else outcome, ply)
        return self._evaluate_leaf(game, ply)

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
