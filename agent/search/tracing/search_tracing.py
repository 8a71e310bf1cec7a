"""Step-by-step tracing of any search algorithm, without changes to the algorithm.

`traced` returns a subclass that calls a function with an Event at each step. The subclass overrides
the methods shared by all algorithms: `_visit`, `_leaf_value`, `_stand_pat` and `_record_cutoff`. It
also wraps the recursive method, which is named `_value`, `_eval`, `_test` or `_solve` and takes the
game, the depth, the ply and the window, if any. Best-first algorithms are traced where they choose
a node.

Nodes are named in Dewey notation, by the indices of moves in `game.moves()`, starting at 1. Values
and windows are internal values for MAX, the player to move at the root. In these values, wins
outrank evaluations (see agent.search.terminal_scoring).
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
    """An event at a node. `maximises` is true if MAX is to move at the node."""

    label: Label
    maximises: bool


@dataclass(frozen=True, slots=True)
class Visited(Event):
    """The search counted the node as visited."""


@dataclass(frozen=True, slots=True)
class Entered(Event):
    """The recursive method was called for the node, with a window (alpha, beta) or None.

    `test` is the comparison that SCOUT makes instead of using a window, such as ("≥", 5). `again`
    is true if the node was entered before from the same parent.
    """

    procedure: str
    window: tuple[float, float] | None = None
    test: tuple[str, float] | None = None
    again: bool = False


@dataclass(frozen=True, slots=True)
class Evaluated(Event):
    """The node is a leaf with this value."""

    value: float


@dataclass(frozen=True, slots=True)
class CutOff(Event):
    """Move number `by` caused a cut-off. Numbers start at 1, and 0 is a null move."""

    by: int


@dataclass(frozen=True, slots=True)
class BegunAnew(Event):
    """Expectiminimax restarts with the greater value `win` for a win."""

    win: float


@dataclass(frozen=True, slots=True)
class Returned(Event):
    """The recursive method returned this value for the node, or whether a test succeeded.

    `remembered` is true if the value comes from a table, without a search of the node.
    """

    value: float | bool
    remembered: bool = False


@dataclass(frozen=True, slots=True)
class Listed(Event):
    """SSS* is about to take the first state from its open list `states`."""

    states: tuple[State, ...]


@dataclass(frozen=True, slots=True)
class Narrowed(Event):
    """B* has narrowed the bounds on the value of the node."""

    lower: float
    upper: float


@dataclass(frozen=True, slots=True)
class PlayedOut(Event):
    """MCTS ran a playout from this node, the last node that was selected.

    - `expanded`: whether the node is new.
    - `length`: the number of moves in the playout.
    - `reward`: the result of the playout for MAX, from -1 to 1.
    - `judged`: whether a batched evaluation replaced the playout.
    """

    expanded: bool
    length: int
    reward: float
    judged: bool = False


@dataclass(frozen=True, slots=True)
class Counted(Event):
    """The final number of visits of a node in MCTS, and its mean reward for MAX."""

    visits: int
    mean: float


EventHandler = Callable[[Event], None]


def traced(search_class: type[Search[Any]], emit: EventHandler) -> type[Search[Any]]:
    """Return a subclass of an algorithm that reports its steps to `emit`."""
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
    body["emit"] = staticmethod(emit)
    return type(f"Traced{search_class.__name__}", (*(mixins or [_Traced]), search_class), body)


@contextmanager
def tracked_label(game: Game[Any]) -> Iterator[list[int]]:
    """Yield the label of the current position, which `play` and `undo` update.

    Raise TypeError if the methods of the game cannot be replaced.
    """
    label: list[int] = []
    passing = False

    def enter(play: Callable[..., None]) -> Callable[..., None]:
        def entering(*move: Any) -> None:
            nonlocal passing
            if passing:  # a game may implement passing as a null move
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

    wrappers = {"play": enter, "play_null_move": enter, "undo": leave}
    present = {name: wrap for name, wrap in wrappers.items() if hasattr(game, name)}
    try:
        for name, wrap in present.items():
            setattr(game, name, wrap(getattr(game, name)))
    except AttributeError:
        raise TypeError(
            f"{type(game).__name__}: cannot be traced (its class has __slots__ without __dict__)"
        ) from None
    try:
        yield label
    finally:
        for name in present:
            delattr(game, name)


class _Traced(Search[Move]):
    """Mix-in that traces the methods shared by all algorithms. It must be the first base class."""

    emit: EventHandler
    _path: Sequence[int] = ()

    def search(self, game: Game[Move], *arguments: Any, **options: Any) -> SearchResult[Move]:
        # For each node on the path, the children that were entered from it.
        self._entered: list[set[Label]] = [set()]
        with tracked_label(game) as self._path:
            return super().search(game, *arguments, **options)

    @property
    def label(self) -> Label:
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
        index = 0 if move is None else list(game.moves()).index(move) + 1
        self.emit(CutOff(self.label, self._is_max(game), index))


def _traced_recursion(recursion: Callable[..., Any]) -> Callable[..., Any]:
    bind = signature(recursion).bind

    @wraps(recursion)
    def traced_call(self: Any, game: Game[Any], *arguments: Any, **options: Any) -> Any:
        label, maximises = self.label, self._is_max(game)
        sign = -1 if self.mover_relative and not maximises else 1
        bound = bind(self, game, *arguments, **options).arguments
        again = label in self._entered[-1]
        self._entered[-1].add(label)
        procedure = recursion.__name__.lstrip("_")
        window, test = _window(bound, sign), _null_window_test(bound)
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

    return traced_call


def _window(arguments: dict[str, Any], sign: int) -> tuple[float, float] | None:
    if not {"alpha", "beta"} <= arguments.keys():
        return None
    alpha, beta = arguments["alpha"], arguments["beta"]
    return (alpha, beta) if sign > 0 else (-beta, -alpha)


def _null_window_test(arguments: dict[str, Any]) -> tuple[str, float] | None:
    if not {"bound", "or_equal"} <= arguments.keys():
        return None
    return "≥" if arguments["or_equal"] else ">", arguments["bound"]


class _TracedAlphaBeta(_Traced[Move]):
    """Alpha-beta with events for stand-pat scores of quiescence search."""

    def _stand_pat(self, game: Game[Move], outcome: float | None, ply: int) -> float:
        value: float = super()._stand_pat(game, outcome, ply)  # type: ignore[misc]
        maximises = self._is_max(game)
        self.emit(Evaluated(self.label, maximises, value if maximises else -value))
        return value


class _TracedExpectiminimax(_Traced[Move]):
    def _on_restart(self, win: float) -> None:
        self._entered = [set()]
        self.emit(BegunAnew((), True, win))


class _TracedSSSStar(_Traced[Move]):
    """SSS* and DUAL* with events for the open list at each step and final node values."""

    def __init__(
        self, evaluate: Callable[[Any], float], options: SSSStarOptions | None = None
    ) -> None:
        super().__init__(
            evaluate, replace(options or SSSStarOptions(), observe=self._emit_open_list)
        )

    def _emit_open_list(self, states: Sequence[State]) -> None:
        first = states[0].label
        self.emit(Listed(first, len(first) % 2 == 0, tuple(states)))

    def search(self, game: Game[Move], *arguments: Any, **options: Any) -> SearchResult[Move]:
        result = super().search(game, *arguments, **options)
        for label, bound in self._bounds.items():  # type: ignore[attr-defined]
            value = self._sign * bound  # type: ignore[attr-defined]
            self.emit(Returned(label, len(label) % 2 == 0, value))
        return result


class _TracedBStar(_Traced[Move]):
    """B* with events for expanded nodes, and for changed bounds before each expansion."""

    def search(self, game: Game[Move], *arguments: Any, **options: Any) -> SearchResult[Move]:
        self._emitted_bounds: dict[Label, b_star.Bounds] = {}
        self._tree: b_star.Node | None = None
        result = super().search(game, *arguments, **options)
        self._emit_changes()
        return result

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
    """MCTS with events for each playout, and for the statistics of the tree at the end."""

    def search(self, game: Game[Move], *arguments: Any, **options: Any) -> SearchResult[Move]:
        self._root_player = game.turn
        result = super().search(game, *arguments, **options)
        if result.pv:
            with tracked_label(game) as self._path:
                self._emit_node_stats(game, self._root_node)
        return result

    def _tree(self, game: Game[Move]) -> Node[Move]:
        root: Node[Move] = super()._tree(game)  # type: ignore[misc]
        self._root_node = root
        # Label of the node where each playout ended, and whether it is new. A batch is evaluated
        # only after all its leaves were reached.
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
        terminal: float | None = super()._terminal_reward(game, leaf, ply)  # type: ignore[misc]
        return terminal

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
        ):  # a new leaf gets its children at the first visit; the root has them already
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
    """Stand in for a method that an algorithm does not have."""
