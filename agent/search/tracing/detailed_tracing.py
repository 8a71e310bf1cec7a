"""Watching an algorithm as `observing` does, and what it keeps besides: memory, guesses, bounds.

Who draws a search step by step asks for this; what a node is stored as, what is guessed and what
each child's upper confidence bound is are known only at the moment.
"""

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
    """The memory has an entry of the node: its value for MAX, so deep, lies between two bounds.

    row: the entry's number, from 0; an entry that is replaced or made closer keeps it. place: of
    the move to try first, 0 for none.
    """

    row: int
    depth: int
    lower: float
    upper: float
    place: int = 0


@dataclass(frozen=True, slots=True)
class Guessed(Event):
    """Best-node search asks which of so many moves are worth at least the guess."""

    guess: float
    low: float
    high: float
    moves: int


# So many states of a list are removed from a place on, and these put there.
ListSplice: TypeAlias = "tuple[int, int, tuple[State, ...]]"


@dataclass(frozen=True, slots=True)
class OpenListChanged(Event):
    """SSS* is about to take the first state of its open list, the node's.

    splices: what has changed in the list since it took the state before, one after the other; at
    first the whole list. The lists of all steps together would be as long as its square.
    """

    state: State
    splices: tuple[ListSplice, ...]


@dataclass(frozen=True, slots=True)
class ChildStats:
    """A child as MCTS chooses: its place, visits, total reward for its mover, and upper bound.

    prior: how promising an evaluation has called the move; None where none has.
    """

    place: int
    visits: int
    total: float
    bound: float
    prior: float | None = None


@dataclass(frozen=True, slots=True)
class Selected(Event):
    """MCTS goes on from the node to the child at a place, whose upper bound is greatest."""

    children: tuple[ChildStats, ...]
    by: int


@dataclass(frozen=True, slots=True)
class BackedUp(Event):
    """A playout's reward was added on the way to the node.

    totals: visits and total reward, for whoever moved there, of each node from the root on.
    """

    totals: tuple[tuple[int, float], ...]


def traced_in_detail(search_class: type[Search[Any]], emit: EventHandler) -> type[Search[Any]]:
    """Return a sub-class of an algorithm that tells what it does, and what it keeps."""
    special: dict[Any, Any] = {
        BestNodeSearch: _DetailedBestNode,
        AlphaBeta: _DetailedAlphaBeta,
        MTD: _DetailedMTD,
        AndOr: _DetailedAndOr,
        UCT: _DetailedUCT,
        SSSStar: _DetailedSSSStar,
    }
    mixins = [mixin for base, mixin in special.items() if issubclass(search_class, base)]
    watched = traced(search_class, emit)
    return type(f"Closely{watched.__name__}", (*mixins, watched), {}) if mixins else watched


class _TableTracing:
    """The numbers of a memory's entries, and what was told of them."""

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
        """Tell of an entry, unless it is what was told before. The bounds are the recursion's."""
        rows: dict[Hashable, tuple[int, object]] = self.__dict__.setdefault("_rows", {})
        row, before = rows.get(key, (len(rows), None))
        content = depth, bounds, place
        if content == before:
            return
        rows[key] = row, content
        maximises = self._is_max(game)
        lower, upper = bounds
        if self.mover_relative and not maximises:
            lower, upper = -upper, -lower
        self.emit(Stored(self.label, maximises, row, depth, lower, upper, place))


class _DetailedAlphaBeta(_TableTracing, Search[Move]):
    """Alpha-beta with a table, which may have forgotten an entry again."""

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
    """MTD, whose memory knows each position at each depth."""

    def _value(self, game: Game[Move], depth: int, *arguments: Any) -> float:
        value: float = super()._value(game, depth, *arguments)  # type: ignore[misc]
        key = game.key(), depth
        known = self._memory.get(key)  # type: ignore[attr-defined]
        if known is not None:
            self._emit_entry(game, key, depth, (known.lower, known.upper))
        return value


class _DetailedAndOr(_TableTracing, Search[Move]):
    """AND/OR search, which solves each position once."""

    def _can_force(self, game: Game[Move], depth: int) -> bool:
        self.__dict__.pop("_rows", None)
        return super()._can_force(game, depth)  # type: ignore[misc, no-any-return]

    def _solve(self, game: Game[Move], depth: int, *arguments: Any) -> Strategy[Move] | None:
        found: Strategy[Move] | None = super()._solve(  # type: ignore[misc]
            game, depth, *arguments
        )
        value = LOSS if found is None else WIN
        self._emit_entry(game, (game.key(), depth), depth, (value, value))
        return found


class _DetailedBestNode(Search[Move]):
    """Best-node search: its guesses. Windows are the root's mover's, who is MAX."""

    emit: EventHandler

    def _next_guess(self, low: float, high: float, first: tuple[float, float], moves: int) -> float:
        guess: float = super()._next_guess(low, high, first, moves)  # type: ignore[misc]
        self.emit(Guessed((), True, guess, low, high, moves))
        return guess


class _DetailedSSSStar(Search[Move]):
    """SSS* and DUAL*: what changes in the open list, in place of the list."""

    emit: EventHandler
    _open: list[State]

    def search(self, game: Game[Move], *arguments: Any, **options: Any) -> SearchResult[Move]:
        self._splices: list[ListSplice] = []
        return super().search(game, *arguments, **options)

    def _list(self, states: Sequence[State]) -> None:
        first = states[0]
        splices = tuple(self._splices) or ((0, 0, tuple(states)),)
        self.emit(OpenListChanged(first.label, len(first.label) % 2 == 0, first, splices))
        self._splices = [(0, 1, ())]

    def _propagate_to_parent(self, cursor: TreeCursor[Move], state: State) -> None:
        parent = state.label[:-1]
        if self._maximises(parent):  # type: ignore[attr-defined]
            length = len(parent)
            places = [at for at, each in enumerate(self._open) if each.label[:length] == parent]
            # From the end on, so that the places before stay; neighbours leave together.
            for at in reversed(places):
                start, removed, put = self._splices[-1]
                if start == at + 1:
                    self._splices[-1] = at, removed + 1, put
                else:
                    self._splices.append((at, 1, ()))
        super()._propagate_to_parent(cursor, state)  # type: ignore[misc]

    def _insert(self, state: State) -> None:
        super()._insert(state)  # type: ignore[misc]
        at = bisect_left(self._open, open_list_key(state), key=open_list_key)
        start, removed, put = self._splices[-1]
        if put and start + len(put) == at:
            self._splices[-1] = start, removed, (*put, state)
        else:
            self._splices.append((at, 0, (state,)))


class _DetailedUCT(Search[Move]):
    """MCTS: how it chooses each child, and what the way holds afterwards."""

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
