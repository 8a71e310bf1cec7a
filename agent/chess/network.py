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

from agent.chess.accumulators import HALVES, KEPT_ROWS, KEYS, PIECES, ROWS, SQUARES
from agent.chess.attacks import king_square
from agent.chess.ending_knowledge import DIFFICULT, FULL_SCALE, is_known, scale, worth_of_win
from agent.chess.moves import castling_squares, from_square, to_square
from agent.chess.network_format import INPUTS, NEURON_ONE, SCORE_ONE, WEIGHT_ONE
from agent.chess.network_inputs import KINDS, MOST_PIECES, half_of, input_of, output_of
from agent.chess.records import (
    CASTLING,
    EMPTY,
    EN_PASSANT,
    FLAG,
    KING,
    NO_MOVE,
    PAWN,
    ROOK,
    Position,
    Worker,
    position_at,
    worker_at,
)
from agent.compiled.kernel import c_function, kernel
from agent.compiled.native import (
    EVALUATOR_SIGNATURE,
    U64,
    Bits,
    count,
    first_square,
    int64,
    load,
    store,
)
from agent.compiled.vectors import rows_of

_half_of = kernel(half_of)
_input_of = kernel(input_of)
_output_of = kernel(output_of)


@kernel
def _half(position: Position, view: int) -> int:
    """Return on which half of the board the view's own king stands."""
    half: int = _half_of(king_square(position, view))
    return half


@kernel
def _with_endings(position: Position, score: int) -> int:
    """Return a score with what is known of endings that the stronger side cannot win."""
    share = scale(position, position.turn if score > 0 else 1 - position.turn)
    if share > DIFFICULT:
        return score
    return score * share // FULL_SCALE if score >= 0 else -(-score * share // FULL_SCALE)


@cache
def network_function(neurons: int) -> Any:
    """Return the C function int32 evaluate(worker*, int64 ply) for networks of so many neurons."""
    judge = network_judge(neurons)

    def evaluate(address: Any, ply: Any) -> Any:
        worker = worker_at(address)
        position = position_at(worker, ply)
        for side in range(2):
            if is_known(position, side):
                worth = worth_of_win(position, side)
                return worth if side == position.turn else -worth
        return _with_endings(position, judge(worker, ply))

    return c_function(EVALUATOR_SIGNATURE, evaluate, f"{__name__}.{neurons}")


def network_judge(neurons: int) -> Callable[[Worker, int], int]:
    """Make the kernel function f(worker, ply): the score by a network of so many neurons alone."""
    rows = rows_of(neurons, NEURON_ONE)
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
        return worker.accumulators + U64(ROWS + index * row_bytes)

    @kernel
    def renew(worker: Worker, ply: int, view: int) -> None:
        """Make the row of a ply from the one that is kept for the half where the king stands."""
        position = position_at(worker, ply)
        half = _half(position, view)
        kept = HALVES * view + half
        row = row_at(worker, KEPT_ROWS + kept)
        for side in range(2):
            for kind in range(KINDS):
                place = U64(SQUARES + kept * PIECES + KINDS * (side ^ view) + kind)
                before = load(worker.accumulators, place)
                now = position.kinds[kind] & position.sides[side]
                store(worker.accumulators, place, now)
                gone, come = before & ~now, now & ~before
                while gone:
                    index = _input_of(view, half, side, kind, first_square(gone))
                    remove(row, row, weights_of(worker, index))
                    gone &= gone - U64(1)
                while come:
                    index = _input_of(view, half, side, kind, first_square(come))
                    add(row, row, weights_of(worker, index))
                    come &= come - U64(1)
        copy(row_at(worker, 2 * ply + view), row)
        store(worker.accumulators, U64(KEYS + 2 * ply + view), position.key)

    @kernel
    def follow(worker: Worker, ply: int, view: int) -> None:
        """Make the row of a ply from the one before, by the move that was made."""
        before, position = position_at(worker, ply - 1), position_at(worker, ply)
        half, side, made = _half(position, view), before.turn, position.move
        source, target = row_at(worker, 2 * (ply - 1) + view), row_at(worker, 2 * ply + view)
        start, end, flag = from_square(made), to_square(made), made & FLAG
        if made == NO_MOVE:
            copy(target, source)
        elif flag == CASTLING:
            king_to, rook_to = castling_squares(start, end)
            come = weights_of(worker, _input_of(view, half, side, KING, king_to))
            gone = weights_of(worker, _input_of(view, half, side, KING, start))
            move(target, source, come, gone)
            come = weights_of(worker, _input_of(view, half, side, ROOK, rook_to))
            gone = weights_of(worker, _input_of(view, half, side, ROOK, end))
            move(target, target, come, gone)
        else:
            captured, square = int64(before.board[end]), end
            if flag == EN_PASSANT:
                captured, square = PAWN, (start & 56) | (end & 7)
            placed, moved = int64(position.board[end]), int64(before.board[start])
            come = weights_of(worker, _input_of(view, half, side, placed, end))
            gone = weights_of(worker, _input_of(view, half, side, moved, start))
            if captured == EMPTY:
                move(target, source, come, gone)
            else:
                lost = weights_of(worker, _input_of(view, half, 1 - side, captured, square))
                take(target, source, come, gone, lost)
        store(worker.accumulators, U64(KEYS + 2 * ply + view), position.key)

    @kernel
    def bring_up(worker: Worker, ply: int, view: int) -> Bits:
        """Return where the row of a ply lies, brought up to date."""
        position = position_at(worker, ply)
        half = _half(position, view)
        first = ply
        while load(worker.accumulators, U64(KEYS + 2 * first + view)) != position.key:
            if first == 0 or _half(position_at(worker, first - 1), view) != half:
                renew(worker, first, view)
                break
            first -= 1
            position = position_at(worker, first)
        while first < ply:
            first += 1
            follow(worker, first, view)
        return row_at(worker, 2 * ply + view)

    @kernel
    def judge(worker: Worker, ply: int) -> int:
        position = position_at(worker, ply)
        turn, buckets = position.turn, worker.network_buckets
        pieces = min(count(position.sides[0] | position.sides[1]), MOST_PIECES)
        bucket = _output_of(pieces, buckets)
        weights = worker.network + U64(outputs + 2 * row_bytes * bucket)
        total = activate(bring_up(worker, ply, turn), weights)
        total += activate(bring_up(worker, ply, 1 - turn), weights + U64(row_bytes))
        bias = load(worker.network + U64(outputs + 2 * row_bytes * buckets), U64(bucket))
        return (total // NEURON_ONE + int64(bias)) * SCORE_ONE // (NEURON_ONE * WEIGHT_ONE)

    return judge
