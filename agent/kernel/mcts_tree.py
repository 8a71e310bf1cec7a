"""The tree of Monte Carlo tree search, stored in arrays in a pool of fixed size.

A node is an index into several arrays, the columns. NO_NODE means no node, and ROOT is the root.
The children of a node form a linked list with the newest child first. A child is added when its
move is first tried, and its index is higher than its parent's. One pass over the pool therefore
finds a subtree, and another pass moves it to the front.

Columns by node:
  moves     the move that leads to the node
  firsts    the newest child of the node
  siblings  the next older child of the same parent
  visits    playouts through the node, including running ones
  totals    sum of the playout values, for the side that moved to the node, times VALUE_SCALE
  priors    prior probability of the move; the priors of all moves of a position sum to 1
  untried   highest prior of the moves that are not children yet; NOT_EXPANDED before the first
            child is added, EXHAUSTED after the last one
  proven    mate score for the side to move, in plies from the node; else DRAWN or UNKNOWN
  marks     lock, set while a thread adds a child; scratch space in `compact`

A game can add 64-bit words to each node, which are initially 0.
"""

import numba
import numpy as np

from agent.kernel.atomic_columns import (
    FLOAT32,
    INT16,
    INT32,
    INT64,
    atomic_adder,
    atomic_exchanger,
    reader,
    writer,
)
from agent.kernel.decorators import entry_point, kernel
from agent.kernel.intrinsics import U64, Bits, at_address, int64, load, store
from agent.kernel.record import record
from agent.kernel.scores import MATE_BOUND

NO_NODE, ROOT = 0, 1
VALUE_SCALE = 1 << 20  # value of a win in the column `totals`
NOT_EXPANDED, EXHAUSTED = 2.0, 0.0  # values of the column `untried`
UNKNOWN, DRAWN = 0, 1  # values of the column `proven`
GROWING, FULL, SOLVED = range(3)  # states of a tree

COLUMNS: dict[str, type[np.generic]] = {
    "moves": np.int32,
    "firsts": np.int32,
    "siblings": np.int32,
    "visits": np.int32,
    "totals": np.int64,
    "priors": np.float32,
    "untried": np.float32,
    "proven": np.int16,
    "marks": np.int32,
}
NODE_BYTES = sum(np.dtype(kind).itemsize for kind in COLUMNS.values())

# Indices of the counters.
USED, PLAYOUTS = 0, 1


@record
class NodeTree:
    """A search tree, given by the addresses of its columns and the search parameters."""

    moves: Bits  # addresses of the columns
    firsts: Bits
    siblings: Bits
    visits: Bits
    totals: Bits
    priors: Bits
    untried: Bits
    proven: Bits
    marks: Bits
    extra_words: Bits
    extra_words_per_node: int
    counters: Bits  # address of two counters: nodes used (including NO_NODE), and playouts
    capacity: int  # nodes
    goal: int  # number of playouts to run
    state: int  # GROWING, or no more playouts are possible: FULL or SOLVED
    stop_at_proven_root: int  # 1: SOLVED once the root is proven; 0: once all root moves are
    exploration: float  # the constant of PUCT
    fpu_reduction: float  # first play urgency: an untried move has the parent's value minus this


tree_at = at_address(NodeTree)

_read_int16, _write_int16 = reader(INT16), writer(INT16)
_read_int32, _write_int32 = reader(INT32), writer(INT32)
_add_int32, _exchange_int32 = atomic_adder(INT32), atomic_exchanger(INT32)
_read_int64, _write_int64, add_int64 = reader(INT64), writer(INT64), atomic_adder(INT64)
_read_float32, _write_float32 = reader(FLOAT32), writer(FLOAT32)


@kernel
def move_to(tree: NodeTree, node: int) -> int:
    return _read_int32(tree.moves, node)


@kernel
def first_child(tree: NodeTree, node: int) -> int:
    """Return the newest child of a node, or NO_NODE."""
    return _read_int32(tree.firsts, node)


@kernel
def next_child(tree: NodeTree, node: int) -> int:
    """Return the next older child of the same parent, or NO_NODE."""
    return _read_int32(tree.siblings, node)


@kernel
def visits_of(tree: NodeTree, node: int) -> int:
    """Return the number of playouts through a node, including running playouts."""
    return _read_int32(tree.visits, node)


@kernel
def mean_value(tree: NodeTree, node: int) -> float:
    """Return the mean value of a visited node for the side that moved to it."""
    return _read_int64(tree.totals, node) / (VALUE_SCALE * _read_int32(tree.visits, node))


@kernel
def prior_of(tree: NodeTree, node: int) -> float:
    return _read_float32(tree.priors, node)


@kernel
def set_prior(tree: NodeTree, node: int, prior: float) -> None:
    _write_float32(tree.priors, node, prior)


@kernel
def untried_prior(tree: NodeTree, node: int) -> float:
    """Return the highest prior of the moves that are not children of the node yet."""
    return _read_float32(tree.untried, node)


@kernel
def proof_of(tree: NodeTree, node: int) -> int:
    return _read_int16(tree.proven, node)


@kernel
def set_proof(tree: NodeTree, node: int, proof: int) -> None:
    _write_int16(tree.proven, node, proof)


@kernel
def count_playouts(tree: NodeTree, n: int) -> int:
    """Add `n` to the number of playouts, and return the old number."""
    return add_int64(tree.counters, PLAYOUTS, n)


@kernel
def add_virtual_loss(tree: NodeTree, node: int) -> int:
    """Add a visit to a node, count it as a loss for now, and return the old number of visits.

    `record_value` later replaces the virtual loss. Source: Chaslot, Winands and van den Herik,
    'Parallel Monte-Carlo tree search', 2008.
    """
    add_int64(tree.totals, node, -VALUE_SCALE)
    return _add_int32(tree.visits, node, 1)


@kernel
def record_value(tree: NodeTree, node: int, value: float) -> None:
    """Replace the virtual loss of a visit by `value`, for the side that moved to the node."""
    add_int64(tree.totals, node, VALUE_SCALE + int64(value * VALUE_SCALE))


@kernel
def cancel_visit(tree: NodeTree, node: int) -> None:
    """Undo `add_virtual_loss`."""
    add_int64(tree.totals, node, VALUE_SCALE)
    _add_int32(tree.visits, node, -1)


@kernel
def try_lock(tree: NodeTree, node: int) -> bool:
    """Lock a node in order to add a child. Return False if another thread holds the lock."""
    return _exchange_int32(tree.marks, node, 1) == 0


@kernel
def unlock(tree: NodeTree, node: int) -> None:
    _exchange_int32(tree.marks, node, 0)


@kernel
def add_child(tree: NodeTree, parent: int, move: int, prior: float, untried: float) -> int:
    """Add a child to a locked node, and return it, or NO_NODE if the pool is full.

    `prior` is the prior probability of `move`. `untried` is the highest prior of the parent's
    remaining moves.
    """
    node = add_int64(tree.counters, USED, 1)
    if node >= tree.capacity:
        add_int64(tree.counters, USED, -1)
        return NO_NODE
    _init_node(tree, node, move, prior)
    _write_int32(tree.siblings, node, _read_int32(tree.firsts, parent))
    _write_float32(tree.untried, parent, untried)
    _exchange_int32(tree.firsts, parent, node)
    return node


@kernel
def drop_children(tree: NodeTree, parent: int) -> None:
    """Remove all children of a locked node. Running playouts can still use the removed nodes."""
    _exchange_int32(tree.firsts, parent, NO_NODE)
    _write_float32(tree.untried, parent, NOT_EXPANDED)


@kernel
def _init_node(tree: NodeTree, node: int, move: int, prior: float) -> None:
    _write_int32(tree.moves, node, move)
    _write_int32(tree.firsts, node, NO_NODE)
    _write_int32(tree.siblings, node, NO_NODE)
    _write_int32(tree.visits, node, 0)
    _write_int64(tree.totals, node, 0)
    _write_float32(tree.priors, node, prior)
    _write_float32(tree.untried, node, NOT_EXPANDED)
    _write_int16(tree.proven, node, UNKNOWN)
    _write_int32(tree.marks, node, 0)
    for i in range(tree.extra_words_per_node):
        store(tree.extra_words, extra_word_index(tree, node, i), U64(0))


@kernel
def extra_word_index(tree: NodeTree, node: int, word: int) -> Bits:
    """Return the index of a node's additional 64-bit word `word` in the array `extra_words`."""
    return U64(node * tree.extra_words_per_node + word)


@kernel
def parent_proof(proof: int) -> int:
    """Convert a child's proven value to the parent's point of view, one ply earlier."""
    if proof >= MATE_BOUND:
        return 1 - proof
    if proof <= -MATE_BOUND:
        return -proof - 1
    return proof


@kernel
def update_proof(tree: NodeTree, node: int) -> int:
    """Update the proven value of a node from its children, and return the value.

    One winning move proves a node. Otherwise all moves must be proven, and the best value counts
    (Winands, Björnsson and Saito, 'Monte-Carlo tree search solver', 2008).
    """
    best = -MATE_BOUND * 2
    complete = _read_float32(tree.untried, node) == EXHAUSTED
    child = first_child(tree, node)
    while child != NO_NODE:
        proof = proof_of(tree, child)
        if proof == UNKNOWN:
            complete = False
        else:
            best = max(best, parent_proof(proof))
        child = next_child(tree, child)
    if best >= MATE_BOUND or (complete and first_child(tree, node) != NO_NODE):
        set_proof(tree, node, best)
    return proof_of(tree, node)


@entry_point(numba.void(NodeTree))
def clear(tree: NodeTree) -> None:
    _write_int64(tree.counters, USED, 1 + ROOT)
    _init_node(tree, ROOT, 0, 1.0)


@entry_point(int64(NodeTree, int64))
def visit_threshold(tree: NodeTree, max_nodes: int) -> int:
    """Return the `min_visits` with which `compact` keeps at most `max_nodes` nodes.

    The result is the smallest such power of 2.
    """
    children = np.zeros(33, np.int64)  # by the bit length of their parent's visits
    for node in range(ROOT, _read_int64(tree.counters, USED)):
        bits = 0
        while visits_of(tree, node) >> bits:
            bits += 1
        child = first_child(tree, node)
        while child != NO_NODE:
            children[bits] += 1
            child = next_child(tree, child)
    bits = 32
    while bits > 0 and children[bits] <= max_nodes:
        max_nodes -= children[bits]
        bits -= 1
    return 1 << bits


@entry_point(int64(NodeTree, int64))
def most_visited(tree: NodeTree, node: int) -> int:
    """Return the most visited child (ties: highest prior), or NO_NODE if none was visited."""
    best, visits, prior = NO_NODE, 1, 0.0
    child = first_child(tree, node)
    while child != NO_NODE:
        child_visits, child_prior = visits_of(tree, child), prior_of(tree, child)
        if child_visits > visits or (child_visits == visits and child_prior >= prior):
            best, visits, prior = child, child_visits, child_prior
        child = next_child(tree, child)
    return best


@kernel
def _move_node(tree: NodeTree, target: int, node: int) -> None:
    _write_int32(tree.moves, target, _read_int32(tree.moves, node))
    _write_int32(tree.firsts, target, _read_int32(tree.marks, _read_int32(tree.firsts, node)))
    _write_int32(tree.siblings, target, _read_int32(tree.marks, _read_int32(tree.siblings, node)))
    _write_int32(tree.visits, target, _read_int32(tree.visits, node))
    _write_int64(tree.totals, target, _read_int64(tree.totals, node))
    _write_float32(tree.priors, target, _read_float32(tree.priors, node))
    _write_float32(tree.untried, target, _read_float32(tree.untried, node))
    _write_int16(tree.proven, target, _read_int16(tree.proven, node))
    for i in range(tree.extra_words_per_node):
        word = load(tree.extra_words, extra_word_index(tree, node, i))
        store(tree.extra_words, extra_word_index(tree, target, i), word)


@entry_point(int64(NodeTree, int64, int64))
def compact(tree: NodeTree, root: int, min_visits: int) -> int:
    """Make the node `root` the root of the tree, and remove all nodes outside its subtree.

    Every node with fewer than `min_visits` visits, except the root, also loses its children, and
    can be expanded again. Return the number of used indices, including NO_NODE.
    """
    used = _read_int64(tree.counters, USED)
    for node in range(used):
        _write_int32(tree.marks, node, 0)
    _write_int32(tree.marks, root, 1)
    new_index = ROOT
    for node in range(root, used):
        if _read_int32(tree.marks, node) == 0:
            continue
        if node != root and _read_int32(tree.visits, node) < min_visits:
            _write_int32(tree.firsts, node, NO_NODE)
            _write_float32(tree.untried, node, NOT_EXPANDED)
        child = first_child(tree, node)
        while child != NO_NODE:
            _write_int32(tree.marks, child, 1)
            child = next_child(tree, child)
        _write_int32(tree.marks, node, new_index)
        new_index += 1
    _write_int32(tree.siblings, root, NO_NODE)
    _write_int32(tree.marks, NO_NODE, NO_NODE)
    for node in range(root, used):
        target = _read_int32(tree.marks, node)
        if target != NO_NODE:
            _move_node(tree, target, node)
    for node in range(used):
        _write_int32(tree.marks, node, 0)
    _write_int64(tree.counters, USED, new_index)
    return new_index
