"""Quiescence search, which searches captures until the position is quiet."""

from agent.chess.board.movegen import has_capture, to_square
from agent.chess.board.position import make_move
from agent.chess.board.records import FLAG_MASK, NO_MOVE, Worker, frame_at, position_at
from agent.chess.board.rules import EXCHANGES, FORCED_CAPTURES, POCKETS
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
    """Search captures and queen promotions, or all check evasions. Return the fail-soft score."""
    enter_node(worker, ply)
    if worker.stop:
        return 0
    score = terminal_score(worker, ply)
    if score != NO_SCORE:
        return score
    position = position_at(worker, ply)
    selective = worker.selective != 0
    in_pv = beta - alpha > 1
    in_check = has_capture(position) if FORCED_CAPTURES else position.checkers != 0
    key = position.key

    # Step 1. Transposition table lookup and cutoff.
    data = probe(worker, key) if selective else U64(0)
    was_pv = in_pv or (data != 0 and data_was_pv(data))
    if data and not in_pv and causes_cutoff(data, ply, beta):
        return data_score(data, ply)

    # Step 2. Stand pat: the side to move can decline to capture, unless it is in check.
    best_score = ply - MATE
    raw = NO_EVALUATION
    stand_pat = best_score
    if not in_check:
        raw = static_evaluation(worker, ply, data)
        if worker.stop:  # a user's evaluation has failed, and its value is invalid
            return 0
        stand_pat = corrected_evaluation(worker, ply, raw) if selective else raw
        best_score = stand_pat
        if best_score >= beta:
            return best_score
        alpha = max(alpha, best_score)

    # Step 3. Loop over the moves: all in check, else captures and promotions to a queen.
    frame = frame_at(worker, ply)
    start_picking(worker, ply, data_move(data))
    best_move, bound = NO_MOVE, UPPER
    while True:
        move = next_move(worker, ply, not in_check)
        if move == NO_MOVE:
            break
        # Delta pruning: skip captures that cannot raise alpha even if the piece is unprotected.
        if EXCHANGES and selective and not in_check and move & FLAG_MASK == 0:
            optimistic_score = (
                stand_pat + PIECE_VALUES[position.board[to_square(move)]] + quiescence_margin()
            )
            if POCKETS:  # the captor gets the piece, too
                optimistic_score += PIECE_VALUES[position.board[to_square(move)]]
            if optimistic_score <= alpha:
                best_score = max(best_score, optimistic_score)
                continue
        frame.piece_target = piece_target_index(position, move)
        make_move(worker, ply, move)
        score = -quiescence(worker, ply + 1, -beta, -alpha)
        if worker.stop:
            return 0
        if score > best_score:
            best_score = score
            if score > alpha:
                alpha = score
                best_move = move
                extend_pv(worker, ply, move)
                if score >= beta:
                    bound = LOWER
                    break
    if selective:
        save(worker, key, ply, 0, best_move, best_score, raw, bound, was_pv)
    return best_score
