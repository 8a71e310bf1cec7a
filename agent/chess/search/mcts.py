"""Compiled Monte Carlo tree search (MCTS) with PUCT and quiescence search.

Source: 'Técnicas de IA, Tema 3.2: Búsqueda adversaria en juegos'. A playout has four phases:

1. Selection: descend to a leaf by the highest upper confidence bound (Kocsis and Szepesvári,
   'Bandit based Monte-Carlo planning', 2006). The bound is PUCT (Rosin, 'Multi-armed bandits with
   episode context', 2011) in the form of AlphaZero (Silver and others, 2018):
   mean value + exploration * prior * sqrt(visits) / (1 + visits of the move)
2. Expansion: add a node for the untried move with the highest prior.
3. Simulation: evaluate the new position with quiescence search instead of a random game.
4. Backpropagation: add the value to all nodes up to the root, and propagate proven mates.

Values are from -1 (loss) to 1 (win). The mean value of a node is for the side that moved to the
node. All other values and proofs are for the side to move.
"""

import math

import numba
import numpy as np
import numpy.typing as npt

from agent.chess.board.attacks import bit, king_square, pawn_attacks, piece_attacks
from agent.chess.board.bitboards import ALL_SQUARES
from agent.chess.board.movegen import (
    ALL,
    from_square,
    generate,
    is_noisy,
    promotion_kind,
    to_square,
)
from agent.chess.board.position import make_move
from agent.chess.board.records import (
    FLAG_MASK,
    NO_MOVE,
    PAWN,
    PROMOTION,
    Position,
    Worker,
    frame_at,
    position_at,
)
from agent.chess.board.static_exchange import PIECE_VALUES, see_ge
from agent.chess.endgames.dtm_tables import NO_SCORE, may_have_table, tablebase_score
from agent.chess.search.move_ordering import piece_target_index
from agent.chess.search.node import has_legal_moves, is_drawn
from agent.chess.search.quiescence import quiescence
from agent.kernel.decorators import entry_point, kernel
from agent.kernel.intrinsics import int64
from agent.kernel.mcts_tree import (
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
    add_virtual_loss,
    cancel_visit,
    count_playouts,
    first_child,
    mean_value,
    move_to,
    next_child,
    prior_of,
    proof_of,
    record_value,
    set_proof,
    try_lock,
    unlock,
    untried_prior,
    update_proof,
    visits_of,
)
from agent.kernel.scores import INFINITE, MATE_BOUND, MAX_PLY

MAX_TREE_PLY = MAX_PLY // 2  # maximum depth of the tree; quiescence search needs the rest
UNEVALUATED = 2.0  # outside the range of values
LOGISTIC_SCALE = 200.0  # centipawns at which the odds of winning are e to 1

# Logits of priors, in thousandths, relative to an ordinary quiet move.
_CAPTURE_LOGIT = 800
_LOGIT_PER_CENTIPAWN = 2  # per centipawn of the captured piece
_LOSING_LOGIT = -1000
_SAFE_CHECK_LOGIT = 700
_ESCAPE_LOGIT = 500  # moving a piece that a pawn attacks
_ROOT_FIRST_PLAY_VALUE = 1e6  # value of unvisited root moves, higher than every bound
_EXPANDED = -(1 << 30)  # marks moves that already have a node


@kernel
def _prior_logit(position: Position, move: int) -> int:
    """Return the logarithm of a move's unnormalized prior, in thousandths."""
    side = position.turn
    start, target = from_square(move), to_square(move)
    safe = see_ge(position, move, 0)
    if is_noisy(position, move):
        if not safe:
            return _LOSING_LOGIT
        gain = PIECE_VALUES[position.board[target]]
        if move & FLAG_MASK == PROMOTION:
            gain += PIECE_VALUES[promotion_kind(move)]
        return _CAPTURE_LOGIT + _LOGIT_PER_CENTIPAWN * gain
    if not safe:
        return _LOSING_LOGIT
    logit = 0
    kind = position.board[start]
    enemy = position.sides[1 - side]
    if kind != PAWN:
        occupied = (position.sides[0] | position.sides[1]) ^ bit(start) | bit(target)
        king = bit(king_square(position, 1 - side))
        if move & FLAG_MASK == 0 and piece_attacks(kind, target, occupied) & king:
            logit += _SAFE_CHECK_LOGIT
        if pawn_attacks(side, start) & position.kinds[PAWN] & enemy:
            logit += _ESCAPE_LOGIT
    return logit


@kernel
def generate_with_priors(worker: Worker, ply: int) -> float:
    """Generate moves and prior logits at `ply`, and return the sum of the unnormalized priors."""
    position, frame = position_at(worker, ply), frame_at(worker, ply)
    frame.count = generate(position, frame, 0, ALL, ALL_SQUARES, False)
    total = 0.0
    for i in range(frame.count):
        frame.scores[i] = _prior_logit(position, frame.moves[i])
        total += prior_weight(frame.scores[i])
    return total


@kernel
def prior_weight(logit: int) -> float:
    """Return the unnormalized prior for a logit in thousandths."""
    return math.exp(logit / 1000.0)


@kernel
def _mark_expanded_moves(worker: Worker, tree: NodeTree, node: int, ply: int) -> None:
    frame = frame_at(worker, ply)
    child = first_child(tree, node)
    while child != NO_NODE:
        move = move_to(tree, child)
        for i in range(frame.count):
            if frame.moves[i] == move:
                frame.scores[i] = _EXPANDED
        child = next_child(tree, child)


@kernel
def _add_best_child(worker: Worker, tree: NodeTree, node: int, ply: int) -> int:
    """Add and return a child for the best untried move, or return NO_NODE if the pool is full."""
    total = generate_with_priors(worker, ply)
    _mark_expanded_moves(worker, tree, node, ply)
    frame = frame_at(worker, ply)
    best, second, best_move = _EXPANDED, _EXPANDED, NO_MOVE
    for i in range(frame.count):
        logit = frame.scores[i]
        if logit > best:
            second = best
            best, best_move = logit, frame.moves[i]
        elif logit > second:
            second = logit
    untried = EXHAUSTED if second == _EXPANDED else prior_weight(second) / total
    return add_child(tree, node, best_move, prior_weight(best) / total, untried)


@kernel
def _make_tree_move(worker: Worker, ply: int, move: int) -> None:
    frame_at(worker, ply).piece_target = piece_target_index(position_at(worker, ply), move)
    make_move(worker, ply, move)


@kernel
def _best_child(tree: NodeTree, node: int) -> int:
    """Return the child with the highest upper confidence bound, or NO_NODE to try a new move.

    Untried moves have the value of their parent minus a reduction (first play urgency). At the
    root, every move is tried once first. Proven wins and losses are excluded.
    """
    first_play_value = -mean_value(tree, node) - tree.fpu_reduction
    if node == ROOT:
        first_play_value = _ROOT_FIRST_PLAY_VALUE
    spread = tree.exploration * math.sqrt(int64(visits_of(tree, node)))
    best = NO_NODE
    best_bound = -math.inf
    untried = untried_prior(tree, node)
    if untried != EXHAUSTED:
        best_bound = first_play_value + spread * untried
    child = first_child(tree, node)
    while child != NO_NODE:
        proof = proof_of(tree, child)
        if proof in (UNKNOWN, DRAWN):
            visits = visits_of(tree, child)
            mean = mean_value(tree, child) if visits else first_play_value
            bound = mean + spread * prior_of(tree, child) / (1 + visits)
            if bound > best_bound:
                best_bound = bound
                best = child
        child = next_child(tree, child)
    return best


@kernel
def select(worker: Worker, tree: NodeTree, path: npt.NDArray[np.int64]) -> int:
    """Descend by upper confidence bounds, and return the ply of the last node.

    The nodes are written to `path`. Each of them gets a visit and a virtual loss.
    """
    ply = 0
    node = int64(ROOT)
    while True:
        path[ply] = node
        new = add_virtual_loss(tree, node) == 0
        if ply > 0:
            if new or proof_of(tree, node) != UNKNOWN:
                return ply
            if ply >= MAX_TREE_PLY or is_drawn(worker, ply):
                return ply
        child = _best_child(tree, node)
        if child == NO_NODE:
            return ply
        _make_tree_move(worker, ply, move_to(tree, child))
        node = child
        ply += 1


@kernel
def _expand(worker: Worker, tree: NodeTree, path: npt.NDArray[np.int64], ply: int) -> int:
    """Add a child to the last node of `path` if possible, and return the ply of the leaf.

    No child is added if the node is new or proven, ends the game, is at the maximum depth, or is
    locked by another thread. `tree.state` becomes SOLVED or FULL if the tree cannot grow.
    """
    node = path[ply]
    if ply == 0:  # all root moves are proven
        tree.state = SOLVED
        return ply
    leaf = visits_of(tree, node) <= 1 or proof_of(tree, node) != UNKNOWN or ply >= MAX_TREE_PLY
    if leaf or untried_prior(tree, node) == EXHAUSTED or is_drawn(worker, ply):
        return ply
    # Another thread may have just added a mate or stalemate that is not yet proven.
    if not has_legal_moves(worker, ply):
        return ply
    if not try_lock(tree, node):
        return ply
    child = NO_NODE
    if untried_prior(tree, node) != EXHAUSTED:
        child = _add_best_child(worker, tree, node, ply)
        if child == NO_NODE:
            tree.state = FULL
    unlock(tree, node)
    if child == NO_NODE:
        return ply
    _make_tree_move(worker, ply, move_to(tree, child))
    path[ply + 1] = child
    add_virtual_loss(tree, child)
    return ply + 1


@kernel
def _proof_to_value(proof: int) -> float:
    if proof >= MATE_BOUND:
        return 1.0
    return -1.0 if proof <= -MATE_BOUND else 0.0


@kernel
def proven_value(worker: Worker, tree: NodeTree, node: int, ply: int) -> float:
    """Return the value of a proven or drawn node for the side to move, else UNEVALUATED."""
    proof = proof_of(tree, node)
    if proof != UNKNOWN:
        return _proof_to_value(proof)
    if ply > 0 and is_drawn(worker, ply):
        return 0.0
    position = position_at(worker, ply)
    if not position.checkers and not has_legal_moves(worker, ply):
        set_proof(tree, node, DRAWN)
        return 0.0
    return UNEVALUATED


@kernel
def tablebase_proof(worker: Worker, tree: NodeTree, node: int, ply: int) -> int:
    """Return the endgame table score of a node and mark the node as proven, or return NO_SCORE."""
    position = position_at(worker, ply)
    if ply == 0 or not worker.tablebase or not may_have_table(position):
        return NO_SCORE
    score = tablebase_score(worker, ply, position)
    if score == 0:
        set_proof(tree, node, DRAWN)
    elif score != NO_SCORE:
        _set_mate_proof(tree, node, score, ply)
    return score


@kernel
def _set_mate_proof(tree: NodeTree, node: int, score: int, ply: int) -> None:
    if score >= MATE_BOUND:
        set_proof(tree, node, score + ply)
    elif score <= -MATE_BOUND:
        set_proof(tree, node, score - ply)


@kernel
def score_to_value(score: float) -> float:
    """Convert a score in centipawns to a value from -1 to 1."""
    return 2.0 / (1.0 + math.exp(-score / LOGISTIC_SCALE)) - 1.0


@kernel
def _simulate(worker: Worker, tree: NodeTree, node: int, ply: int) -> float:
    """Return the value of a leaf for the side to move, or UNEVALUATED after a stop.

    A mate score from quiescence search is proven, because all replies to a check are searched and
    no side is forced to capture.
    """
    value = proven_value(worker, tree, node, ply)
    if value != UNEVALUATED:
        return value
    score = int64(tablebase_proof(worker, tree, node, ply))
    if score == 0:
        return 0.0
    if score == NO_SCORE:
        score = quiescence(worker, ply, -INFINITE, INFINITE)
        if worker.stop:
            return UNEVALUATED
        if ply > 0:
            _set_mate_proof(tree, node, score, ply)
    return score_to_value(score)


@kernel
def backpropagate(tree: NodeTree, path: npt.NDArray[np.int64], ply: int, value: float) -> None:
    """Add `value` to all nodes of `path` with alternating sign, and propagate proofs.

    `value` is for the side to move at `ply`.
    """
    node = path[ply]
    record_value(tree, node, -value)
    while ply > 0:
        ply -= 1
        value = -value
        parent = path[ply]
        if proof_of(tree, node) != UNKNOWN and (proof_of(tree, parent) == UNKNOWN or ply == 0):
            proof = update_proof(tree, parent)
            if proof != UNKNOWN:
                value = _proof_to_value(proof)
        record_value(tree, parent, -value)
        node = parent


@entry_point(numba.void(Worker, NodeTree, int64[::1]))
def run_playouts(worker: Worker, tree: NodeTree, path: npt.NDArray[np.int64]) -> None:
    """Run playouts until the tree reaches its goal or stops growing, or `worker.stop` is set.

    Threads can run this concurrently. Each needs its own `path` of MAX_TREE_PLY + 2 elements.
    `open_root` must be called first.
    """
    while not worker.stop and tree.state == GROWING:
        if count_playouts(tree, 1) >= tree.goal:
            count_playouts(tree, -1)
            return
        ply = _expand(worker, tree, path, select(worker, tree, path))
        value = UNEVALUATED
        if tree.state == GROWING:
            value = _simulate(worker, tree, path[ply], ply)
        if value == UNEVALUATED:
            for i in range(ply + 1):
                cancel_visit(tree, path[i])
            count_playouts(tree, -1)
        else:
            backpropagate(tree, path, ply, value)
            if tree.stop_at_proven_root and proof_of(tree, int64(ROOT)) != UNKNOWN:
                tree.state = SOLVED


@entry_point(numba.void(Worker, NodeTree))
def open_root(worker: Worker, tree: NodeTree) -> None:
    """Add all missing root moves to the tree, and evaluate the root if it is new."""
    ply = 0
    root = int64(ROOT)
    total = generate_with_priors(worker, ply)
    frame = frame_at(worker, ply)
    _mark_expanded_moves(worker, tree, root, ply)
    for i in range(frame.count):
        if frame.scores[i] == _EXPANDED:
            continue
        for j in range(worker.root_count):
            if worker.root_moves[j] == frame.moves[i]:
                prior = prior_weight(frame.scores[i]) / total
                add_child(tree, root, frame.moves[i], prior, EXHAUSTED)
    if visits_of(tree, root) == 0:
        add_virtual_loss(tree, root)
        value = UNEVALUATED
        if not worker.stop:
            value = _simulate(worker, tree, root, ply)
        record_value(tree, root, 0.0 if value == UNEVALUATED else -value)
    update_proof(tree, root)
