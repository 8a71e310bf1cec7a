"""Watching an algorithm as `observing` does, and what it keeps besides: memory, guesses, bounds.

Who draws a search step by step asks for this; what a node is stored as, what is guessed and what
each child's upper confidence bound is are known only at the moment.
"""

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from agent.game import Game
from agent.search.alpha_beta import AlphaBeta
from agent.search.and_or import AndOr, Strategy
from agent.search.best_node import BestNodeSearch
from agent.search.cursor import Label
from agent.search.mcts import UCT
from agent.search.mtd import MTD
from agent.search.observing import Event, Tell, observed
from agent.search.playout_tree import Node
from agent.search.search import Search
from agent.search.table import Table
from agent.search.two_valued import LOSS, WIN

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


@dataclass(frozen=True, slots=True)
class Child:
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

    children: tuple[Child, ...]
    by: int


@dataclass(frozen=True, slots=True)
class BackedUp(Event):
    """A playout's reward was added on the way to the node.

    totals: visits and total reward, for whoever moved there, of each node from the root on.
    """

    totals: tuple[tuple[int, float], ...]


def closely_observed(search_class: type[Search[Any]], tell: Tell) -> type[Search[Any]]:
    """Return a sub-class of an algorithm that tells what it does, and what it keeps."""
    special: dict[Any, Any] = {
        BestNodeSearch: _CloseBestNode,
        AlphaBeta: _CloseAlphaBeta,
        MTD: _CloseMTD,
        AndOr: _CloseAndOr,
        UCT: _CloseUCT,
    }
    mixins = [mixin for base, mixin in special.items() if issubclass(search_class, base)]
    watched = observed(search_class, tell)
    return type(f"Closely{watched.__name__}", (*mixins, watched), {}) if mixins else watched


class _Rows:
    """The numbers of a memory's entries, and what was told of them."""

    tell: Tell
    label: Label
    for_mover: bool
    _is_max: Callable[[Any], bool]

    def _tell_entry(
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
        if self.for_mover and not maximises:
            lower, upper = -upper, -lower
        self.tell(Stored(self.label, maximises, row, depth, lower, upper, place))


class _CloseAlphaBeta(_Rows, Search[Move]):
    """Alpha-beta with a table, which may have forgotten an entry again."""

    def _remembered(self, game: Game[Move], table: Table[Move], *arguments: Any) -> float:
        value: float = super()._remembered(game, table, *arguments)  # type: ignore[misc]
        key = game.key()
        entry = table.get(key)
        if entry is not None:
            moves = list(game.moves())
            place = moves.index(entry.move) + 1 if entry.move in moves else 0
            self._tell_entry(game, key, entry.depth, (entry.lower, entry.upper), place)
        return value


class _CloseMTD(_Rows, Search[Move]):
    """MTD, whose memory knows each position at each depth."""

    def _value(self, game: Game[Move], depth: int, *arguments: Any) -> float:
        value: float = super()._value(game, depth, *arguments)  # type: ignore[misc]
        key = game.key(), depth
        known = self._memory.get(key)  # type: ignore[attr-defined]
        if known is not None:
            self._tell_entry(game, key, depth, (known.lower, known.upper))
        return value


class _CloseAndOr(_Rows, Search[Move]):
    """AND/OR search, which solves each position once."""

    def _aim(self, game: Game[Move], depth: int) -> bool:
        self.__dict__.pop("_rows", None)
        return super()._aim(game, depth)  # type: ignore[misc, no-any-return]

    def _solve(self, game: Game[Move], depth: int, *arguments: Any) -> Strategy[Move] | None:
        found: Strategy[Move] | None = super()._solve(  # type: ignore[misc]
            game, depth, *arguments
        )
        value = LOSS if found is None else WIN
        self._tell_entry(game, (game.key(), depth), depth, (value, value))
        return found


class _CloseBestNode(Search[Move]):
    """Best-node search: its guesses. Windows are the root's mover's, who is MAX."""

    tell: Tell

    def _next_guess(self, low: float, high: float, first: tuple[float, float], moves: int) -> float:
        guess: float = super()._next_guess(low, high, first, moves)  # type: ignore[misc]
        self.tell(Guessed((), True, guess, low, high, moves))
        return guess


class _CloseUCT(Search[Move]):
    """MCTS: how it chooses each child, and what the way holds afterwards."""

    tell: Tell
    label: Label

    def _go_on(self, game: Game[Move], path: list[Node[Move]]) -> None:
        parent = path[-1]
        label, maximises = self.label, self._is_max(game)
        children = () if parent.awaits_event else tuple(self._choices(game, parent))
        known = len(label)
        super()._go_on(game, path)  # type: ignore[misc]
        if children:
            self.tell(Selected(label, maximises, children, self.label[known]))

    def _choices(self, game: Game[Move], parent: Node[Move]) -> Iterator[Child]:
        places = {move: place for place, move in enumerate(game.moves(), 1)}
        for child in parent.children:
            bound = self._upper_bound(parent, child)  # type: ignore[attr-defined]
            yield Child(places[child.move], child.visits, child.total, bound, child.prior)

    def _backpropagate(
        self, path: list[Node[Move]], reward: float, played: list[tuple[int, Move]]
    ) -> None:
        super()._backpropagate(path, reward, played)  # type: ignore[misc]
        label, maximises = self._ends[id(path[-1])]  # type: ignore[attr-defined]
        totals = tuple((node.visits, node.total) for node in path)
        self.tell(BackedUp(label, maximises, totals))
