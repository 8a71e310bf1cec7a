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
from agent.machine import usable_memory

Move = TypeVar("Move")


class NodePool:
    """An MCTS tree and its memory. Do not read the tree while other threads expand it.

    A game stores `extra_words_per_node` 64-bit words with each node. Raise `MemoryError` if there
    is not enough memory.
    """

    def __init__(self, megabytes: int, extra_words_per_node: int = 0) -> None:
        node_bytes = NODE_BYTES + 8 * extra_words_per_node
        capacity = megabytes * (1 << 20) // node_bytes
        try:
            if capacity * node_bytes > usable_memory():
                raise MemoryError
            extra_words = allocate_zeroed(8 * capacity * extra_words_per_node).view(np.int64)
            self.extra_words = extra_words.reshape(capacity, extra_words_per_node)
            self.columns: dict[str, npt.NDArray[Any]] = {
                name: allocate_zeroed(capacity * np.dtype(kind).itemsize).view(kind)
                for name, kind in COLUMNS.items()
            }
        except MemoryError:
            reason = f"not enough memory for a tree of {megabytes} MB (reduce Hash or --memory)"
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
        """The number of completed and running playouts since this number was last set."""
        return int(self._counters[PLAYOUTS])

    @playouts.setter
    def playouts(self, n: int) -> None:
        self._counters[PLAYOUTS] = n

    @property
    def state(self) -> int:
        """The state of the tree: GROWING, FULL or SOLVED."""
        return int(self.tree.state)

    def clear(self) -> None:
        clear(self.tree)
        self.tree.state = GROWING

    def begin_search(self, root: int) -> None:
        """Prepare a search with the node `root` as the new root. NO_NODE clears the tree.

        If more than half of the pool is used, the least visited nodes are removed.
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
        compact(self.tree, root, 0)
        # A proven leaf may have no children, but a root needs a best move.
        self.columns["proven"][ROOT] = UNKNOWN

    def prune(self) -> None:
        """Remove the least visited nodes until half of the pool is free."""
        compact(
            self.tree, ROOT, visit_threshold(self.tree, int(self.tree.capacity) // 2 - ROOT - 1)
        )
        self.tree.state = GROWING

    def permille_used(self) -> int:
        return int(self._counters[USED]) * 1000 // int(self.tree.capacity)

    def children(self, node: int) -> list[int]:
        """Return the children of a node, oldest first."""
        firsts, siblings = self.columns["firsts"], self.columns["siblings"]
        children = []
        child = int(firsts[node])
        while child != NO_NODE:
            children.append(child)
            child = int(siblings[child])
        return children[::-1]

    def best_line(self, node: int) -> Iterator[int]:
        """Yield `node` and its line of most visited children, up to the last visited node."""
        yield node
        while (node := most_visited(self.tree, node)) != NO_NODE:
            yield node

    def find_node(self, line: Iterable[Move], read: Callable[[int], Move]) -> int:
        """Return the node after the moves of `line`, or NO_NODE. `read` decodes a node's move."""
        node = ROOT
        for move in line:
            matches = (child for child in self.children(node) if read(self.move(child)) == move)
            node = next(matches, NO_NODE)
            if node == NO_NODE:
                break
        return node

    def move(self, node: int) -> int:
        """Return the move that leads to a node, in the encoding of the compiled search."""
        return int(self.columns["moves"][node])

    def visits(self, node: int) -> int:
        return int(self.columns["visits"][node])

    def mean(self, node: int) -> float:
        """Return the mean value of a visited node for the side that moved to it."""
        return float(self.columns["totals"][node]) / (VALUE_SCALE * self.visits(node))

    def prior(self, node: int) -> float:
        return float(self.columns["priors"][node])

    def proven_score(self, node: int) -> int | None:
        """Return the proven score of a node for the side that moved to it, or None.

        A draw is 0. Distances to mate are counted from the position before that move.
        """
        proof = int(self.columns["proven"][node])
        if proof == UNKNOWN:
            return None
        if proof == DRAWN:
            return 0
        return 1 - proof if proof > 0 else -proof - 1
