"""Monte Carlo tree search for chess, compiled: playouts down a tree that grows where they go well.

Source: 'Técnicas de IA, Tema 3.2: Búsqueda adversaria en juegos'. A playout has four phases:

1. selection: from the root down to a leaf of the tree, at each node to the move with the greatest
   upper confidence bound (UCT: L. Kocsis and C. Szepesvári, 'Bandit based Monte-Carlo planning',
   2006), here PUCT's: mean value + exploration * prior * sqrt(visits) / (1 + visits of the move)
   (C. Rosin, 'Multi-armed bandits with episode context', 2011, in the form of AlphaZero: D. Silver
   and others, 'A general reinforcement learning algorithm', 2018);
2. expansion: the untried move of the greatest prior becomes a new node;
3. simulation: instead of playing on at random, quiescence search evaluates the new position,
   and its score is turned into a value from -1, a certain loss, to 1, a certain win;
4. backpropagation: the value goes back up to the root, changing sides at every ply, and so does
   what is proven: a mate below a node may prove the node itself.

Values and proofs are those of the side to move, but a node's mean is that of the side that moved
to it. Priors come from what move ordering knows: captures by what they win, quiet moves by whether
they lose the piece, both turned into probabilities.

After `worker.stop` is set, `play_out` returns within one playout, which is taken back.
"""

import math

import numba
import numpy as np
import numpy.typing as npt

from agent.chess.attacks import bit, king_square, pawn_attacks, piece_attacks
from agent.chess.ending_tables import NO_SCORE, is_small, table_score
from agent.chess.exchange import VALUES, wins_exchange
from agent.chess.moves import ALL, from_square, generate, is_noisy, promotion_kind, to_square
from agent.chess.node import has_moves, is_drawn
from agent.chess.ordering import moved_index
from agent.chess.position import make
from agent.chess.quiescence import quiescence
from agent.chess.records import (
    FLAG,
    NO_MOVE,
    PAWN,
    PROMOTION,
    Position,
    Worker,
    frame_at,
    position_at,
)
from agent.chess.squares import EVERYWHERE
from agent.compiled.kernel import entry, kernel
from agent.compiled.native import int64
from agent.compiled.scores import INFINITE, MATE_BOUND, MAX_PLY
from agent.compiled.tree import (
    DRAWN,
    EXHAUSTED,
    FULL,
    GROWING,
    NO_NODE,
    ROOT,
    SOLVED,
    UNKNOWN,
    NodeTree,
    add_child,
    cancel,
    count_playouts,
    enter,
    first_child,
    leave,
    lock,
    mean_value,
    move_to,
    next_child,
    prior_of,
    proof_of,
    prove,
    set_proof,
    unlock,
    untried_prior,
    visits_of,
)

DEEPEST = MAX_PLY // 2  # plies from the root that the tree reaches; quiescence needs the rest
UNJUDGED = 2.0  # no value
UNIT = 200.0  # centipawns: so far ahead, the value is that of winning e of e + 1 games

# The logarithm, in thousandths, of how much more promising a move is than an ordinary one.
_CAPTURE = 800
_VICTIM = 2  # and per centipawn of what is captured
_LOSING = -1000
_SAFE_CHECK = 700
_FLIGHT = 500  # of a piece that a pawn attacks
_FIRST_TRY = 1e6  # of a root move without visits: above every bound
_TAKEN = -(1 << 30)  # the move has a node already


@kernel
def _promise(position: Position, move: int) -> int:
    """Return how promising a move looks, in thousandths of a logarithm."""
    side = position.turn
    start, target = from_square(move), to_square(move)
    safe = wins_exchange(position, move, 0)
    if is_noisy(position, move):
        if not safe:
            return _LOSING
        gain = VALUES[position.board[target]]
        if move & FLAG == PROMOTION:
            gain += VALUES[promotion_kind(move)]
        return _CAPTURE + _VICTIM * gain
    if not safe:
        return _LOSING
    promise = 0
    kind = position.board[start]
    enemy = position.sides[1 - side]
    if kind != PAWN:
        occupied = (position.sides[0] | position.sides[1]) ^ bit(start) | bit(target)
        king = bit(king_square(position, 1 - side))
        if move & FLAG == 0 and piece_attacks(kind, target, occupied) & king:
            promise += _SAFE_CHECK
        if pawn_attacks(side, start) & position.kinds[PAWN] & enemy:
            promise += _FLIGHT
    return promise


@kernel
def weigh(worker: Worker, ply: int) -> float:
    """Generate the moves at `ply` and score them; return the sum of their weights."""
    position, frame = position_at(worker, ply), frame_at(worker, ply)
    frame.count = generate(position, frame, 0, ALL, EVERYWHERE, False)
    total = 0.0
    for i in range(frame.count):
        frame.scores[i] = _promise(position, frame.moves[i])
        total += weight(frame.scores[i])
    return total


@kernel
def weight(promise: int) -> float:
    """Return what a promise counts beside others, as a factor."""
    return math.exp(promise / 1000.0)


@kernel
def _take_out_children(worker: Worker, tree: NodeTree, node: int, ply: int) -> None:
    """Mark those moves at `ply` that are children of the node already."""
    frame = frame_at(worker, ply)
    child = first_child(tree, node)
    while child != NO_NODE:
        move = move_to(tree, child)
        for i in range(frame.count):
            if frame.moves[i] == move:
                frame.scores[i] = _TAKEN
        child = next_child(tree, child)


@kernel
def _add_most_promising(worker: Worker, tree: NodeTree, node: int, ply: int) -> int:
    """Add a child for the untried move of the greatest prior; return it, NO_NODE without room."""
    total = weigh(worker, ply)
    _take_out_children(worker, tree, node, ply)
    frame = frame_at(worker, ply)
    best, second, best_move = _TAKEN, _TAKEN, NO_MOVE
    for i in range(frame.count):
        promise = frame.scores[i]
        if promise > best:
            second = best
            best, best_move = promise, frame.moves[i]
        elif promise > second:
            second = promise
    untried = EXHAUSTED if second == _TAKEN else weight(second) / total
    return add_child(tree, node, best_move, weight(best) / total, untried)


@kernel
def _go_to(worker: Worker, ply: int, move: int) -> None:
    """Make a move of the tree at `ply`."""
    frame_at(worker, ply).moved = moved_index(position_at(worker, ply), move)
    make(worker, ply, move)


@kernel
def _best_child(tree: NodeTree, node: int) -> int:
    """Return the child with the greatest upper confidence bound, NO_NODE to try a new move.

    A move that is not tried yet counts as somewhat worse than its parent; but at the root each is
    tried once first. Moves that are proven to win or lose are left out.
    """
    hope = -mean_value(tree, node) - tree.caution
    if node == ROOT:
        hope = _FIRST_TRY
    spread = tree.exploration * math.sqrt(int64(visits_of(tree, node)))
    best = NO_NODE
    best_bound = -math.inf
    untried = untried_prior(tree, node)
    if untried != EXHAUSTED:
        best_bound = hope + spread * untried
    child = first_child(tree, node)
    while child != NO_NODE:
        proof = proof_of(tree, child)
        if proof in (UNKNOWN, DRAWN):
            visits = visits_of(tree, child)
            mean = mean_value(tree, child) if visits else hope
            bound = mean + spread * prior_of(tree, child) / (1 + visits)
            if bound > best_bound:
                best_bound = bound
                best = child
        child = next_child(tree, child)
    return best


@kernel
def select(worker: Worker, tree: NodeTree, path: npt.NDArray[np.int64]) -> int:
    """Phase 1: go down by upper confidence bounds; return the ply of the node where that ends.

    path[ply] is the node at `ply`. All on the path have their visit counted, and a virtual loss.
    """
    ply = 0
    node = int64(ROOT)
    while True:
        path[ply] = node
        new = enter(tree, node) == 0
        if ply > 0:
            if new or proof_of(tree, node) != UNKNOWN:
                return ply
            if ply >= DEEPEST or is_drawn(worker, ply):
                return ply
        child = _best_child(tree, node)
        if child == NO_NODE:
            return ply
        _go_to(worker, ply, move_to(tree, child))
        node = child
        ply += 1


@kernel
def _expand(worker: Worker, tree: NodeTree, path: npt.NDArray[np.int64], ply: int) -> int:
    """Phase 2: try a new move from a node that was visited before; return the ply it leads to.

    A node that is new, ends the game, is as deep as can be, or gets a child from another thread
    just now stays a leaf. The tree's state tells if nothing can be added at all.
    """
    node = path[ply]
    if ply == 0:  # all root moves are children from the start: none is left that is not proven
        tree.state = SOLVED
        return ply
    leaf = visits_of(tree, node) <= 1 or proof_of(tree, node) != UNKNOWN or ply >= DEEPEST
    if leaf or untried_prior(tree, node) == EXHAUSTED or is_drawn(worker, ply):
        return ply
    # Another thread may have entered a mate or stalemate just now, and not yet proven it.
    if not has_moves(worker, ply):
        return ply
    if not lock(tree, node):
        return ply
    child = NO_NODE
    if untried_prior(tree, node) != EXHAUSTED:
        child = _add_most_promising(worker, tree, node, ply)
        if child == NO_NODE:
            tree.state = FULL
    unlock(tree, node)
    if child == NO_NODE:
        return ply
    _go_to(worker, ply, move_to(tree, child))
    path[ply + 1] = child
    enter(tree, child)
    return ply + 1


@kernel
def _value_of_proof(proof: int) -> float:
    if proof >= MATE_BOUND:
        return 1.0
    return -1.0 if proof <= -MATE_BOUND else 0.0


@kernel
def known_value(worker: Worker, tree: NodeTree, node: int, ply: int) -> float:
    """Return what the node at `ply` is worth to whoever is to move, where nothing need be judged.

    That is where it is proven, drawn by the rules, or drawn in an endgame table; UNJUDGED anywhere
    else.
    """
    proof = proof_of(tree, node)
    if proof != UNKNOWN:
        return _value_of_proof(proof)
    if ply > 0 and is_drawn(worker, ply):
        return 0.0
    position = position_at(worker, ply)
    if not position.checkers and not has_moves(worker, ply):
        set_proof(tree, node, DRAWN)
        return 0.0
    return UNJUDGED


@kernel
def table_proof(worker: Worker, tree: NodeTree, node: int, ply: int) -> int:
    """Return the score that an endgame table has of the node at `ply`, and note it as proven.

    NO_SCORE says that there is none.
    """
    position = position_at(worker, ply)
    if ply == 0 or not worker.tables or not is_small(position):
        return NO_SCORE
    score = table_score(worker, ply, position)
    if score == 0:
        set_proof(tree, node, DRAWN)
    elif score != NO_SCORE:
        _note_mate(tree, node, score, ply)
    return score


@kernel
def _note_mate(tree: NodeTree, node: int, score: int, ply: int) -> None:
    """Note that the node at `ply` is proven, if its score, counted from the root, is a mate's."""
    if score >= MATE_BOUND:
        set_proof(tree, node, score + ply)
    elif score <= -MATE_BOUND:
        set_proof(tree, node, score - ply)


@kernel
def value_of_score(score: float) -> float:
    """Return the value, from -1 to 1, of a score in centipawns."""
    return 2.0 / (1.0 + math.exp(-score / UNIT)) - 1.0


@kernel
def _simulate(worker: Worker, tree: NodeTree, node: int, ply: int) -> float:
    """Phase 3: return the value for the side to move at `ply`, by quiescence search.

    UNJUDGED says that the search was stopped before there was one. A mate that is found is proven:
    quiescence search tries every answer to a check, and whoever is not in check need not capture;
    or it is in an endgame table, as a draw may be.
    """
    value = known_value(worker, tree, node, ply)
    if value != UNJUDGED:
        return value
    score = int64(table_proof(worker, tree, node, ply))
    if score == 0:
        return 0.0
    if score == NO_SCORE:
        score = quiescence(worker, ply, -INFINITE, INFINITE)
        if worker.stop:
            return UNJUDGED
        if ply > 0:
            _note_mate(tree, node, score, ply)
    return value_of_score(score)


@kernel
def backpropagate(tree: NodeTree, path: npt.NDArray[np.int64], ply: int, value: float) -> None:
    """Phase 4: give the value of the node at `ply` to all nodes on the path, and what it proves."""
    node = path[ply]
    leave(tree, node, -value)
    while ply > 0:
        ply -= 1
        value = -value
        parent = path[ply]
        if proof_of(tree, node) != UNKNOWN and (proof_of(tree, parent) == UNKNOWN or ply == 0):
            proof = prove(tree, parent)
            if proof != UNKNOWN:
                value = _value_of_proof(proof)
        leave(tree, parent, -value)
        node = parent


@entry(numba.void(Worker, NodeTree, int64[::1]))
def play_out(worker: Worker, tree: NodeTree, path: npt.NDArray[np.int64]) -> None:
    """Make playouts until the tree's goal is reached, the tree's state forbids, or a stop.

    Any number of workers may do so at once, each with a path of its own (DEEPEST + 2 nodes). The
    root must have been opened.
    """
    while not worker.stop and tree.state == GROWING:
        if count_playouts(tree, 1) >= tree.goal:
            count_playouts(tree, -1)
            return
        ply = _expand(worker, tree, path, select(worker, tree, path))
        value = UNJUDGED
        if tree.state == GROWING:
            value = _simulate(worker, tree, path[ply], ply)
        if value == UNJUDGED:
            for i in range(ply + 1):
                cancel(tree, path[i])
            count_playouts(tree, -1)
        else:
            backpropagate(tree, path, ply, value)
            if tree.content and proof_of(tree, int64(ROOT)) != UNKNOWN:
                tree.state = SOLVED


@entry(numba.void(Worker, NodeTree))
def open_root(worker: Worker, tree: NodeTree) -> None:
    """Make every root move a child of the root, where it is not, and give the root a value."""
    ply = 0
    root = int64(ROOT)
    total = weigh(worker, ply)
    frame = frame_at(worker, ply)
    _take_out_children(worker, tree, root, ply)
    for i in range(frame.count):
        if frame.scores[i] == _TAKEN:
            continue
        for j in range(worker.root_count):
            if worker.root_moves[j] == frame.moves[i]:
                prior = weight(frame.scores[i]) / total
                add_child(tree, root, frame.moves[i], prior, EXHAUSTED)
    if visits_of(tree, root) == 0:
        enter(tree, root)
        value = UNJUDGED
        if not worker.stop:
            value = _simulate(worker, tree, root, ply)
        leave(tree, root, 0.0 if value == UNJUDGED else -value)
    prove(tree, root)
