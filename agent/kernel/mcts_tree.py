"""The tree of Monte Carlo tree search: a struct of arrays in a pool of bounded size.

A node is an index into columns of numbers; NO_NODE is none, ROOT the root. Children hang in a
list, the youngest first, and are added one by one as they are tried, so that memory goes only to
positions that were visited. A child always comes after its parent, so one pass over the pool
finds all that hangs below a node, and another moves it to the front.

Columns, by node:
  moves     the move that leads here
  firsts    its youngest child; siblings: the child of the same parent added before it
  visits    playouts that went through it, those under way included
  totals    sum of their values for the side that moved here, in units of 1 / ONE
  priors    how promising the move looked at first; the priors of all moves of a position sum to 1
  untried   the greatest prior of its moves that are not children yet; NEW before the first child
  proven    for the side to move, plies counted from here: a mate score, DRAWN, or UNKNOWN
  marks     set while a thread adds a child; scratch space while the pool is tidied up
Beside the columns a game may keep some words of 64 bits a node of its own: the annex, 0 at first.
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
VALUE_SCALE = 1 << 20  # a certain win, in the column of totals; minus this is a certain loss
NOT_EXPANDED, EXHAUSTED = 2.0, 0.0  # in the column of untried priors
UNKNOWN, DRAWN = 0, 1  # in the column of what is proven
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

# Places in the column of counters.
USED, PLAYOUTS = 0, 1


@record
class NodeTree:
    """A tree: where its columns lie in memory, and what a search asks of it."""

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
    extra_words_per_node: int  # of each node
    counters: Bits  # address of the numbers of nodes used, NO_NODE too, and of playouts
    capacity: int  # nodes
    goal: int  # playouts to make
    state: int  # GROWING; FULL or SOLVED: no playout can be made
    stop_at_proven_root: int  # set if the tree is SOLVED with its root, not only with all moves
    exploration: float  # the constant of PUCT
    fpu_reduction: float  # how much worse than its parent a move is before it is tried


tree_at = at_address(NodeTree)

_read_int16, _write_int16 = reader(INT16), writer(INT16)
_read_int32, _write_int32 = reader(INT32), writer(INT32)
_add_int32, _exchange_int32 = atomic_adder(INT32), atomic_exchanger(INT32)
_read_int64, _write_int64, add_int64 = reader(INT64), writer(INT64), atomic_adder(INT64)
_read_float32, _write_float32 = reader(FLOAT32), writer(FLOAT32)


@kernel
def move_to(tree: NodeTree, node: int) -> int:
    """Return the move that leads to a node."""
    return _read_int32(tree.moves, node)


@kernel
def first_child(tree: NodeTree, node: int) -> int:
    """Return the youngest child of a node, or NO_NODE."""
    return _read_int32(tree.firsts, node)


@kernel
def next_child(tree: NodeTree, node: int) -> int:
    """Return the next child of a node's parent, or NO_NODE."""
    return _read_int32(tree.siblings, node)


@kernel
def visits_of(tree: NodeTree, node: int) -> int:
    """Return how many playouts went through a node."""
    return _read_int32(tree.visits, node)


@kernel
def mean_value(tree: NodeTree, node: int) -> float:
    """Return the mean value, for the side that moved here, of a node that has visits."""
    return _read_int64(tree.totals, node) / (VALUE_SCALE * _read_int32(tree.visits, node))


@kernel
def prior_of(tree: NodeTree, node: int) -> float:
    """Return the prior of the move that leads to a node."""
    return _read_float32(tree.priors, node)


@kernel
def untried_prior(tree: NodeTree, node: int) -> float:
    """Return the greatest prior of a move that is no child yet."""
    return _read_float32(tree.untried, node)


@kernel
def proof_of(tree: NodeTree, node: int) -> int:
    """Return what is proven of a node."""
    return _read_int16(tree.proven, node)


@kernel
def set_proof(tree: NodeTree, node: int, proof: int) -> None:
    """Note what is proven of a node."""
    _write_int16(tree.proven, node, proof)


@kernel
def count_playouts(tree: NodeTree, number: int) -> int:
    """Add to the number of playouts; return what it was."""
    return add_int64(tree.counters, PLAYOUTS, number)


@kernel
def add_virtual_loss(tree: NodeTree, node: int) -> int:
    """Count a visit, and a loss until `leave` puts it right; return the visits before it.

    The virtual loss sends other threads elsewhere meanwhile (Chaslot, Winands and van den Herik,
    'Parallel Monte-Carlo tree search', 2008).
    """
    add_int64(tree.totals, node, -VALUE_SCALE)
    return _add_int32(tree.visits, node, 1)


@kernel
def record_value(tree: NodeTree, node: int, value: float) -> None:
    """Put a visit's value, for the side that moved here, in place of the virtual loss."""
    add_int64(tree.totals, node, VALUE_SCALE + int64(value * VALUE_SCALE))


@kernel
def cancel_visit(tree: NodeTree, node: int) -> None:
    """Take back a visit."""
    add_int64(tree.totals, node, VALUE_SCALE)
    _add_int32(tree.visits, node, -1)


@kernel
def try_lock(tree: NodeTree, node: int) -> bool:
    """Reserve a node for adding a child; False if another thread has it."""
    return _exchange_int32(tree.marks, node, 1) == 0


@kernel
def unlock(tree: NodeTree, node: int) -> None:
    """Give a node free."""
    _exchange_int32(tree.marks, node, 0)


@kernel
def add_child(tree: NodeTree, parent: int, move: int, prior: float, untried: float) -> int:
    """Give a locked parent a child; `untried` is then the greatest prior of the other moves.

    Returns NO_NODE if the pool is full.
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
    """Take all children from a locked parent; who is on the way through one goes on there."""
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
    """Return where in the annex a word of a node lies."""
    return U64(node * tree.extra_words_per_node + word)


@kernel
def parent_proof(proof: int) -> int:
    """Return what a proof for one side is for the other, a ply before."""
    if proof >= MATE_BOUND:
        return 1 - proof
    if proof <= -MATE_BOUND:
        return -proof - 1
    return proof


@kernel
def update_proof(tree: NodeTree, node: int) -> int:
    """Prove a node from its children, if they allow it, and return what is proven of it.

    One move that wins is enough; otherwise all must be known, and the best of them counts
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
    """Leave only a new root."""
    _write_int64(tree.counters, USED, 1 + ROOT)
    _init_node(tree, ROOT, 0, 1.0)


@entry_point(int64(NodeTree, int64))
def visit_threshold(tree: NodeTree, max_nodes: int) -> int:
    """Return the least visits, a power of 2, with which `keep` leaves at most so many nodes.

    A node has no more visits than its parent, so what hangs below a dropped child is counted too.
    """
    children = np.zeros(33, np.int64)  # by the number of bits of their parent's visits
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
    """Return the child with the most visits, of equals the one with the greatest prior, if any.

    NO_NODE if none was visited. Others may search meanwhile.
    """
    best, visits, prior = NO_NODE, 1, 0.0
    child = first_child(tree, node)
    while child != NO_NODE:
        here, promise = visits_of(tree, child), prior_of(tree, child)
        if here > visits or (here == visits and promise >= prior):
            best, visits, prior = child, here, promise
        child = next_child(tree, child)
    return best


@kernel
def _move_node(tree: NodeTree, target: int, node: int) -> None:
    """Move a node to its new place; `marks` has the new places of those that it refers to."""
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
    """Make `root` the root, drop what does not hang below it, and return the nodes used.

    The children of nodes, but the root, that have fewer than `least` visits are dropped, too; such
    a node keeps its own numbers and can grow again.
    """
    used = _read_int64(tree.counters, USED)
    for node in range(used):
        _write_int32(tree.marks, node, 0)
    _write_int32(tree.marks, root, 1)
    place = ROOT
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
        _write_int32(tree.marks, node, place)
        place += 1
    _write_int32(tree.siblings, root, NO_NODE)
    _write_int32(tree.marks, NO_NODE, NO_NODE)
    for node in range(root, used):
        target = _read_int32(tree.marks, node)
        if target != NO_NODE:
            _move_node(tree, target, node)
    for node in range(used):
        _write_int32(tree.marks, node, 0)
    _write_int64(tree.counters, USED, place)
    return place
