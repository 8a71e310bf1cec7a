"""Watching any algorithm at work, step by step, without a word about it in the algorithms.

`observed(SomeSearch, tell)` is a sub-class that does exactly what the algorithm does and calls
`tell` with an Event at each step. It stands at the seams that all algorithms share: `_visit`,
`_leaf_value`, `_stand`, `_cut`, and the recursion, which is named `_value`, `_eval`, `_test` or
`_solve` and takes the game, the depth, the ply, and then its window. The best-first algorithms,
which have no recursion, are watched where they choose. A search that nobody watches pays nothing.

Nodes are named in Dewey's notation by the moves' places in `game.moves()`, from 1. Values and
windows are MAX's, who is to move at the root, whatever the algorithm's own point of view; they
are as they are inside the search, where ends outrank evaluations (see agent.search.ending).
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from inspect import signature
from typing import Any, TypeVar

from agent.game import Game
from agent.search import b_star
from agent.search.alpha_beta import AlphaBeta
from agent.search.b_star import BStar
from agent.search.cursor import Cursor, Label
from agent.search.expectiminimax import Expectiminimax
from agent.search.mcts import UCT
from agent.search.playout_tree import Node
from agent.search.search import Found, Search
from agent.search.sss_star import SSSStar, SSSStarOptions, State
from agent.search.two_valued import LOSS, WIN

Move = TypeVar("Move")

RECURSIONS = ("_value", "_eval", "_test", "_solve")


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened at a node. maximises: whether MAX is to move there."""

    label: Label
    maximises: bool


@dataclass(frozen=True, slots=True)
class Visited(Event):
    """The search counted the node."""


@dataclass(frozen=True, slots=True)
class Entered(Event):
    """The recursion went into the node, with a window (alpha, beta) if it has one.

    test: SCOUT's question about the node instead, such as ("≥", 5). again: it was there before,
    from the same parent: a re-search, or a new pass.
    """

    procedure: str
    window: tuple[float, float] | None = None
    test: tuple[str, float] | None = None
    again: bool = False


@dataclass(frozen=True, slots=True)
class Evaluated(Event):
    """The node is a leaf of the search, worth so much."""

    value: float


@dataclass(frozen=True, slots=True)
class CutOff(Event):
    """The node's remaining moves need not be looked at, because of this one; 0 is a pass."""

    by: int


@dataclass(frozen=True, slots=True)
class BegunAnew(Event):
    """Expectiminimax begins again: an evaluation was as much as a win, which now counts `win`."""

    win: float


@dataclass(frozen=True, slots=True)
class Returned(Event):
    """The recursion came back from the node; a test's value is True or False.

    remembered: from a table, without looking at the node.
    """

    value: float | bool
    remembered: bool = False


@dataclass(frozen=True, slots=True)
class Listed(Event):
    """SSS* is about to take the first state of its open list."""

    states: tuple[State, ...]


@dataclass(frozen=True, slots=True)
class Narrowed(Event):
    """B* knows that the node's value lies between two bounds, closer ones than before."""

    lower: float
    upper: float


@dataclass(frozen=True, slots=True)
class PlayedOut(Event):
    """MCTS made a playout from the node, the last of those selected.

    expanded: the node was new. length: moves of the simulation. reward: from -1 to 1. judged: a
    batched evaluation judged the node, in place of a simulation.
    """

    expanded: bool
    length: int
    reward: float
    judged: bool = False


@dataclass(frozen=True, slots=True)
class Counted(Event):
    """MCTS ended with so many visits of the node, and this mean reward."""

    visits: int
    mean: float


Tell = Callable[[Event], None]


def observed(search_class: type[Search[Any]], tell: Tell) -> type[Search[Any]]:
    """Return a sub-class of an algorithm that tells what it does."""
    special: dict[Any, Any] = {
        SSSStar: _ObservedSSSStar,
        BStar: _ObservedBStar,
        UCT: _ObservedUCT,
        AlphaBeta: _ObservedAlphaBeta,
        Expectiminimax: _ObservedExpectiminimax,
    }
    mixins = [mixin for base, mixin in special.items() if issubclass(search_class, base)]
    body: dict[str, Any] = {
        name: _told(getattr(search_class, name))
        for name in RECURSIONS
        if "ply" in list(signature(getattr(search_class, name, _nothing)).parameters)[:4]
    }
    body["tell"] = staticmethod(tell)
    return type(f"Observed{search_class.__name__}", (*(mixins or [_Observed]), search_class), body)


@contextmanager
def following(game: Game[Any]) -> Iterator[list[int]]:
    """Yield the label of the game's position, which changes with every `play` and `undo`.

    Raises TypeError for a game whose methods cannot be stood before.
    """
    label: list[int] = []
    passing = False

    def enter(play: Callable[..., None]) -> Callable[..., None]:
        def entering(*move: Any) -> None:
            nonlocal passing
            if passing:  # a game may pass by playing a move that is none
                play(*move)
                return
            label.append(1 + list(game.moves()).index(move[0]) if move else 0)
            passing = not move
            try:
                play(*move)
            finally:
                passing = False

        return entering

    def leave(undo: Callable[[], None]) -> Callable[[], None]:
        def leaving() -> None:
            undo()
            label.pop()

        return leaving

    around = {"play": enter, "pass_turn": enter, "undo": leave}
    present = {name: wrap for name, wrap in around.items() if hasattr(game, name)}
    try:
        for name, wrap in present.items():
            setattr(game, name, wrap(getattr(game, name)))
    except AttributeError:
        raise TypeError(
            f"{type(game).__name__} cannot be watched: its class has __slots__ without __dict__"
        ) from None
    try:
        yield label
    finally:
        for name in present:
            delattr(game, name)


class _Observed(Search[Move]):
    """The seams of every algorithm; a mix-in in front of the algorithm's class."""

    tell: Tell
    _path: Sequence[int] = ()

    def search(self, game: Game[Move], *arguments: Any, **options: Any) -> Found[Move]:
        # For each node on the way to this one, the children that were entered from it.
        self._entered: list[set[Label]] = [set()]
        with following(game) as self._path:
            return super().search(game, *arguments, **options)

    @property
    def label(self) -> Label:
        """The node where the search is."""
        return tuple(self._path)

    def _visit(self, game: Game[Move], ply: int) -> None:
        super()._visit(game, ply)
        self.tell(Visited(self.label, self._is_max(game)))

    def _leaf_value(self, game: Game[Move], depth: int, ply: int) -> float | None:
        value = super()._leaf_value(game, depth, ply)
        if value is not None:
            maximises = self._is_max(game)
            self.tell(Evaluated(self.label, maximises, value if maximises else -value))
        return value

    def _cut(self, game: Game[Move], move: Move | None, depth: int, ply: int) -> None:
        super()._cut(game, move, depth, ply)
        number = 0 if move is None else list(game.moves()).index(move) + 1
        self.tell(CutOff(self.label, self._is_max(game), number))


def _told(recursion: Callable[..., Any]) -> Callable[..., Any]:
    """Return the recursion with an event before and one after it."""
    bind = signature(recursion).bind

    @wraps(recursion)
    def telling(self: Any, game: Game[Any], *arguments: Any, **options: Any) -> Any:
        label, maximises = self.label, self._is_max(game)
        sign = -1 if self.for_mover and not maximises else 1
        asked = bind(self, game, *arguments, **options).arguments
        again = label in self._entered[-1]
        self._entered[-1].add(label)
        procedure = recursion.__name__.lstrip("_")
        window, test = _window(asked, sign), _question(asked)
        self.tell(Entered(label, maximises, procedure, window, test, again))
        self._entered.append(set())
        hits = self.counts.table_hits
        value = recursion(self, game, *arguments, **options)
        children = self._entered.pop()
        remembered = self.counts.table_hits > hits and not children
        if procedure == "solve":
            value_for_max: float | bool = LOSS if value is None else WIN
        else:
            value_for_max = value if test else sign * value
        self.tell(Returned(label, maximises, value_for_max, remembered))
        return value

    return telling


def _window(asked: dict[str, Any], sign: int) -> tuple[float, float] | None:
    if not {"alpha", "beta"} <= asked.keys():
        return None
    alpha, beta = asked["alpha"], asked["beta"]
    return (alpha, beta) if sign > 0 else (-beta, -alpha)


def _question(asked: dict[str, Any]) -> tuple[str, float] | None:
    if not {"bound", "or_equal"} <= asked.keys():
        return None
    return "≥" if asked["or_equal"] else ">", asked["bound"]


class _ObservedAlphaBeta(_Observed[Move]):
    """Alpha-beta: leaves that may be continued are evaluated too."""

    def _stand(self, game: Game[Move], outcome: float | None, ply: int) -> float:
        value: float = super()._stand(game, outcome, ply)  # type: ignore[misc]
        maximises = self._is_max(game)
        self.tell(Evaluated(self.label, maximises, value if maximises else -value))
        return value


class _ObservedExpectiminimax(_Observed[Move]):
    """Expectiminimax: that it begins anew."""

    def _begin_anew(self, win: float) -> None:
        self._entered = [set()]
        self.tell(BegunAnew((), True, win))


class _ObservedSSSStar(_Observed[Move]):
    """SSS* and DUAL*: the open list before each step, and at the end the nodes' values."""

    def __init__(
        self, evaluate: Callable[[Any], float], options: SSSStarOptions | None = None
    ) -> None:
        super().__init__(evaluate, replace(options or SSSStarOptions(), observe=self._list))

    def _list(self, states: Sequence[State]) -> None:
        first = states[0].label
        self.tell(Listed(first, len(first) % 2 == 0, tuple(states)))

    def search(self, game: Game[Move], *arguments: Any, **options: Any) -> Found[Move]:
        found = super().search(game, *arguments, **options)
        for label, bound in self._bounds.items():  # type: ignore[attr-defined]
            value = self._sign * bound  # type: ignore[attr-defined]
            self.tell(Returned(label, len(label) % 2 == 0, value))
        return found


class _ObservedBStar(_Observed[Move]):
    """B*: the nodes that are expanded, and before each all bounds that have changed."""

    def search(self, game: Game[Move], *arguments: Any, **options: Any) -> Found[Move]:
        self._told: dict[Label, b_star.Bounds] = {}
        self._tree: b_star.Node | None = None
        found = super().search(game, *arguments, **options)
        self._tell_changes()
        return found

    def _expand(
        self, game: Game[Move], cursor: Cursor[Move], node: b_star.Node, depth: int
    ) -> None:
        self._tree = self._tree or node
        self._tell_changes()
        self.tell(Entered(node.label, self._is_max(game), "expand"))
        super()._expand(game, cursor, node, depth)  # type: ignore[misc]

    def _tell_changes(self) -> None:
        nodes = [self._tree] if self._tree else []
        while nodes:
            node = nodes.pop(0)
            nodes += node.children
            bounds = node.pessimistic, node.optimistic
            if self._told.get(node.label) != bounds:
                self._told[node.label] = bounds
                maximises = len(node.label) % 2 == 0
                lower, upper = (-bounds[1], -bounds[0]) if maximises else bounds
                self.tell(Narrowed(node.label, maximises, lower, upper))


class _ObservedUCT(_Observed[Move]):
    """MCTS: each playout, and at the end what the tree holds."""

    def search(self, game: Game[Move], *arguments: Any, **options: Any) -> Found[Move]:
        self._first = game.turn
        found = super().search(game, *arguments, **options)
        if found.pv:
            with following(game) as self._path:
                self._tell_counts(game, self._root_node)
        return found

    def _tree(self, game: Game[Move]) -> Node[Move]:
        root: Node[Move] = super()._tree(game)  # type: ignore[misc]
        self._root_node = root
        # Where playouts have ended, by the nodes there: batches are judged later than reached.
        self._ends: dict[int, tuple[Label, bool]] = {}
        self._expanded = self._judged = False
        return root

    def _expand(self, game: Game[Move], path: list[Node[Move]], depth: int) -> None:
        selected = len(path)
        super()._expand(game, path, depth)  # type: ignore[misc]
        self._expanded = len(path) > selected
        self._ends[id(path[-1])] = self.label, self._is_max(game)

    def _known_reward(self, game: Game[Move], leaf: Node[Move], ply: int) -> float | None:
        self._ends[id(leaf)] = self.label, self._is_max(game)
        known: float | None = super()._known_reward(game, leaf, ply)  # type: ignore[misc]
        return known

    def _learn(self, *arguments: Any) -> None:
        self._judged = True
        super()._learn(*arguments)  # type: ignore[misc]
        self._judged = False

    def _backpropagate(
        self, path: list[Node[Move]], reward: float, played: list[tuple[int, Move]]
    ) -> None:
        super()._backpropagate(path, reward, played)  # type: ignore[misc]
        reward = -reward if self._first else reward
        leaf = path[-1]
        if self._judged:  # it got its children with its first visit; the root had them before
            self._expanded = leaf.visits == 1 and bool(leaf.children) and len(path) > 1
        self.tell(
            PlayedOut(
                *self._ends[id(leaf)], self._expanded, len(played), reward, judged=self._judged
            )
        )
        self._expanded = False

    def _tell_counts(self, game: Game[Move], node: Node[Move]) -> None:
        if not node.visits:
            return
        mean = node.mean() if node.player == self._first else -node.mean()
        self.tell(Counted(self.label, self._is_max(game), node.visits, mean))
        for child in node.children:
            game.play(child.move)
            self._tell_counts(game, child)
            game.undo()


def _nothing() -> None:
    """Stand for a method that an algorithm does not have."""
