"""Base class of all search algorithms: evaluation, statistics, move ordering and stopping."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import copysign, inf, nextafter
from typing import Any, ClassVar, Generic, Literal, TypeVar

from agent.game import CHANCE, Game, HasEvaluationScale, HasTerminalValues
from agent.io.message import Message
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
Method = TypeVar("Method", bound=Callable[..., Any])

# What the value of a search tells about the minimax value at the search depth. A "win or loss" is 1
# if the player to move can force a value above 0, otherwise -1.
ValueMeaning = Literal["exact", "lower bound", "estimate", "win or loss", "mean reward"]

MAX_DEPTH = 200
# Evaluations beyond half a win approach a full win asymptotically.
HALF_WIN = 0.5
_MAX_CP = 10**6


@dataclass(frozen=True, slots=True)
class SearchResult(Generic[Move]):
    """The value of a position for the player to move, and the principal variation.

    `decided` is true if the value is the utility of a win or loss rather than an evaluation.
    """

    value: float
    pv: tuple[Move, ...]
    decided: bool = False

    @property
    def move(self) -> Move | None:
        """The best move, or None if the game is over."""
        return self.pv[0] if self.pv else None

    @property
    def rank(self) -> tuple[float, float]:
        """What to sort results by: every win outranks every evaluation."""
        return copysign(self.decided, self.value), self.value


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """Options for all algorithms.

    - `ending`: the scoring of finished games.
    - `ordering`: the move ordering, or None for the order of `game.moves()`.
    - `killer_memory`: positions with values learned in earlier games, which replace a search.
    - `node_limit`: the maximum number of nodes to visit.
    """

    ending: TerminalScoring = DEFAULT_SCORING
    ordering: Ordering[Any] | None = None
    killer_memory: LearnedPositions[Any] | None = None
    node_limit: float = inf


def recursion(method: Method) -> Method:
    """Mark the recursive method of an algorithm, whose calls a tracer reports.

    Its first arguments are the game, the depth and the ply.
    """
    method.is_recursion = True  # type: ignore[attr-defined]
    return method


class Search(ABC, Generic[Move]):
    """A search algorithm with its options and statistics.

    `evaluate` is a function that returns the value of the game's position for the player to move. A
    search raises SearchStopped at the node limit, or after any thread sets `stopped`. The game is
    restored before a search raises an exception.
    """

    name: ClassVar[str]
    # Class of the algorithm's options. agent.search.algorithm_spec reads the option names from it.
    options: ClassVar[type[SearchOptions]] = SearchOptions
    # Whether the algorithm finds the exact minimax value.
    exact: ClassVar[bool] = True
    # What the value means, if it is not exact.
    meaning: ClassVar[ValueMeaning] = "exact"
    # Whether the recursion uses the mover's values and windows, as in negamax, or those of MAX.
    mover_relative: ClassVar[bool] = False
    # Whether `iterations` reports more than one line.
    supports_multipv: ClassVar[bool] = False

    def __init__(
        self, evaluate: Callable[[Any], float], options: SearchOptions = SearchOptions()
    ) -> None:
        if type(options) is not self.options:
            expected, actual = self.options.__name__, type(options).__name__
            raise TypeError(Message("{}: options must be {} (got {})", self.name, expected, actual))
        self.evaluate = evaluate
        self.ending = options.ending
        self.ordering: Ordering[Move] | None = options.ordering
        self.killer_memory: LearnedPositions[Move] | None = options.killer_memory
        # Learned moves used in this search, by position key.
        self._learned_moves: Mapping[Hashable, LearnedMove] = {}
        self.node_limit = options.node_limit
        self.stopped = False
        # Search only these moves at the root. If empty, search all moves.
        self.root_moves: frozenset[Move] = frozenset()
        self.counts = SearchStats()
        # A Tracer of agent.search.tracing, which observes each step, or None.
        self.tracer: Any = None
        self._max_player = 0
        self._root_ply = 0
        # Scoring of finished games in the current search, and whether all values are integers.
        self._scoring = options.ending
        self._has_terminal_values = self._has_integer_values = False
        self._clear_lead = 0.0
        # The evaluation at which the expected outcome is half a win. 0 if the scale is unknown.
        self._outcome_scale: float = getattr(evaluate, "outcome_scale", 0.0)
        # The principal variation found so far at each ply.
        self._pv_table: list[tuple[Move, ...]] = []

    def search(self, game: Game[Move], depth: int) -> SearchResult[Move]:
        """Return the value of the position at `depth` plies, and the principal variation."""
        self._begin(game)
        value = self._root(game, depth)
        return self._result(value, self._pv_table[0])

    def iterations(
        self, game: Game[Move], max_depth: int | None, lines: int
    ) -> Iterator[Info[Move]]:
        """Search to increasing depths from 1 to `max_depth`, and yield each result.

        `lines` is the number of lines to report, for algorithms with `supports_multipv`. The
        generator ends early if the whole tree has been searched. Raise SearchStopped if the search
        is stopped or reaches the node limit.
        """
        was_reset = False
        last: dict[Move, SearchResult[Move]] = {}
        for depth in range(1, (max_depth or MAX_DEPTH) + 1):
            counts = self.counts
            nodes, hits, counts.seldepth = counts.nodes, counts.table_hits, 0
            found = self._best_lines(game, depth, lines)
            nodes, hits = self.counts.nodes - nodes, self.counts.table_hits - hits
            for rank, (result, visits) in enumerate(found, 1):
                yield Info(
                    depth=depth,
                    score=to_cp(result.value),
                    pv=result.pv,
                    seldepth=self.counts.seldepth,
                    multipv=rank,
                    nodes=self.counts.nodes,
                    visits=visits,
                    expected_outcome=self._expected_outcome(result, last.get(result.pv[0])),
                )
            last = {result.pv[0]: result for result, _ in found}
            # If a search did not reach its horizon, it has visited the whole tree. Table entries of
            # shallower searches are an exception.
            exhausted = self.counts.seldepth < depth
            if exhausted and (was_reset or not hits):
                return
            was_reset = exhausted and nodes > 1
            if was_reset:
                self.forget()

    def _best_lines(
        self, game: Game[Move], depth: int, lines: int
    ) -> list[tuple[SearchResult[Move], int]]:
        """Return the best lines, from best to worst, with the number of nodes for each.

        Each search leaves out the first moves of the lines found before it.
        """
        found: list[tuple[SearchResult[Move], int]] = []
        chosen, remaining = self.root_moves, self.root_moves or frozenset(game.moves())
        try:
            while remaining and len(found) < (lines if self.supports_multipv else 1):
                nodes = self.counts.nodes
                result = self.search(game, depth)
                if not result.pv:
                    break
                found.append((result, self.counts.nodes - nodes))
                self.root_moves = remaining = remaining - {result.pv[0]}
        finally:
            self.root_moves = chosen
        found.sort(key=lambda line: line[0].rank, reverse=True)
        return found

    def _expected_outcome(
        self, result: SearchResult[Move], last: SearchResult[Move] | None
    ) -> float:
        """Return the expected outcome of a line.

        If the scale of the evaluation is known, it is the mean of two iterations, because
        evaluations favour the player who has moved last.
        """
        value = expected_outcome(result.value, result.decided, self._outcome_scale)
        if not self._outcome_scale or result.decided or last is None or last.decided:
            return value
        return (value + expected_outcome(last.value, last.decided, self._outcome_scale)) / 2

    def current_lines(self, lines: int | None = None) -> Sequence[Info[Move]]:
        """Return up to `lines` best lines so far, if available. Any thread may call this method."""
        return ()

    def reset_stats(self) -> None:
        """Reset the statistics, but keep all data from earlier searches."""
        self.counts = SearchStats()

    def reset(self) -> None:
        """Clear the statistics and all data from earlier searches."""
        self.reset_stats()
        self.forget()

    def forget(self) -> None:
        """Clear all data from earlier searches, but not the statistics."""
        if self.ordering is not None:
            self.ordering.clear()

    @abstractmethod
    def _root(self, game: Game[Move], depth: int) -> float:
        """Return the value of the position for the player to move, and set `_pv_table[0]`."""

    def _begin(self, game: Game[Move], ply: int = 0) -> None:
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
        decided = self._scoring.is_decisive(value) and not self._has_terminal_values
        return SearchResult(self.unscaled(value), line, decided)

    def unscaled(self, value: float) -> float:
        """Convert an internal value, in which wins are scaled up, to a reported value."""
        return self._scoring.unscaled(value)

    def _is_max(self, game: Game[Move]) -> bool:
        return game.turn == self._max_player

    def _leaf(self, game: Game[Move], depth: int, ply: int) -> float | None:
        """Visit a node. Return its value for the player to move if it is a leaf, otherwise None."""
        self._visit(game, ply)
        return self._leaf_value(game, depth, ply)

    def _leaf_value(self, game: Game[Move], depth: int, ply: int) -> float | None:
        outcome = game.outcome()
        if outcome is not None:
            value = self._scoring.value(-outcome if game.turn else outcome, ply)
        elif self._learned_moves and (lesson := self._lesson(game, depth, ply)) is not None:
            value = self._learned_value(-lesson.found, ply)
        elif depth > 0:
            return None
        else:
            value = self._evaluate_leaf(game, ply)
        self.counts.leaves += 1
        if self.tracer is not None:
            self.tracer.evaluated(value)
        return value

    def _lesson(self, game: Game[Move], depth: int, ply: int) -> LearnedMove | None:
        lesson = self._learned_moves.get(game.key()) if ply > 0 else None
        return lesson if lesson is not None and self._trusts(lesson, depth) else None

    def _trusts(self, lesson: LearnedMove, depth: int) -> bool:
        return is_trusted(lesson, depth)

    def _learned_value(self, outcome: float, ply: int) -> float:
        if abs(outcome) >= 1:
            return self._scoring.value(copysign(1.0, outcome), ply)
        # The inverse of `expected_outcome`.
        if self._outcome_scale:
            return self._outcome_scale * outcome / (1 - abs(outcome))
        if abs(outcome) > HALF_WIN:
            return copysign(HALF_WIN**2 / (1 - abs(outcome)), outcome)
        return outcome

    def _evaluate_leaf(self, game: Game[Move], ply: int) -> float:
        try:
            value = self.evaluate(game)
            if -MAX_EVALUATION <= value <= MAX_EVALUATION:
                return value
            return clamp_evaluation(value, self.evaluate)
        except BaseException:
            self._undo_to_root(game, ply)
            raise

    def _leaf_for_max(self, game: Game[Move], depth: int, ply: int) -> float | None:
        """Visit a node. Return its value for MAX if it is a leaf, otherwise None."""
        value = self._leaf(game, depth, ply)
        return value if value is None or game.turn == self._max_player else -value

    def _visit(self, game: Game[Move], ply: int) -> None:
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
        if self.tracer is not None:
            self.tracer.visited()

    def _update_pv(self, ply: int, move: Move) -> None:
        self._pv_table[ply] = (move, *self._pv_table[ply + 1])

    def _new_best(self, game: Game[Move], move: Move, value: float, ply: int) -> None:
        self._update_pv(ply, move)
        if self.ordering is not None:
            self.ordering.record_best(game, move, value)

    def _moves(self, game: Game[Move], ply: int, first: Move | None = None) -> list[Move]:
        moves = list(game.moves())
        if self.root_moves and ply == 0:
            moves = [move for move in moves if move in self.root_moves] or moves
        return moves if self.ordering is None else self.ordering.sort(game, moves, ply, first)

    def _record_cutoff(self, game: Game[Move], move: Move | None, depth: int, ply: int) -> None:
        self.counts.cutoffs += 1
        if self.ordering is not None and move is not None:
            self.ordering.record_cutoff(game, move, depth, ply)
        if self.tracer is not None:
            self.tracer.cut_off(move)

    def _undo_to_root(self, game: Game[Move], ply: int) -> None:
        for _ in range(ply - self._root_ply):
            game.undo()


def to_cp(value: float) -> Cp:
    """Convert a value to a score in hundredths of the game's unit."""
    return Cp(round(100 * max(-_MAX_CP, min(_MAX_CP, value))))


def expected_outcome(value: float, decided: bool, scale: float = 0.0) -> float:
    """Return the expected outcome for the player to move, from -1 to 1.

    `decided` is true if the value is a utility. Otherwise it is an evaluation, and `scale` is the
    evaluation at which half a win is expected. Without a scale, evaluations up to half a win are
    expected outcomes.
    """
    if not decided and scale:
        return value / (scale + abs(value))
    if not decided and abs(value) > HALF_WIN:
        return copysign(1 - HALF_WIN**2 / abs(value), value)
    return max(-1.0, min(1.0, value))


def next_up(value: float) -> float:
    """Return the upper end of a null window from `value`: `value + 1` or the next larger float."""
    return value + 1 if isinstance(value, int) else nextafter(value, inf)


def next_down(value: float) -> float:
    """Return the lower end of a null window to `value`: `value - 1` or the next smaller float."""
    return value - 1 if isinstance(value, int) else nextafter(value, -inf)
