"""Step-by-step tracing of any search algorithm.

`traced` gives a search a Tracer, which the algorithm calls at each step, and which calls a function
with an Event.

Nodes are named in Dewey notation, by the indices of moves in `game.moves()`, starting at 1. Values
and windows are internal values for MAX, the player to move at the root. In these values, wins
outrank evaluations (see agent.search.terminal_scoring).
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from inspect import getmembers, signature
from math import inf
from typing import Any, TypeVar

from agent.game import Game
from agent.io.message import Message
from agent.search.algorithms import b_star
from agent.search.algorithms.sss_star import State
from agent.search.algorithms.win_loss import LOSS, WIN
from agent.search.mcts_node import Node
from agent.search.search import Search
from agent.search.tree_cursor import Label

AnySearch = TypeVar("AnySearch", bound=Search[Any])


@dataclass(frozen=True, slots=True)
class Event:
    """An event at a node. `maximises` is true if MAX is to move at the node."""

    label: Label
    maximises: bool

    @property
    def mover(self) -> str:
        return "MAX" if self.maximises else "MIN"


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

    def meaning(self, value: float | bool) -> tuple[str, float]:
        """Return what a value tells about the node: a relation such as "≥", and a number."""
        if self.test is not None:
            sign, bound = self.test
            return sign if value else {"≥": "<", ">": "≤"}[sign], bound
        alpha, beta = self.window or (-inf, inf)
        return "≤" if -inf < value <= alpha else "≥" if beta <= value < inf else "", value


@dataclass(frozen=True, slots=True)
class Evaluated(Event):
    """The node is a leaf with this value."""

    value: float


@dataclass(frozen=True, slots=True)
class CutOff(Event):
    """Move number `by` caused a cut-off. Numbers start at 1, and 0 is a null move."""

    by: int


@dataclass(frozen=True, slots=True)
class Restarted(Event):
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
    """SSS* is about to take the first state from its open list `states`.

    The bounds in the list of DUAL* are negated: `sign` is -1.
    """

    states: tuple[State, ...]
    sign: int = 1

    def states_for_max(self) -> tuple[State, ...]:
        """Return the states with their bounds for MAX."""
        return tuple(state._replace(bound=self.sign * state.bound) for state in self.states)


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
    - `cut`: whether the playout ended at the maximum depth, where the position was evaluated.
    """

    expanded: bool
    length: int
    reward: float
    judged: bool = False
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Drawn(Event):
    """MCTS drew event number `by` of the chance node, from 1."""

    by: int


@dataclass(frozen=True, slots=True)
class Counted(Event):
    """The final number of visits of a node in MCTS, and its mean reward for MAX."""

    visits: int
    mean: float


# The events below are reported only in detail.


@dataclass(frozen=True, slots=True)
class Stored(Event):
    """A table entry was stored: bounds on the value of the node for MAX, at `depth` plies.

    `row` is the index of the entry, counted from 0. The index of an entry never changes.
    """

    row: int
    depth: int
    lower: float
    upper: float


@dataclass(frozen=True, slots=True)
class Guessed(Event):
    """Best-node search is about to test which of `moves` moves reach the guess."""

    guess: float
    moves: int


@dataclass(frozen=True, slots=True)
class OpenListChanged(Event):
    """SSS* is about to take `state`, the first state in its open list.

    `added` contains the states inserted in the previous step. Detailed traces contain this event
    instead of `Listed`.
    """

    state: State
    added: tuple[State, ...]


@dataclass(frozen=True, slots=True)
class ChildStats:
    """Statistics of a child at selection. `place` is the index of the move, counted from 1.

    Rewards are for the player who makes the move. `bound` is the upper confidence bound. `prior` is
    the prior probability of the move, or None.
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
    the player who made the move to the node. `children` contains the new statistics of the children
    of each of these nodes, or an empty tuple for a node without a selection.
    """

    totals: tuple[tuple[int, float], ...]
    children: tuple[tuple[ChildStats, ...], ...] = ()


EventHandler = Callable[[Event], None]


def traced(search: AnySearch, emit: EventHandler, *, detailed: bool = False) -> AnySearch:
    """Make a search call `emit` with an event at each step, and return the search."""
    tracer = search.tracer = Tracer(search, emit, detailed)
    for name, _ in getmembers(type(search), lambda member: hasattr(member, "is_recursion")):
        setattr(search, name, tracer.trace_recursion(getattr(search, name)))
    search.search = tracer.trace_labels(search.search)  # type: ignore[method-assign]
    return search


@contextmanager
def tracked_label(game: Game[Any]) -> Iterator[list[int]]:
    """Yield the label of the current position, which `play` and `undo` update.

    Raise TypeError if the methods of the game cannot be replaced.
    """
    label: list[int] = []
    play, undo = game.play, game.undo

    def tracked_play(move: Any) -> None:
        label.append(1 + list(game.moves()).index(move))
        play(move)

    def tracked_undo() -> None:
        undo()
        label.pop()

    methods: dict[str, Callable[..., None]] = {"play": tracked_play, "undo": tracked_undo}
    if (play_null_move := getattr(game, "play_null_move", None)) is not None:

        def tracked_null_move() -> None:
            label.append(0)
            del game.play  # which may be how the game passes
            play_null_move()
            game.play = tracked_play  # type: ignore[method-assign]

        methods["play_null_move"] = tracked_null_move
    try:
        for name, method in methods.items():
            setattr(game, name, method)
    except AttributeError:
        raise TypeError(
            Message(
                "{}: cannot be traced (its class has __slots__ without __dict__)",
                type(game).__name__,
            )
        ) from None
    try:
        yield label
    finally:
        for name in methods:
            delattr(game, name)


class Tracer:
    """The observer of one search, which emits an event for each step that the search reports."""

    def __init__(self, search: Search[Any], emit: EventHandler, detailed: bool) -> None:
        # Any, because each algorithm calls only the methods about its own steps.
        self._search: Any = search
        self._emit, self._detailed = emit, detailed

    def trace_labels(self, search: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap the method `search` so that the label of the current position is tracked."""

        def traced_search(game: Game[Any], *arguments: Any, **options: Any) -> Any:
            self._game = game
            # For each node on the path, the children that were entered from it.
            self._entered: list[set[Label]] = [set()]
            # Index and content of each table entry.
            self._rows: dict[Hashable, tuple[int, object]] = {}
            self._inserted: list[State] = []
            self._bounds: dict[Label, b_star.Bounds] = {}
            # What is known of the node where each playout ended. A batch is evaluated only after
            # all its leaves were reached.
            self._leaves: dict[int, tuple[Label, bool, bool, bool]] = {}
            # The number of each move, from 1, at the nodes of MCTS where one was selected.
            self._places: dict[int, dict[Any, int]] = {}
            self._is_cut = False
            with tracked_label(game) as self._path:
                return search(game, *arguments, **options)

        return traced_search

    def trace_recursion(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a recursive method so that its calls and returned values are reported."""
        procedure = method.__name__.lstrip("_")
        bound_names = tuple(signature(method).parameters)[3:]

        def traced_call(game: Game[Any], depth: int, ply: int, *bounds: Any) -> Any:
            label, maximises = self._node()
            sign = -1 if self._search.mover_relative and not maximises else 1
            window: tuple[float, float] | None = None
            test: tuple[str, float] | None = None
            if bound_names == ("alpha", "beta"):
                window = bounds if sign > 0 else (-bounds[1], -bounds[0])
            elif bound_names == ("bound", "or_equal"):
                test = "≥" if bounds[1] else ">", bounds[0]
            again = label in self._entered[-1]
            self._entered[-1].add(label)
            self._emit(Entered(label, maximises, procedure, window, test, again))
            self._entered.append(set())
            hits = self._search.counts.table_hits
            value = method(game, depth, ply, *bounds)
            children = self._entered.pop()
            remembered = self._search.counts.table_hits > hits and not children
            if procedure == "solve":
                value_for_max: float | bool = LOSS if value is None else WIN
            else:
                value_for_max = value if test else sign * value
            self._emit(Returned(label, maximises, value_for_max, remembered))
            return value

        return traced_call

    def visited(self) -> None:
        self._emit(Visited(*self._node()))

    def evaluated(self, value: float) -> None:
        """Report a leaf, with its value for the player to move."""
        label, maximises = self._node()
        self._emit(Evaluated(label, maximises, value if maximises else -value))

    def cut_off(self, move: Any | None) -> None:
        self._emit(CutOff(*self._node(), 0 if move is None else self._place(move)))

    def restarted(self, win: float) -> None:
        self._entered = [set()]
        self._emit(Restarted((), True, win))

    def cleared_table(self) -> None:
        self._rows = {}

    def stored(
        self,
        key: Hashable,
        depth: int,
        lower: float,
        upper: float,
        move: Any | None = None,
    ) -> None:
        """Report a table entry if it has changed.

        The bounds are for MAX, or for the player to move if the search is `mover_relative`.
        """
        if not self._detailed:
            return
        label, maximises = self._node()
        if self._search.mover_relative and not maximises:
            lower, upper = -upper, -lower
        content = depth, lower, upper, move
        row, previous = self._rows.get(key, (len(self._rows), None))
        if content != previous:
            self._rows[key] = row, content
            self._emit(Stored(label, maximises, row, depth, lower, upper))

    def guessed(self, guess: float, moves: int) -> None:
        if self._detailed:
            self._emit(Guessed((), True, guess, moves))

    def inserted(self, state: State) -> None:
        self._inserted.append(state)

    def listed(self, states: Sequence[State]) -> None:
        """Report the open list of SSS* before a step. A detailed trace reports only its changes."""
        first = states[0]
        node = first.label, len(first.label) % 2 == 0
        if self._detailed:
            self._emit(OpenListChanged(*node, first, tuple(self._inserted)))
            self._inserted = []
        else:
            self._emit(Listed(*node, tuple(states), self._search._sign))

    def solved(self, bounds: dict[Label, float], sign: int) -> None:
        for label, bound in bounds.items():
            self._emit(Returned(label, len(label) % 2 == 0, sign * bound))

    def expanding(self, root: b_star.Node) -> None:
        """Report that B* is about to expand the node of the current position."""
        self.narrowed(root)
        self._emit(Entered(*self._node(), "expand"))

    def narrowed(self, root: b_star.Node) -> None:
        """Report all bounds in the tree of B* that have changed."""
        nodes = [root]
        for node in nodes:
            nodes += node.children
            bounds = node.pessimistic, node.optimistic
            if self._bounds.get(node.label) != bounds:
                self._bounds[node.label] = bounds
                maximises = len(node.label) % 2 == 0
                lower, upper = (-bounds[1], -bounds[0]) if maximises else bounds
                self._emit(Narrowed(node.label, maximises, lower, upper))

    def selected(self, parent: Node[Any], chosen: Node[Any]) -> None:
        if self._detailed:
            places = {move: place for place, move in enumerate(self._game.moves(), 1)}
            self._places[id(parent)] = places
            self._emit(Selected(*self._node(), self._child_stats(parent), places[chosen.move]))

    def drawn(self, event: Node[Any]) -> None:
        self._emit(Drawn(*self._node(), self._place(event.move)))

    def _child_stats(self, parent: Node[Any]) -> tuple[ChildStats, ...]:
        places = self._places.get(id(parent))
        if places is None:
            return ()
        return tuple(
            ChildStats(
                *(places[child.move], child.visits, child.total),
                *(self._search.upper_bound(parent, child), child.prior),
            )
            for child in parent.children
        )

    def reached(self, leaf: Node[Any], *, expanded: bool = False, judged: bool = False) -> None:
        """Note the position of the node where a playout begins."""
        self._leaves[id(leaf)] = *self._node(), expanded, judged

    def simulated(self, game: Game[Any]) -> None:
        """Note whether a playout ended before the game, whose position is the last one."""
        self._is_cut = game.outcome() is None

    def backed_up(self, path: list[Node[Any]], reward: float, length: int) -> None:
        """Report a playout of `length` moves, with the reward for player 0."""
        leaf = path[-1]
        label, maximises, expanded, judged = self._leaves[id(leaf)]
        if judged:  # a new leaf gets its children at the first visit; the root has them already
            expanded = leaf.visits == 1 and bool(leaf.children) and len(path) > 1
        reward = -reward if self._search._max_player else reward
        cut, self._is_cut = self._is_cut, False
        self._emit(PlayedOut(label, maximises, expanded, length, reward, judged, cut))
        if self._detailed:
            totals = tuple((node.visits, node.total) for node in path)
            children = tuple(map(self._child_stats, path))
            self._emit(BackedUp(label, maximises, totals, children))

    def counted(self, node: Node[Any]) -> None:
        """Report the statistics of all visited nodes below this node."""
        if node.visits:
            mean = node.mean() if node.player == self._search._max_player else -node.mean()
            self._emit(Counted(*self._node(), node.visits, mean))
            for child in node.children:
                self._game.play(child.move)
                self.counted(child)
                self._game.undo()

    def _node(self) -> tuple[Label, bool]:
        return tuple(self._path), self._search._is_max(self._game)

    def _place(self, move: Any) -> int:
        return list(self._game.moves()).index(move) + 1
