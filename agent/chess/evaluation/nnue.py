"""The NNUE evaluation in the kernel, with accumulators that are updated lazily.

A worker has an accumulator for each ply and perspective, labelled with the key of its position. The
evaluation goes back to the last valid accumulator, and applies the moves made since then.

If a king moves to the other half of the board, the accumulator is computed from the one cached for
that half, by adding and removing only the pieces that differ.
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
    POCKET_KINDS,
    ROOK,
    Position,
    Worker,
    position_at,
    worker_at,
)
from agent.chess.board.rules import COUNTS_CHECKS, POCKETS, STANDARD_INPUT_CHANGES
from agent.chess.evaluation.endgame_knowledge import (
    FULL_SCALE,
    drawish_scale,
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
    board_half,
    check_index,
    feature_index,
    output_bucket,
    pocket_index,
)
from agent.chess.evaluation.nnue_format import (
    INPUTS,
    MAX_PIECES,
    NEURON_SCALE,
    SCORE_SCALE,
    WEIGHT_SCALE,
)
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
_pocket_index = kernel(pocket_index)
_check_index = kernel(check_index)


@kernel
def _half(position: Position, perspective: int) -> int:
    half: int = _board_half(king_square(position, perspective))
    return half


@kernel
def _scaled_for_endgame(position: Position, score: int) -> int:
    factor = drawish_scale(position, position.turn if score > 0 else 1 - position.turn)
    if factor == FULL_SCALE:
        return score
    return score * factor // FULL_SCALE if score >= 0 else -(-score * factor // FULL_SCALE)


@cache
def network_function(neurons: int) -> Any:
    """Return the C function `int32 evaluate(worker*, int64 ply)` for `neurons` hidden neurons."""
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
    """Return the kernel function `f(worker, ply)` for the score without endgame rules."""
    rows = make_row_operations(neurons, NEURON_SCALE)
    copy, add, remove, move, take = rows.copy, rows.add, rows.remove, rows.move, rows.take
    activate = rows.activate
    row_bytes = 2 * neurons
    outputs = (INPUTS + 1) * row_bytes

    @kernel
    def weights_of(worker: Worker, index: int) -> Bits:
        return worker.network + U64(index * row_bytes)

    @kernel
    def row_at(worker: Worker, index: int) -> Bits:
        return worker.accumulators + U64(ROWS_OFFSET + index * row_bytes)

    @kernel
    def add_pockets(worker: Worker, position: Position, perspective: int, row: Bits) -> None:
        """Add the pieces in the pockets, which use inputs of pawns on the first rank."""
        for side in range(2):
            for kind in range(5):
                index = _pocket_index(side ^ perspective, kind)
                for _ in range(position.pockets[POCKET_KINDS * side + kind]):
                    add(row, row, weights_of(worker, index))

    @kernel
    def refresh(worker: Worker, ply: int, perspective: int) -> None:
        """Compute the accumulator at `ply` from the cached one for the king's half of the board."""
        position = position_at(worker, ply)
        half = _half(position, perspective)
        cached = HALVES * perspective + half
        row = row_at(worker, CACHED_ROWS + cached)
        for side in range(2):
            for kind in range(KINDS):
                word = U64(SQUARES_OFFSET + cached * PIECES + KINDS * (side ^ perspective) + kind)
                before = load(worker.accumulators, word)
                now = position.kinds[kind] & position.sides[side]
                store(worker.accumulators, word, now)
                removed, added = before & ~now, now & ~before
                while removed:
                    index = _feature_index(perspective, half, side, kind, first_square(removed))
                    remove(row, row, weights_of(worker, index))
                    removed &= removed - U64(1)
                while added:
                    index = _feature_index(perspective, half, side, kind, first_square(added))
                    add(row, row, weights_of(worker, index))
                    added &= added - U64(1)
        target = row_at(worker, 2 * ply + perspective)
        copy(target, row)
        if POCKETS:
            add_pockets(worker, position, perspective, target)
        if COUNTS_CHECKS:
            for side in range(2):
                index = _check_index(side ^ perspective, position.remaining_checks[side])
                add(target, target, weights_of(worker, index))
        store(worker.accumulators, U64(KEYS_OFFSET + 2 * ply + perspective), position.key)

    @kernel
    def update_incrementally(worker: Worker, ply: int, perspective: int) -> None:
        """Compute the accumulator at `ply` from the previous accumulator and the last move."""
        before, position = position_at(worker, ply - 1), position_at(worker, ply)
        half, side, last_move = _half(position, perspective), before.turn, position.move
        source, target = (
            row_at(worker, 2 * (ply - 1) + perspective),
            row_at(worker, 2 * ply + perspective),
        )
        start, end, flag = from_square(last_move), to_square(last_move), last_move & FLAG_MASK
        if last_move == NO_MOVE:
            copy(target, source)
        elif flag == CASTLING:
            king_to, rook_to = castling_squares(start, end)
            added = weights_of(worker, _feature_index(perspective, half, side, KING, king_to))
            removed = weights_of(worker, _feature_index(perspective, half, side, KING, start))
            move(target, source, added, removed)
            added = weights_of(worker, _feature_index(perspective, half, side, ROOK, rook_to))
            removed = weights_of(worker, _feature_index(perspective, half, side, ROOK, end))
            move(target, target, added, removed)
        else:
            captured, square = int64(before.board[end]), end
            if flag == EN_PASSANT:
                captured, square = PAWN, (start & 56) | (end & 7)
            placed, moved = int64(position.board[end]), int64(before.board[start])
            added = weights_of(worker, _feature_index(perspective, half, side, placed, end))
            removed = weights_of(worker, _feature_index(perspective, half, side, moved, start))
            if captured == EMPTY:
                move(target, source, added, removed)
            else:
                captured_row = weights_of(
                    worker, _feature_index(perspective, half, 1 - side, captured, square)
                )
                take(target, source, added, removed, captured_row)
        if COUNTS_CHECKS and position.remaining_checks[side] != before.remaining_checks[side]:
            owner = side ^ perspective
            added = weights_of(worker, _check_index(owner, position.remaining_checks[side]))
            removed = weights_of(worker, _check_index(owner, before.remaining_checks[side]))
            move(target, target, added, removed)
        store(worker.accumulators, U64(KEYS_OFFSET + 2 * ply + perspective), position.key)

    @kernel
    def current_row(worker: Worker, ply: int, perspective: int) -> Bits:
        """Update the accumulator at `ply` if it is out of date, and return its address."""
        position = position_at(worker, ply)
        half = _half(position, perspective)
        first = ply
        while load(worker.accumulators, U64(KEYS_OFFSET + 2 * first + perspective)) != position.key:
            if (
                not STANDARD_INPUT_CHANGES
                or first == 0
                or _half(position_at(worker, first - 1), perspective) != half
            ):
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
