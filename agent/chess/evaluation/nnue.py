"""A network's evaluation in the kernel: what its neurons sum up is brought up to date move by move.

A worker keeps a row of sums for each ply and view, with the key of the position that it belongs to;
making a move does not touch them. Where an evaluation finds a row stale, it looks back for the last
ply whose row is not, and goes forward from there by the moves that were made. Where the view's own
king has changed the half of the board, and so the side from which the board is seen, a row is made
from one that is kept for each half, by what has changed since that was used.

There is one compiled function for each number of neurons. The address of the weights is a field of
the worker, so that compiled code holds none.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

from agent.chess.board.attacks import king_square
from agent.chess.board.movegen import castling_squares, from_square, to_square
from agent.chess.board.records import (
    CASTLING,
    EMPTY,
    EN_PASSANT,
    FLAG_MASK,
    KING,
    NO_MOVE,
    PAWN,
    ROOK,
    Position,
    Worker,
    position_at,
    worker_at,
)
from agent.chess.evaluation.endgame_knowledge import (
    DIFFICULT_SCALE,
    FULL_SCALE,
    endgame_scale,
    is_known_win,
    known_win_value,
)
from agent.chess.evaluation.nnue_accumulators import (
    CACHED_ROWS,
    HALVES,
    KEYS_OFFSET,
    PIECES,
    ROWS_OFFSET,
    SQUARES_OFFSET,
)
from agent.chess.evaluation.nnue_features import (
    KINDS,
    MAX_PIECES,
    board_half,
    feature_index,
    output_bucket,
)
from agent.chess.evaluation.nnue_format import INPUTS, NEURON_SCALE, SCORE_SCALE, WEIGHT_SCALE
from agent.kernel.decorators import c_function, kernel
from agent.kernel.intrinsics import (
    EVALUATOR_SIGNATURE,
    U64,
    Bits,
    count,
    first_square,
    int64,
    load,
    store,
)
from agent.kernel.simd import make_row_operations

_board_half = kernel(board_half)
_feature_index = kernel(feature_index)
_output_bucket = kernel(output_bucket)


@kernel
def _half(position: Position, perspective: int) -> int:
    """Return on which half of the board the view's own king stands."""
    half: int = _board_half(king_square(position, perspective))
    return half


@kernel
def _scaled_for_endgame(position: Position, score: int) -> int:
    """Return a score with what is known of endings that the stronger side cannot win."""
    factor = endgame_scale(position, position.turn if score > 0 else 1 - position.turn)
    if factor > DIFFICULT_SCALE:
        return score
    return score * factor // FULL_SCALE if score >= 0 else -(-score * factor // FULL_SCALE)


@cache
def network_function(neurons: int) -> Any:
    """Return the C function int32 evaluate(worker*, int64 ply) for networks of so many neurons."""
    score_position = network_score_function(neurons)

    def evaluate(address: Any, ply: Any) -> Any:
        worker = worker_at(address)
        position = position_at(worker, ply)
        for side in range(2):
            if is_known_win(position, side):
                value = known_win_value(position, side)
                return value if side == position.turn else -value
        return _scaled_for_endgame(position, score_position(worker, ply))

    return c_function(EVALUATOR_SIGNATURE, evaluate, f"{__name__}.{neurons}")


def network_score_function(neurons: int) -> Callable[[Worker, int], int]:
    """Make the kernel function f(worker, ply): the score by a network of so many neurons alone."""
    rows = make_row_operations(neurons, NEURON_SCALE)
    copy, add, remove, move, take = rows.copy, rows.add, rows.remove, rows.move, rows.take
    activate = rows.activate
    row_bytes = 2 * neurons
    outputs = (INPUTS + 1) * row_bytes

    @kernel
    def weights_of(worker: Worker, index: int) -> Bits:
        """Return where the weights of an input lie."""
        return worker.network + U64(index * row_bytes)

    @kernel
    def row_at(worker: Worker, index: int) -> Bits:
        """Return where a row of sums lies."""
        return worker.accumulators + U64(ROWS_OFFSET + index * row_bytes)

    @kernel
    def refresh(worker: Worker, ply: int, perspective: int) -> None:
        """Make the row of a ply from the one that is kept for the half where the king stands."""
        position = position_at(worker, ply)
        half = _half(position, perspective)
        kept = HALVES * perspective + half
        row = row_at(worker, CACHED_ROWS + kept)
        for side in range(2):
            for kind in range(KINDS):
                place = U64(SQUARES_OFFSET + kept * PIECES + KINDS * (side ^ perspective) + kind)
                before = load(worker.accumulators, place)
                now = position.kinds[kind] & position.sides[side]
                store(worker.accumulators, place, now)
                gone, come = before & ~now, now & ~before
                while gone:
                    index = _feature_index(perspective, half, side, kind, first_square(gone))
                    remove(row, row, weights_of(worker, index))
                    gone &= gone - U64(1)
                while come:
                    index = _feature_index(perspective, half, side, kind, first_square(come))
                    add(row, row, weights_of(worker, index))
                    come &= come - U64(1)
        copy(row_at(worker, 2 * ply + perspective), row)
        store(worker.accumulators, U64(KEYS_OFFSET + 2 * ply + perspective), position.key)

    @kernel
    def update_incrementally(worker: Worker, ply: int, perspective: int) -> None:
        """Make the row of a ply from the one before, by the move that was made."""
        before, position = position_at(worker, ply - 1), position_at(worker, ply)
        half, side, made = _half(position, perspective), before.turn, position.move
        source, target = (
            row_at(worker, 2 * (ply - 1) + perspective),
            row_at(worker, 2 * ply + perspective),
        )
        start, end, flag = from_square(made), to_square(made), made & FLAG_MASK
        if made == NO_MOVE:
            copy(target, source)
        elif flag == CASTLING:
            king_to, rook_to = castling_squares(start, end)
            come = weights_of(worker, _feature_index(perspective, half, side, KING, king_to))
            gone = weights_of(worker, _feature_index(perspective, half, side, KING, start))
            move(target, source, come, gone)
            come = weights_of(worker, _feature_index(perspective, half, side, ROOK, rook_to))
            gone = weights_of(worker, _feature_index(perspective, half, side, ROOK, end))
            move(target, target, come, gone)
        else:
            captured, square = int64(before.board[end]), end
            if flag == EN_PASSANT:
                captured, square = PAWN, (start & 56) | (end & 7)
            placed, moved = int64(position.board[end]), int64(before.board[start])
            come = weights_of(worker, _feature_index(perspective, half, side, placed, end))
            gone = weights_of(worker, _feature_index(perspective, half, side, moved, start))
            if captured == EMPTY:
                move(target, source, come, gone)
            else:
                lost = weights_of(
                    worker, _feature_index(perspective, half, 1 - side, captured, square)
                )
                take(target, source, come, gone, lost)
        store(worker.accumulators, U64(KEYS_OFFSET + 2 * ply + perspective), position.key)

    @kernel
    def current_row(worker: Worker, ply: int, perspective: int) -> Bits:
        """Return where the row of a ply lies, brought up to date."""
        position = position_at(worker, ply)
        half = _half(position, perspective)
        first = ply
        while load(worker.accumulators, U64(KEYS_OFFSET + 2 * first + perspective)) != position.key:
            if first == 0 or _half(position_at(worker, first - 1), perspective) != half:
                refresh(worker, first, perspective)
                break
            first -= 1
            position = position_at(worker, first)
        while first < ply:
            first += 1
            update_incrementally(worker, first, perspective)
        return row_at(worker, 2 * ply + perspective)

    @kernel
    def score_position(worker: Worker, ply: int) -> int:
        position = position_at(worker, ply)
        turn, buckets = position.turn, worker.network_buckets
        pieces = min(count(position.sides[0] | position.sides[1]), MAX_PIECES)
        bucket = _output_bucket(pieces, buckets)
        weights = worker.network + U64(outputs + 2 * row_bytes * bucket)
        total = activate(current_row(worker, ply, turn), weights)
        total += activate(current_row(worker, ply, 1 - turn), weights + U64(row_bytes))
        bias = load(worker.network + U64(outputs + 2 * row_bytes * buckets), U64(bucket))
        return (total // NEURON_SCALE + int64(bias)) * SCORE_SCALE // (NEURON_SCALE * WEIGHT_SCALE)

    return score_position
