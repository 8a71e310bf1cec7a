"""Watching any algorithm at work, step by step, without a word about it in the algorithms.

`observed(SomeSearch, tell)` is a sub-class that does exactly what the algorithm does and calls
`tell` with an Event at each step. It stands at the seams that all algorithms share: `_visit`,
`_leaf_value`, `_stand`, `_cut`, and the recursion, which is named `_value`, `_eval`, `_test` or
`_solve` and takes the game, the depth, the ply, and then its window. The best-first algorithms,
which have no recursion, are watched where they choose. A search that nobody watches pays nothing.

Nodes are named in Dewey's notation by the moves' places in `game.moves()`, from 1. Values and
windows are MAX's, who is to move at the root, whatever the algorithm's own point of view; they
are as they are inside the search, where ends outrank evaluations (see agent.search.terminal_scoring).
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from inspect import signature
from typing import Any, TypeVar

from agent.game import Game
from agent.search.algorithms import b_star
from agent.search.algorithms.alpha_beta import AlphaBeta
from agent.search.algorithms.b_star import BStar
from agent.search.algorithms.expectiminimax import Expectiminimax
from agent.search.algorithms.mcts import UCT
from agent.search.algorithms.sss_star import SSSStar, SSSStarOptions, State
from agent.search.algorithms.win_loss import LOSS, WIN
from agent.search.mcts_node import Node
from agent.search.search import Search, SearchResult
from agent.search.tree_cursor import Label, TreeCursor

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


EventHandler = Callable[[Event], None]


def traced(search_class: type[Search[Any]], emit: EventHandler) -> type[Search[Any]]:
    """Return a sub-class of an algorithm that tells what it does."""
    special: dict[Any, Any] = {
        SSSStar: _TracedSSSStar,
        BStar: _TracedBStar,
        UCT: _TracedUCT,
        AlphaBeta: _TracedAlphaBeta,
        Expectiminimax: _TracedExpectiminimax,
    }
    mixins = [mixin for base, mixin in special.items() if issubclass(search_class, base)]
    body: dict[str, Any] = {
        name: _traced_recursion(getattr(search_class, name))
        for name in RECURSIONS
        if "ply" in list(signature(getattr(search_class, name, _absent_method)).parameters)[:4]
    }
    body["tell"] = staticmethod(emit)
    return type(f"Observed{search_class.__name__}", (*(mixins or [_Traced]), search_class), body)


@contextmanager
def tracked_label(game: Game[Any]) -> Iterator[list[int]]:
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

    around = {"play": enter, "play_null_move": enter, "undo": leave}
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


class _Traced(Search[Move]):
    """The seams of every algorithm; a mix-in in front of the algorithm's class."""

    emit: EventHandler
    _path: Sequence[int] = ()

    def search(self, game: Game[Move], *arguments: Any, **options: Any) -> SearchResult[Move]:
        # For each node on the way to this one, the children that were entered from it.
        self._entered: list[set[Label]] = [set()]
        with tracked_label(game) as self._path:
            return super().search(game, *arguments, **options)

    @property
    def label(self) -> Label:
        """The node where the search is."""
        return tuple(self._path)

    def _visit(self, game: Game[Move], ply: int) -> None:
        super()._visit(game, ply)
        self.emit(Visited(self.label, self._is_max(game)))

    def _leaf_value(self, game: Game[Move], depth: int, ply: int) -> float | None:
        value = super()._leaf_value(game, depth, ply)
        if value is not None:
            maximises = self._is_max(game)
            self.emit(Evaluated(self.label, maximises, value if maximises else -value))
        return value

    def _record_cutoff(self, game: Game[Move], move: Move | None, depth: int, ply: int) -> None:
        super()._record_cutoff(game, move, depth, ply)
        number = 0 if move is None else list(game.moves()).index(move) + 1
        self.emit(CutOff(self.label, self._is_max(game), number))


def _traced_recursion(recursion: Callable[..., Any]) -> Callable[..., Any]:
    """Return the recursion with an event before and one after it."""
    bind = signature(recursion).bind

    @wraps(recursion)
    def telling(self: Any, game: Game[Any], *arguments: Any, **options: Any) -> Any:
        label, maximises = self.label, self._is_max(game)
        sign = -1 if self.mover_relative and not maximises else 1
        asked = bind(self, game, *arguments, **options).arguments
        again = label in self._entered[-1]
        self._entered[-1].add(label)
        procedure = recursion.__name__.lstrip("_")
        window, test = _window(asked, sign), _null_window_test(asked)
        self.emit(Entered(label, maximises, procedure, window, test, again))
        self._entered.append(set())
        hits = self.counts.table_hits
        value = recursion(self, game, *arguments, **options)
        children = self._entered.pop()
        remembered = self.counts.table_hits > hits and not children
        if procedure == "solve":
            value_for_max: float | bool = LOSS if value is None else WIN
        else:
            value_for_max = value if test else sign * value
        self.emit(Returned(label, maximises, value_for_max, remembered))
        return value

    return telling


def _window(asked: dict[str, Any], sign: int) -> tuple[float, float] | None:
    if not {"alpha", "beta"} <= asked.keys():
        return None
    alpha, beta = asked["alpha"], asked["beta"]
    return (alpha, beta) if sign > 0 else (-beta, -alpha)


def _null_window_test(asked: dict[str, Any]) -> tuple[str, float] | None:
    if not {"bound", "or_equal"} <= asked.keys():
        return None
    return "≥" if asked["or_equal"] else ">", asked["bound"]


class _TracedAlphaBeta(_Traced[Move]):
    """Alpha-beta: leaves that may be continued are evaluated too."""

    def _stand_pat(self, game: Game[Move], outcome: float | None, ply: int) -> float:
        value: float = super()._stand_pat(game, outcome, ply)  # type: ignore[misc]
        maximises = self._is_max(game)
        self.emit(Evaluated(self.label, maximises, value if maximises else -value))
        return value


class _TracedExpectiminimax(_Traced[Move]):
    """Expectiminimax: that it begins anew."""

    def _on_restart(self, win: float) -> None:
        self._entered = [set()]
        self.emit(BegunAnew((), True, win))


class _TracedSSSStar(_Traced[Move]):
    """SSS* and DUAL*: the open list before each step, and at the end the nodes' values."""

    def __init__(
        self, evaluate: Callable[[Any], float], options: SSSStarOptions | None = None
    ) -> None:
        super().__init__(evaluate, replace(options or SSSStarOptions(), observe=self._list))

    def _list(self, states: Sequence[State]) -> None:
        first = states[0].label
        self.emit(Listed(first, len(first) % 2 == 0, tuple(states)))

    def search(self, game: Game[Move], *arguments: Any, **options: Any) -> SearchResult[Move]:
        found = super().search(game, *arguments, **options)
        for label, bound in self._bounds.items():  # type: ignore[attr-defined]
            value = self._sign * bound  # type: ignore[attr-defined]
            self.emit(Returned(label, len(label) % 2 == 0, value))
        return found


class _TracedBStar(_Traced[Move]):
    """B*: the nodes that are expanded, and before each all bounds that have changed."""

    def search(self, game: Game[Move], *arguments: Any, **options: Any) -> SearchResult[Move]:
        self._emitted_bounds: dict[Label, b_star.Bounds] = {}
        self._tree: b_star.Node | None = None
        found = super().search(game, *arguments, **options)
        self._emit_changes()
        return found

    def _expand(
        self, game: Game[Move], cursor: TreeCursor[Move], node: b_star.Node, depth: int
    ) -> None:
        self._tree = self._tree or node
        self._emit_changes()
        self.emit(Entered(node.label, self._is_max(game), "expand"))
        super()._expand(game, cursor, node, depth)  # type: ignore[misc]

    def _emit_changes(self) -> None:
        nodes = [self._tree] if self._tree else []
        while nodes:
            node = nodes.pop(0)
            nodes += node.children
            bounds = node.pessimistic, node.optimistic
            if self._emitted_bounds.get(node.label) != bounds:
                self._emitted_bounds[node.label] = bounds
                maximises = len(node.label) % 2 == 0
                lower, upper = (-bounds[1], -bounds[0]) if maximises else bounds
                self.emit(Narrowed(node.label, maximises, lower, upper))


class _TracedUCT(_Traced[Move]):
    """MCTS: each playout, and at the end what the tree holds."""

    def search(self, game: Game[Move], *arguments: Any, **options: Any) -> SearchResult[Move]:
        self._root_player = game.turn
        found = super().search(game, *arguments, **options)
        if found.pv:
            with tracked_label(game) as self._path:
                self._emit_node_stats(game, self._root_node)
        return found

    def _tree(self, game: Game[Move]) -> Node[Move]:
        root: Node[Move] = super()._tree(game)  # type: ignore[misc]
        self._root_node = root
        # Where playouts have ended, by the nodes there: batches are judged later than reached.
        self._leaves: dict[int, tuple[Label, bool]] = {}
        self._expanded = self._batch_evaluated = False
        return root

    def _expand(self, game: Game[Move], path: list[Node[Move]], depth: int) -> None:
        selected = len(path)
        super()._expand(game, path, depth)  # type: ignore[misc]
        self._expanded = len(path) > selected
        self._leaves[id(path[-1])] = self.label, self._is_max(game)

    def _terminal_reward(self, game: Game[Move], leaf: Node[Move], ply: int) -> float | None:
        self._leaves[id(leaf)] = self.label, self._is_max(game)
        known: float | None = super()._terminal_reward(game, leaf, ply)  # type: ignore[misc]
        return known

    def _backup_leaves(self, *arguments: Any) -> None:
        self._batch_evaluated = True
        super()._backup_leaves(*arguments)  # type: ignore[misc]
        self._batch_evaluated = False

    def _backpropagate(
        self, path: list[Node[Move]], reward: float, played: list[tuple[int, Move]]
    ) -> None:
        super()._backpropagate(path, reward, played)  # type: ignore[misc]
        reward = -reward if self._root_player else reward
        leaf = path[-1]
        if (
            self._batch_evaluated
        ):  # it got its children with its first visit; the root had them before
            self._expanded = leaf.visits == 1 and bool(leaf.children) and len(path) > 1
        self.emit(
            PlayedOut(
                *self._leaves[id(leaf)],
                self._expanded,
                len(played),
                reward,
                judged=self._batch_evaluated,
            )
        )
        self._expanded = False

    def _emit_node_stats(self, game: Game[Move], node: Node[Move]) -> None:
        if not node.visits:
            return
        mean = node.mean() if node.player == self._root_player else -node.mean()
        self.emit(Counted(self.label, self._is_max(game), node.visits, mean))
        for child in node.children:
            game.play(child.move)
            self._emit_node_stats(game, child)
            game.undo()


def _absent_method() -> None:
    """Stand for a method that an algorithm does not have."""
