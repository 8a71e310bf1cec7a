"""The end of every line of search: captures until the position is quiet (heuristic continuation).

What the static evaluation says is worth something only where no capture is about to change it.
The contract is that of `agent.chess.search.alphabeta`.
"""

from agent.chess.board.movegen import to_square
from agent.chess.board.position import make_move
from agent.chess.board.records import FLAG_MASK, NO_MOVE, Worker, frame_at, position_at
from agent.chess.board.static_exchange import PIECE_VALUES
from agent.chess.endgames.dtm_tables import NO_SCORE
from agent.chess.search.correction_history import corrected_evaluation
from agent.chess.search.move_ordering import next_move, piece_target_index, start_picking
from agent.chess.search.node import enter_node, extend_pv, static_evaluation, terminal_score
from agent.chess.search.parameters import quiescence_margin
from agent.kernel.decorators import entry_point
from agent.kernel.intrinsics import U64, int64
from agent.kernel.scores import MATE, NO_EVALUATION
from agent.kernel.transposition_table import (
    LOWER,
    UPPER,
    causes_cutoff,
    data_move,
    data_score,
    data_was_pv,
    probe,
    save,
)


@entry_point(int64(Worker, int64, int64, int64))
def quiescence(worker: Worker, ply: int, alpha: int, beta: int) -> int:
    """Search captures and promotions until the position is quiet; in check, every move."""
    enter_node(worker, ply)
    if worker.stop:
        return 0
    score = terminal_score(worker, ply)
    if score != NO_SCORE:
        return score
    position = position_at(worker, ply)
    selective = worker.selective != 0
    in_pv = beta - alpha > 1
    in_check = position.checkers != 0
    key = position.key

    # 1. Transposition table.
    data = probe(worker, key) if selective else U64(0)
    was_pv = in_pv or (data != 0 and data_was_pv(data))
    if data and not in_pv and causes_cutoff(data, ply, beta):
        return data_score(data, ply)

    # 2. Standing pat: whoever is not in check may leave it at that.
    best = ply - MATE
    raw = NO_EVALUATION
    standing = best
    if not in_check:
        raw = static_evaluation(worker, ply, data)
        if worker.stop:  # a user's evaluation has failed: the table must not keep what it said
            return 0
        standing = corrected_evaluation(worker, ply, raw) if selective else raw
        best = standing
        if best >= beta:
            return best
        alpha = max(alpha, best)

    # 3. Moves; in check all of them, else captures and promotions to a queen.
    frame = frame_at(worker, ply)
    start_picking(worker, ply, data_move(data))
    best_move, bound = NO_MOVE, UPPER
    while True:
        move = next_move(worker, ply, not in_check)
        if move == NO_MOVE:
            break
        # What would not reach alpha if the captured piece were free is left out.
        if selective and not in_check and move & FLAG_MASK == 0:
            free = standing + PIECE_VALUES[position.board[to_square(move)]] + quiescence_margin()
            if free <= alpha:
                best = max(best, free)
                continue
        frame.piece_target = piece_target_index(position, move)
        make_move(worker, ply, move)
        score = -quiescence(worker, ply + 1, -beta, -alpha)
        if worker.stop:
            return 0
        if score > best:
            best = score
            if score > alpha:
                alpha = score
                best_move = move
                extend_pv(worker, ply, move)
                if score >= beta:
                    bound = LOWER
                    break
    if selective:
        save(worker, key, ply, 0, best_move, best, raw, bound, was_pv)
    return best
