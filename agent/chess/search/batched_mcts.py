"""Monte Carlo tree search with an evaluation that scores many positions at once.

`collect_leaves` runs playouts until a batch of leaves is full. `backup_leaves` then expands these
leaves and backs up their scores. Virtual losses lead the playouts of a batch along different paths
(Chaslot, Winands and van den Herik, 'Parallel Monte-Carlo tree search', 2008). Everything runs on
one thread.
"""

import numba
import numpy as np
import numpy.typing as npt
from numba import float32, float64, int32, uint64

from agent.chess.board.movegen import from_square, promotion_kind, to_square
from agent.chess.board.records import FLAG_MASK, PROMOTION, Worker, frame_at, position_at
from agent.chess.endgames.dtm_tables import NO_SCORE
from agent.chess.search.mcts import (
    UNEVALUATED,
    backpropagate,
    generate_with_priors,
    prior_weight,
    proven_value,
    score_to_value,
    select,
    tablebase_proof,
)
from agent.chess.search.node import has_legal_moves
from agent.kernel.decorators import entry_point, kernel
from agent.kernel.intrinsics import int64
from agent.kernel.mcts_tree import (
    EXHAUSTED,
    FULL,
    GROWING,
    NO_NODE,
    ROOT,
    SOLVED,
    UNKNOWN,
    NodeTree,
    add_child,
    cancel_visit,
    count_playouts,
    drop_children,
    first_child,
    proof_of,
    set_proof,
    try_lock,
    unlock,
)
from agent.kernel.scores import MATE

# Columns of the leaf arrays `bitboards` and `numbers`.
KINDS, SIDES, CASTLING, BITBOARD_COLUMNS = 0, 6, 8, 9
TURN, EN_PASSANT, HALFMOVES, COUNT, NUMBER_COLUMNS = range(5)
# Columns of the array `playouts`: ply of the leaf, and row in the leaf arrays.
PLY, LEAF, PLAYOUT_COLUMNS = range(3)
CANCELLED = -1  # value in the column LEAF


@kernel
def _value_without_evaluation(worker: Worker, tree: NodeTree, node: int, ply: int) -> float:
    value = proven_value(worker, tree, node, ply)
    if value != UNEVALUATED:
        return value
    if not has_legal_moves(worker, ply):
        set_proof(tree, node, -MATE)
        return -1.0
    score = int64(tablebase_proof(worker, tree, node, ply))
    return UNEVALUATED if score == NO_SCORE else score_to_value(score)


@kernel
def _encode_leaf(
    worker: Worker,
    ply: int,
    leaf: int,
    bitboards: npt.NDArray[np.uint64],
    numbers: npt.NDArray[np.int64],
    moves: npt.NDArray[np.int32],
    batch_moves: npt.NDArray[np.int32],
    priors: npt.NDArray[np.float32],
) -> None:
    total = generate_with_priors(worker, ply)
    position, frame = position_at(worker, ply), frame_at(worker, ply)
    for kind in range(6):
        bitboards[leaf, KINDS + kind] = position.kinds[kind]
    for side in range(2):
        bitboards[leaf, SIDES + side] = position.sides[side]
    bitboards[leaf, CASTLING] = position.castling
    numbers[leaf, TURN] = position.turn
    numbers[leaf, EN_PASSANT] = position.en_passant
    numbers[leaf, HALFMOVES] = position.halfmoves
    numbers[leaf, COUNT] = frame.count
    for i in range(frame.count):
        move = int64(frame.moves[i])
        promotion = promotion_kind(move) + 1 if move & FLAG_MASK == PROMOTION else 0
        moves[leaf, i] = move
        batch_moves[leaf, i] = from_square(move) | to_square(move) << 6 | promotion << 12
        priors[leaf, i] = prior_weight(frame.scores[i]) / total


@entry_point(
    int64(
        Worker,
        NodeTree,
        int64[:, ::1],
        int64[:, ::1],
        uint64[:, ::1],
        int64[:, ::1],
        int32[:, ::1],
        int32[:, ::1],
        float32[:, ::1],
    )
)
def collect_leaves(
    worker: Worker,
    tree: NodeTree,
    paths: npt.NDArray[np.int64],
    playouts: npt.NDArray[np.int64],
    bitboards: npt.NDArray[np.uint64],
    numbers: npt.NDArray[np.int64],
    moves: npt.NDArray[np.int32],
    batch_moves: npt.NDArray[np.int32],
    priors: npt.NDArray[np.float32],
) -> int:
    """Run playouts until a batch of leaves is full, and return the number of its playouts.

    Stop when an array is full, the tree reaches its goal or stops growing, or `worker.stop` is set.

    `paths`, of shape (playouts, MAX_TREE_PLY + 2), receives the nodes from the root to each leaf.
    `playouts` receives the columns PLY and LEAF (the row of the leaf, or CANCELLED). The other
    arrays receive one row per leaf. `moves` and `batch_moves` contain the same moves, encoded as in
    `records` and as in `agent.games.chess_batch`.
    """
    leaves = n_playouts = 0
    while leaves < len(numbers) and n_playouts < len(playouts):
        if worker.stop or tree.state != GROWING:
            break
        if count_playouts(tree, 1) >= tree.goal:
            count_playouts(tree, -1)
            break
        path = paths[n_playouts]
        ply = select(worker, tree, path)
        node = path[ply]
        worker.seldepth = max(worker.seldepth, ply)
        if ply == 0 and first_child(tree, node) != NO_NODE:  # all root moves are proven
            cancel_visit(tree, node)
            count_playouts(tree, -1)
            tree.state = SOLVED
            break
        # The root is always evaluated, because it must be expanded.
        value = UNEVALUATED
        if ply > 0:
            value = _value_without_evaluation(worker, tree, node, ply)
        if value != UNEVALUATED:
            backpropagate(tree, path, ply, value)
            if tree.stop_at_proven_root and proof_of(tree, int64(ROOT)) != UNKNOWN:
                tree.state = SOLVED
            continue
        playouts[n_playouts, PLY] = ply
        playouts[n_playouts, LEAF] = CANCELLED
        if try_lock(tree, node):
            _encode_leaf(worker, ply, leaves, bitboards, numbers, moves, batch_moves, priors)
            playouts[n_playouts, LEAF] = leaves
            leaves += 1
        n_playouts += 1
        if ply == 0:  # the root must be expanded before other playouts
            break
    return n_playouts


@kernel
def _expand_leaf(
    worker: Worker,
    tree: NodeTree,
    node: int,
    count: int,
    moves: npt.NDArray[np.int32],
    priors: npt.NDArray[np.float32],
) -> None:
    for i in range(count):
        included = node != ROOT
        for j in range(worker.root_count):
            if not included and worker.root_moves[j] == moves[i]:
                included = True
        if not included:
            continue
        if add_child(tree, node, int64(moves[i]), float64(priors[i]), EXHAUSTED) == NO_NODE:
            drop_children(tree, node)  # otherwise some moves would be missing permanently
            tree.state = FULL
            return


@entry_point(
    numba.void(
        Worker,
        NodeTree,
        int64[:, ::1],
        int64[:, ::1],
        int64[:, ::1],
        int32[:, ::1],
        float32[:, ::1],
        float64[::1],
    )
)
def backup_leaves(
    worker: Worker,
    tree: NodeTree,
    paths: npt.NDArray[np.int64],
    playouts: npt.NDArray[np.int64],
    numbers: npt.NDArray[np.int64],
    moves: npt.NDArray[np.int32],
    priors: npt.NDArray[np.float32],
    scores: npt.NDArray[np.float64],
) -> None:
    """Expand the leaves from `collect_leaves` and back up their scores.

    `scores` contains one score per leaf, in centipawns for the side to move. If it is empty, all
    playouts are cancelled.
    """
    for i in range(len(playouts)):
        path, ply, leaf = paths[i], playouts[i, PLY], playouts[i, LEAF]
        node = path[ply]
        if leaf != CANCELLED and len(scores) > 0:
            if first_child(tree, node) == NO_NODE and tree.state == GROWING:
                _expand_leaf(worker, tree, node, numbers[leaf, COUNT], moves[leaf], priors[leaf])
            backpropagate(tree, path, ply, score_to_value(scores[leaf]))
        else:
            for j in range(ply + 1):
                cancel_visit(tree, path[j])
            count_playouts(tree, -1)
        if leaf != CANCELLED:
            unlock(tree, node)
