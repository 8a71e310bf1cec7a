"""The memory of a tree, for Python callers."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from agent.kernel.bits import U64
from agent.kernel.mcts_tree import (
    COLUMNS,
    DRAWN,
    GROWING,
    NO_NODE,
    NODE_BYTES,
    PLAYOUTS,
    ROOT,
    UNKNOWN,
    USED,
    VALUE_SCALE,
    NodeTree,
    clear,
    compact,
    most_visited,
    visit_threshold,
)
from agent.kernel.record import allocate
from agent.kernel.zeroed_memory import allocate_zeroed
from agent.machine import physical_memory

Move = TypeVar("Move")


class NodePool:
    """A tree of so many megabytes, empty at first; not to be read while threads make it grow.

    extra_words_per_node: what a game keeps of each node beside. Raises MemoryError if there is no room.
    """

    def __init__(self, megabytes: int, extra_words_per_node: int = 0) -> None:
        node_bytes = NODE_BYTES + 8 * extra_words_per_node
        capacity = megabytes * (1 << 20) // node_bytes
        try:
            if capacity * node_bytes > physical_memory():
                raise MemoryError
            extra_words = allocate_zeroed(8 * capacity * extra_words_per_node).view(np.int64)
            self.extra_words = extra_words.reshape(capacity, extra_words_per_node)
            self.columns: dict[str, npt.NDArray[Any]] = {
                name: allocate_zeroed(capacity * np.dtype(kind).itemsize).view(kind)
                for name, kind in COLUMNS.items()
            }
        except MemoryError:
            reason = f"no memory for a tree of {megabytes} MB; choose less (Hash, or --memory)"
            raise MemoryError(reason) from None
        self._counters = np.zeros(2, np.int64)
        self.tree, _ = allocate(NodeTree)
        for name, column in self.columns.items():
            setattr(self.tree, name, column.ctypes.data)
        self.tree.extra_words = U64(self.extra_words.ctypes.data)
        self.tree.extra_words_per_node = extra_words_per_node
        self.tree.counters = U64(self._counters.ctypes.data)
        self.tree.capacity = capacity
        self.clear()

    @property
    def playouts(self) -> int:
        """Playouts made or begun since this was last set."""
        return int(self._counters[PLAYOUTS])

    @playouts.setter
    def playouts(self, number: int) -> None:
        self._counters[PLAYOUTS] = number

    @property
    def state(self) -> int:
        """GROWING, FULL or SOLVED."""
        return int(self.tree.state)

    def clear(self) -> None:
        """Leave only a new root."""
        clear(self.tree)
        self.tree.state = GROWING

    def begin_search(self, root: int) -> None:
        """Let a search begin: at a node, which is made the root, or at a new root for NO_NODE.

        What was visited least is dropped where more than half the pool is in use.
        """
        if root == NO_NODE:
            self.clear()
        elif root != ROOT:
            self.set_root(root)
        if self.permille_used() > 500:
            self.prune()
        self.playouts = 0
        self.tree.state = GROWING

    def set_root(self, root: int) -> None:
        """Make a node the root and drop what does not hang below it."""
        compact(self.tree, root, 0)
        # A playout's end may have proven it without its moves, and a root must name one.
        self.columns["proven"][ROOT] = UNKNOWN

    def prune(self) -> None:
        """Drop what was visited least, until half the pool is free."""
        compact(
            self.tree, ROOT, visit_threshold(self.tree, int(self.tree.capacity) // 2 - ROOT - 1)
        )
        self.tree.state = GROWING

    def permille_used(self) -> int:
        """Return how full the pool is, in permille."""
        return int(self._counters[USED]) * 1000 // int(self.tree.capacity)

    def children(self, node: int) -> list[int]:
        """Return the children of a node, the oldest first."""
        firsts, siblings = self.columns["firsts"], self.columns["siblings"]
        found = []
        child = int(firsts[node])
        while child != NO_NODE:
            found.append(child)
            child = int(siblings[child])
        return found[::-1]

    def best_line(self, node: int) -> Iterator[int]:
        """Generate a node and the best ones below it, as far as they were visited."""
        yield node
        while (node := most_visited(self.tree, node)) != NO_NODE:
            yield node

    def find_node(self, line: Iterable[Move], read: Callable[[int], Move]) -> int:
        """Return the node that moves lead to from the root, NO_NODE if the tree ends before.

        read: returns the move of the kernel's number.
        """
        node = ROOT
        for move in line:
            found = (child for child in self.children(node) if read(self.move(child)) == move)
            node = next(found, NO_NODE)
            if node == NO_NODE:
                break
        return node

    def move(self, node: int) -> int:
        """Return the kernel's number of the move that leads to a node."""
        return int(self.columns["moves"][node])

    def visits(self, node: int) -> int:
        """Return the visits of a node."""
        return int(self.columns["visits"][node])

    def mean(self, node: int) -> float:
        """Return the mean value, for the side that moved there, of a node that has visits."""
        return float(self.columns["totals"][node]) / (VALUE_SCALE * self.visits(node))

    def prior(self, node: int) -> float:
        """Return the prior of the move that leads to a node."""
        return float(self.columns["priors"][node])

    def proven_score(self, node: int) -> int | None:
        """Return what is proven of a node, as a score for the side that moved there, if anything.

        Plies to a mate are counted from before that move; 0 is a draw.
        """
        proof = int(self.columns["proven"][node])
        if proof == UNKNOWN:
            return None
        if proof == DRAWN:
            return 0
        return 1 - proof if proof > 0 else -proof - 1
