"""What every search algorithm has: an evaluation, counts, an order of moves, and a way to stop.

An algorithm is a sub-class with a name; agent.search.catalogue finds it by that. The easiest to
read are `minimax`, then `negamax`, then `alpha_beta`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import copysign, inf, nextafter
from typing import Any, ClassVar, Generic, TypeVar

from agent.game import CHANCE, Game, HasEvaluationScale, HasTerminalValues
from agent.learning.learned_move import LearnedMove
from agent.limits import Cp, Info
from agent.search.beam_limited_game import BeamLimitedGame
from agent.search.learned_positions import LearnedPositions, is_trusted
from agent.search.move_ordering import Ordering
from agent.search.stats import SearchStats, SearchStopped
from agent.search.symmetry_reduced_game import SymmetryReducedGame
from agent.search.terminal_scoring import (
    DEFAULT_SCORING,
    MAX_EVALUATION,
    TerminalScoring,
    clamp_evaluation,
)

Move = TypeVar("Move")

MAX_DEPTH = 200
# Beyond half a win, evaluations come ever less nearer to a whole one.
HALF_WIN = 0.5
_MAX_CP = 10**6


@dataclass(frozen=True, slots=True)
class SearchResult(Generic[Move]):
    """The value of a position for its mover, and the principal variation that leads to it.

    decided: the value is the utility of a win or a loss, which outranks every evaluation.
    """

    value: float
    pv: tuple[Move, ...]
    decided: bool = False

    @property
    def move(self) -> Move | None:
        """The best move, if the game goes on."""
        return self.pv[0] if self.pv else None


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """What every algorithm can be told; one that has more options has a sub-class of its own.

    ending: what finished games are worth (see agent.search.terminal_scoring: a win outranks every
    evaluation). ordering: the order in which moves are tried; the game's own without it.
    killer_memory: positions that surprises have shown the worth of, which are not searched again.
    node_limit: the most nodes to visit.
    """

    ending: TerminalScoring = DEFAULT_SCORING
    ordering: Ordering[Any] | None = None
    killer_memory: LearnedPositions[Any] | None = None
    node_limit: float = inf


class Search(ABC, Generic[Move]):
    """An algorithm with its options, and the counts of what it has done.

    evaluate: the value of the game's position for its mover.

    A search ends early, with SearchStopped, at the node limit and once `stopped` is set, which
    any thread may do. Then, and when the evaluation raises an error, the game is first taken
    back to where the search began.
    """

    name: ClassVar[str]
    # The class of its options; agent.search.algorithm_spec reads from it which there are.
    options: ClassVar[type[SearchOptions]] = SearchOptions
    # Whether it finds the minimax value of the position, and not something weaker.
    exact: ClassVar[bool] = True
    # Whether its recursion's values and windows are the mover's, as in negamax, or MAX's.
    mover_relative: ClassVar[bool] = False
    # Whether its iterations tell of more lines than the best.
    supports_multipv: ClassVar[bool] = False

    def __init__(
        self, evaluate: Callable[[Any], float], options: SearchOptions = SearchOptions()
    ) -> None:
        if type(options) is not self.options:
            wanted, given = self.options.__name__, type(options).__name__
            raise TypeError(f"{self.name} takes {wanted}, not {given}")
        self.evaluate = evaluate
        self.ending = options.ending
        self.ordering: Ordering[Move] | None = options.ordering
        self.killer_memory: LearnedPositions[Move] | None = options.killer_memory
        # What it knows in this search, by the keys of positions.
        self._learned_moves: Mapping[Hashable, LearnedMove] = {}
        self.node_limit = options.node_limit
        self.stopped = False
        # Only these moves are tried at the root, if there are any.
        self.root_moves: frozenset[Move] = frozenset()
        self.counts = SearchStats()
        self._max_player = 0
        self._root_ply = 0
        # What ends are worth in the game that is searched, and whether all values are whole.
        self._scoring = options.ending
        self._has_terminal_values = self._has_integer_values = False
        self._clear_lead = 0.0
        # The principal variation found so far at each ply.
        self._pv_table: list[tuple[Move, ...]] = []

    def search(self, game: Game[Move], depth: int) -> SearchResult[Move]:
        """Return the value of the game's position, `depth` plies deep, and its variation."""
        self._begin(game)
        value = self._root(game, depth)
        return self._result(value, self._pv_table[0])

    def iterations(
        self, game: Game[Move], max_depth: int | None, lines: int
    ) -> Iterator[Info[Move]]:
        """Search 1, 2, 3, ... `deepest` plies deep; yield what each finds, until that is all.

        lines: how many of the best moves to tell of, in algorithms with `supports_multipv`. Raises
        SearchStopped, as `search` does.
        """
        knows_nothing = False
        for depth in range(1, (max_depth or MAX_DEPTH) + 1):
            counts = self.counts
            nodes, hits, counts.seldepth = counts.nodes, counts.table_hits, 0
            found = self.search(game, depth)
            nodes, hits = self.counts.nodes - nodes, self.counts.table_hits - hits
            if found.pv:
                yield Info(
                    depth=depth,
                    score=to_cp(found.value),
                    pv=found.pv,
                    seldepth=self.counts.seldepth,
                    nodes=self.counts.nodes,
                    visits=nodes,
                    expected_outcome=expected_outcome(found.value, found.decided),
                )
            # A search that did not come to its horizon has seen all there is, unless it owes
            # that to what it remembers of shallower ones.
            ended = self.counts.seldepth < depth
            if ended and (knows_nothing or not hits):
                return
            knows_nothing = ended and nodes > 1
            if knows_nothing:
                self.reset()

    def current_lines(self, lines: int | None = None) -> Sequence[Info[Move]]:
        """Return the best lines as they stand, where they can be told; from any thread.

        lines: the most of them; all without it.
        """
        return ()

    def reset_stats(self) -> None:
        """Count from 0 again, keeping what was learned."""
        self.counts = SearchStats()

    def reset(self) -> None:
        """Forget what earlier searches counted and learned."""
        self.reset_stats()
        if self.ordering is not None:
            self.ordering.clear()

    @abstractmethod
    def _root(self, game: Game[Move], depth: int) -> float:
        """Return the value of the position for its mover; `_lines[0]` is then its variation."""

    def _begin(self, game: Game[Move], ply: int = 0) -> None:
        """Start a search here. MAX is who is to move at the root, player 0 where chance is."""
        turn = 0 if game.turn == CHANCE else game.turn
        self._max_player = turn if ply % 2 == 0 else 1 - turn
        self._root_ply = ply
        self._pv_table = [()] * (ply + 2)
        if self.killer_memory is not None:
            self._learned_moves = self.killer_memory.lessons()
        inner: Any = game
        while isinstance(inner, (BeamLimitedGame, SymmetryReducedGame)):
            if isinstance(inner, BeamLimitedGame):
                inner.set_stats(self.counts)
            inner = inner.game
        self._has_terminal_values = isinstance(inner, HasTerminalValues)
        self._has_integer_values = self._has_terminal_values and inner.integer_values
        self._clear_lead = inner.clear_lead if isinstance(inner, HasEvaluationScale) else 0.0
        self._scoring = self.ending.without_scale() if self._has_terminal_values else self.ending
        if self.ordering is not None:
            self.ordering.counts = self.counts
            self.ordering.ending = self._scoring
            if ply == 0:
                self.ordering.start_search()

    def _result(self, value: float, line: tuple[Move, ...]) -> SearchResult[Move]:
        """Return what is reported of a value of the search."""
        decided = self._scoring.is_decisive(value) and not self._has_terminal_values
        return SearchResult(self.unscaled(value), line, decided)

    def unscaled(self, value: float) -> float:
        """Return a value of the last search, such as it is inside, as it is told to others."""
        return self._scoring.unscaled(value)

    def _is_max(self, game: Game[Move]) -> bool:
        return game.turn == self._max_player

    def _leaf(self, game: Game[Move], depth: int, ply: int) -> float | None:
        """Visit a node. Return its value for its mover if it is a leaf, else None."""
        self._visit(game, ply)
        return self._leaf_value(game, depth, ply)

    def _leaf_value(self, game: Game[Move], depth: int, ply: int) -> float | None:
        """Return a visited node's value for its mover if it is a leaf, else None."""
        outcome = game.outcome()
        if outcome is not None:
            self.counts.leaves += 1
            return self._scoring.value(-outcome if game.turn else outcome, ply)
        if self._learned_moves and ply > 0:
            lesson = self._learned_moves.get(game.key())
            if lesson is not None and self._trusts(lesson, depth):
                self.counts.leaves += 1
                return self._learned_value(-lesson.found, ply)
        if depth > 0:
            return None
        self.counts.leaves += 1
        return self._evaluate_leaf(game, ply)

    def _trusts(self, lesson: LearnedMove, depth: int) -> bool:
        """Tell whether a position is worth what play has shown, and need not be searched."""
        return is_trusted(lesson, depth)

    def _learned_value(self, outcome: float, ply: int) -> float:
        """Return the value inside the search of an outcome that play has shown, for the mover."""
        if abs(outcome) >= 1:
            return self._scoring.value(copysign(1.0, outcome), ply)
        if abs(outcome) > HALF_WIN:  # the way back from `expected_outcome`
            return copysign(HALF_WIN**2 / (1 - abs(outcome)), outcome)
        return outcome

    def _evaluate_leaf(self, game: Game[Move], ply: int) -> float:
        """Evaluate a visited node for its mover."""
        try:
            value = self.evaluate(game)
            if -MAX_EVALUATION <= value <= MAX_EVALUATION:
                return value
            return clamp_evaluation(value, self.evaluate)
        except BaseException:
            self._undo_to_root(game, ply)
            raise

    def _leaf_for_max(self, game: Game[Move], depth: int, ply: int) -> float | None:
        """Visit a node. Return its value for MAX if it is a leaf, else None."""
        value = self._leaf(game, depth, ply)
        return value if value is None or self._is_max(game) else -value

    def _visit(self, game: Game[Move], ply: int) -> None:
        """Count a node, unless there may be no more of them, and clear its variation."""
        counts = self.counts
        if self.stopped or counts.nodes >= self.node_limit:
            self._undo_to_root(game, ply)
            raise SearchStopped
        counts.nodes += 1
        if ply > counts.seldepth:
            counts.seldepth = ply
        lines = self._pv_table
        if ply + 1 >= len(lines):
            lines.extend([()] * (ply + 2 - len(lines)))
        lines[ply] = ()

    def _update_pv(self, ply: int, move: Move) -> None:
        """Put a move before the variation of the next ply."""
        self._pv_table[ply] = (move, *self._pv_table[ply + 1])

    def _new_best(self, game: Game[Move], move: Move, value: float, ply: int) -> None:
        """Take a move into the variation that is worth `value` to its mover, so far the most."""
        self._update_pv(ply, move)
        if self.ordering is not None:
            self.ordering.record_best(game, move, value)

    def _moves(self, game: Game[Move], ply: int, first: Move | None = None) -> list[Move]:
        """Return the legal moves in the order in which to try them, `first` before all."""
        moves = list(game.moves())
        if self.root_moves and ply == 0:
            moves = [move for move in moves if move in self.root_moves] or moves
        return moves if self.ordering is None else self.ordering.sort(game, moves, ply, first)

    def _record_cutoff(self, game: Game[Move], move: Move | None, depth: int, ply: int) -> None:
        """Count a cut-off, and learn from the move that made it; None is a pass."""
        self.counts.cutoffs += 1
        if self.ordering is not None and move is not None:
            self.ordering.record_cutoff(game, move, depth, ply)

    def _undo_to_root(self, game: Game[Move], ply: int) -> None:
        """Go back from a ply to where the search began."""
        for _ in range(ply - self._root_ply):
            game.undo()


def to_cp(value: float) -> Cp:
    """Return a value as a score, in hundredths of the game's unit."""
    return Cp(round(100 * max(-_MAX_CP, min(_MAX_CP, value))))


def expected_outcome(value: float, decided: bool) -> float:
    """Return the outcome from -1 to 1 that a value promises the mover.

    decided: it is a utility; that of an evaluation, whatever its scale, lies between.
    """
    if not decided and abs(value) > HALF_WIN:
        return copysign(1 - HALF_WIN**2 / abs(value), value)
    return max(-1.0, min(1.0, value))


def next_up(value: float) -> float:
    """Return the next number above, so that nothing lies between: a null window.

    A value that is a whole number promises others that are: the next is then value + 1, as in the
    lecture notes. Where it is not kept the window is wider than it need be, but no result wrong.
    """
    return value + 1 if isinstance(value, int) else nextafter(value, inf)


def next_down(value: float) -> float:
    """Return the next number below."""
    return value - 1 if isinstance(value, int) else nextafter(value, -inf)
