"""Detailed tracing, which adds table entries, guesses and selection bounds to `search_tracing`."""

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from agent.game import Game
from agent.search.algorithms.alpha_beta import AlphaBeta
from agent.search.algorithms.and_or import AndOr, Strategy
from agent.search.algorithms.best_node_search import BestNodeSearch
from agent.search.algorithms.mcts import UCT
from agent.search.algorithms.mtd import MTD
from agent.search.algorithms.sss_star import SSSStar, State, open_list_key
from agent.search.algorithms.win_loss import LOSS, WIN
from agent.search.mcts_node import Node
from agent.search.search import Search, SearchResult
from agent.search.tracing.search_tracing import Event, EventHandler, traced
from agent.search.transposition_table import TranspositionTable
from agent.search.tree_cursor import Label, TreeCursor

Move = TypeVar("Move")


@dataclass(frozen=True, slots=True)
class Stored(Event):
    """A table entry was stored: bounds on the value of the node for MAX, at `depth` plies.

    `row` is the index of the entry, from 0, which never changes. `place` is the index of the move
    to search first, from 1, or 0 for no move.
    """

    row: int
    depth: int
    lower: float
    upper: float
    place: int = 0


@dataclass(frozen=True, slots=True)
class Guessed(Event):
    """Best-node search is about to test which of `moves` moves reach the guess."""

    guess: float
    low: float
    high: float
    moves: int


# A list change: start index, number of removed states, inserted states.
ListSplice: TypeAlias = "tuple[int, int, tuple[State, ...]]"


@dataclass(frozen=True, slots=True)
class OpenListChanged(Event):
    """SSS* is about to take the first state from its open list.

    `splices` contains the changes to the list since the previous step, in order. The first event
    contains the complete list.
    """

    state: State
    splices: tuple[ListSplice, ...]


@dataclass(frozen=True, slots=True)
class ChildStats:
    """Statistics of a child at selection. `place` is the index of the move, from 1.

    Rewards are for the player who makes the move. `bound` is the upper confidence bound. `prior` is
    the evaluation's prior of the move, or None.
    """

    place: int
    visits: int
    total: float
    bound: float
    prior: float | None = None


@dataclass(frozen=True, slots=True)
class Selected(Event):
    """MCTS descends to child number `by`, from 1, which has the greatest upper bound."""

    children: tuple[ChildStats, ...]
    by: int


@dataclass(frozen=True, slots=True)
class BackedUp(Event):
    """The reward of a playout was added to all nodes on the path.

    `totals` contains the visits and total reward of each node from the root down. Rewards are for
    the player who made the move to the node.
    """

    totals: tuple[tuple[int, float], ...]


def traced_in_detail(search_class: type[Search[Any]], emit: EventHandler) -> type[Search[Any]]:
    """Return a subclass of an algorithm that reports its steps to `emit` in detail."""
    special: dict[Any, Any] = {
        BestNodeSearch: _DetailedBestNode,
        AlphaBeta: _DetailedAlphaBeta,
        MTD: _DetailedMTD,
        AndOr: _DetailedAndOr,
        UCT: _DetailedUCT,
        SSSStar: _DetailedSSSStar,
    }
    mixins = [mixin for base, mixin in special.items() if issubclass(search_class, base)]
    tracing = traced(search_class, emit)
    return type(f"Detailed{tracing.__name__}", (*mixins, tracing), {}) if mixins else tracing


class _TableTracing:
    """Mix-in that numbers the entries of a table and reports each change once."""

    emit: EventHandler
    label: Label
    mover_relative: bool
    _is_max: Callable[[Any], bool]

    def _emit_entry(
        self,
        game: Game[Any],
        key: Hashable,
        depth: int,
        bounds: tuple[float, float],
        place: int = 0,
    ) -> None:
        """Report an entry if it has changed. `bounds` are for MAX, or in negamax for the mover."""
        rows: dict[Hashable, tuple[int, object]] = self.__dict__.setdefault("_rows", {})
        row, previous = rows.get(key, (len(rows), None))
        content = depth, bounds, place
        if content == previous:
            return
        rows[key] = row, content
        maximises = self._is_max(game)
        lower, upper = bounds
        if self.mover_relative and not maximises:
            lower, upper = -upper, -lower
        self.emit(Stored(self.label, maximises, row, depth, lower, upper, place))


class _DetailedAlphaBeta(_TableTracing, Search[Move]):
    """Alpha-beta with an event for a node's table entry after the search of the node."""

    def _probe_table(
        self, game: Game[Move], table: TranspositionTable[Move], *arguments: Any
    ) -> float:
        value: float = super()._probe_table(game, table, *arguments)  # type: ignore[misc]
        key = game.key()
        entry = table.get(key)
        if entry is not None:
            moves = list(game.moves())
            place = moves.index(entry.move) + 1 if entry.move in moves else 0
            self._emit_entry(game, key, entry.depth, (entry.lower, entry.upper), place)
        return value


class _DetailedMTD(_TableTracing, Search[Move]):
    def _value(self, game: Game[Move], depth: int, *arguments: Any) -> float:
        value: float = super()._value(game, depth, *arguments)  # type: ignore[misc]
        key = game.key(), depth
        known = self._memory.get(key)  # type: ignore[attr-defined]
        if known is not None:
            self._emit_entry(game, key, depth, (known.lower, known.upper))
        return value


class _DetailedAndOr(_TableTracing, Search[Move]):
    def _can_force(self, game: Game[Move], depth: int) -> bool:
        self.__dict__.pop("_rows", None)
        return super()._can_force(game, depth)  # type: ignore[misc, no-any-return]

    def _solve(self, game: Game[Move], depth: int, *arguments: Any) -> Strategy[Move] | None:
        strategy: Strategy[Move] | None = super()._solve(  # type: ignore[misc]
            game, depth, *arguments
        )
        value = LOSS if strategy is None else WIN
        self._emit_entry(game, (game.key(), depth), depth, (value, value))
        return strategy


class _DetailedBestNode(Search[Move]):
    emit: EventHandler

    def _next_guess(self, low: float, high: float, first: tuple[float, float], moves: int) -> float:
        guess: float = super()._next_guess(low, high, first, moves)  # type: ignore[misc]
        self.emit(Guessed((), True, guess, low, high, moves))
        return guess


class _DetailedSSSStar(Search[Move]):
    """SSS* and DUAL* with events for changes to the open list."""

    emit: EventHandler
    _open: list[State]

    def search(self, game: Game[Move], *arguments: Any, **options: Any) -> SearchResult[Move]:
        self._splices: list[ListSplice] = []
        return super().search(game, *arguments, **options)

    def _emit_open_list(self, states: Sequence[State]) -> None:
        first = states[0]
        splices = tuple(self._splices) or ((0, 0, tuple(states)),)
        self.emit(OpenListChanged(first.label, len(first.label) % 2 == 0, first, splices))
        self._splices = [(0, 1, ())]

    def _propagate_to_parent(self, cursor: TreeCursor[Move], state: State) -> None:
        parent = state.label[:-1]
        if self._maximises(parent):  # type: ignore[attr-defined]
            length = len(parent)
            removals = [at for at, other in enumerate(self._open) if other.label[:length] == parent]
            # Remove from the end, so that earlier indices remain valid. Adjacent states form one
            # splice.
            for at in reversed(removals):
                start, removed, inserted = self._splices[-1]
                if start == at + 1:
                    self._splices[-1] = at, removed + 1, inserted
                else:
                    self._splices.append((at, 1, ()))
        super()._propagate_to_parent(cursor, state)  # type: ignore[misc]

    def _insert(self, state: State) -> None:
        super()._insert(state)  # type: ignore[misc]
        at = bisect_left(self._open, open_list_key(state), key=open_list_key)
        start, removed, inserted = self._splices[-1]
        if inserted and start + len(inserted) == at:
            self._splices[-1] = start, removed, (*inserted, state)
        else:
            self._splices.append((at, 0, (state,)))


class _DetailedUCT(Search[Move]):
    """MCTS with events for the selection of each child, and for the totals after each playout."""

    emit: EventHandler
    label: Label

    def _descend(self, game: Game[Move], path: list[Node[Move]]) -> None:
        parent = path[-1]
        label, maximises = self.label, self._is_max(game)
        children = () if parent.is_chance_node else tuple(self._choices(game, parent))
        known = len(label)
        super()._descend(game, path)  # type: ignore[misc]
        if children:
            self.emit(Selected(label, maximises, children, self.label[known]))

    def _choices(self, game: Game[Move], parent: Node[Move]) -> Iterator[ChildStats]:
        places = {move: place for place, move in enumerate(game.moves(), 1)}
        for child in parent.children:
            bound = self._upper_bound(parent, child)  # type: ignore[attr-defined]
            yield ChildStats(places[child.move], child.visits, child.total, bound, child.prior)

    def _backpropagate(
        self, path: list[Node[Move]], reward: float, played: list[tuple[int, Move]]
    ) -> None:
        super()._backpropagate(path, reward, played)  # type: ignore[misc]
        label, maximises = self._leaves[id(path[-1])]  # type: ignore[attr-defined]
        totals = tuple((node.visits, node.total) for node in path)
        self.emit(BackedUp(label, maximises, totals))
