"""SSS*, a best-first search of solution trees that uses Stockman's open list of states.

Sources: G. Stockman, 'A minimax algorithm better than alpha-beta?' (1979); the lecture notes 'Tema
2: Búsqueda en juegos'; for DUAL*, T. Marsland, A. Reinefeld and J. Schaeffer, 'Low overhead
alternatives to SSS*' (1987).
"""

from bisect import insort
from collections.abc import Callable
from math import inf
from typing import NamedTuple, TypeVar

from agent.game import Game
from agent.search.search import Search
from agent.search.tree_cursor import Label, TreeCursor

Move = TypeVar("Move")


class State(NamedTuple):
    """A state of SSS*: a node, whether it is solved or live, and an upper bound on its value."""

    label: Label
    solved: bool
    bound: float


class SSSStar(Search[Move]):
    """SSS* search, which always continues with the leftmost state that has the greatest bound.

    `counts.peak_open` is the maximum length of the open list.
    """

    name = "sss-star"
    # 1 if the root maximises. -1 if the root minimises; values are then negated.
    _sign = 1

    def _root(self, game: Game[Move], depth: int) -> float:
        cursor = TreeCursor(game)
        self._bounds: dict[Label, float] = {}
        self._open: list[State] = []
        self._insert(State((), False, inf))
        while True:
            self.counts.peak_open = max(self.counts.peak_open, len(self._open))
            if self.tracer is not None:
                self.tracer.listed(self._open)
            state = self._open.pop(0)
            if not state.solved:
                cursor.go_to(state.label)
                self._expand(game, cursor, state, depth - len(state.label))
                continue
            self._bounds[state.label] = state.bound
            if not state.label:
                break
            self._propagate_to_parent(cursor, state)
        if self.tracer is not None:
            self.tracer.solved(self._bounds, self._sign)
        cursor.go_to(())
        self._pv_table[0] = self._variation(cursor)
        return self._sign * state.bound

    def _expand(self, game: Game[Move], cursor: TreeCursor[Move], state: State, depth: int) -> None:
        label, _, bound = state
        leaf = self._leaf_for_max(game, depth, len(label))
        if leaf is not None:
            self._insert(State(label, True, min(bound, self._sign * leaf)))
            return
        cursor.moves[label] = self._moves(game, len(label))
        children = len(cursor.moves[label]) if self._maximises(label) else 1
        for index in range(1, children + 1):
            self._insert(State((*label, index), False, bound))

    def _propagate_to_parent(self, cursor: TreeCursor[Move], state: State) -> None:
        label, _, bound = state
        parent, index = label[:-1], label[-1]
        if self._maximises(parent):
            others = [other for other in self._open if other.label[: len(parent)] != parent]
            self.counts.cutoffs += len(others) < len(self._open)
            self._open = others
            self._insert(State(parent, True, bound))
        elif index < len(cursor.moves[parent]):
            self._insert(State((*parent, index + 1), False, bound))
        else:
            self._insert(State(parent, True, bound))

    def _insert(self, state: State) -> None:
        insort(self._open, state, key=open_list_key)
        if self.tracer is not None:
            self.tracer.inserted(state)

    def _maximises(self, label: Label) -> bool:
        return (len(label) % 2 == 0) == (self._sign > 0)

    def _variation(self, cursor: TreeCursor[Move]) -> tuple[Move, ...]:
        label: Label = ()
        line = []
        while label in cursor.moves:
            moves = cursor.moves[label]
            bounds = [self._bounds.get((*label, number)) for number in range(1, len(moves) + 1)]
            index = bounds.index(self._bounds[label])
            line.append(moves[index])
            label = (*label, index + 1)
        return tuple(line)


class DualStar(SSSStar[Move]):
    """DUAL* search, which is SSS* with MAX and MIN exchanged. Bounds rise towards the value."""

    name = "dual-star"
    _sign = -1


def write_state(
    state: State,
    number: Callable[[float], str] = "{:g}".format,
    name: Callable[[Label], str] = lambda label: ".".join(map(str, label)) or "ε",
) -> str:
    """Return a state in the notation of the lecture notes.

    "(2.1, V, 15)" is a live state, and "(2.1, S, 15)" a solved state. `number` formats the bound,
    and `name` the node.
    """
    bound = "∞" if state.bound == inf else number(state.bound)
    return f"({name(state.label)}, {'S' if state.solved else 'V'}, {bound})"


def open_list_key(state: State) -> tuple[float, Label]:
    """Return the key that sorts the open list by decreasing bound, then from left to right."""
    return -state.bound, state.label
