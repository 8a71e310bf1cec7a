"""Correction history: learned differences between search scores and static evaluations.

The differences are averaged by pawn structure, by the pieces of each side, and by the last two
moves.
"""

from agent.chess.board.records import (
    CORRECTION_ENTRIES,
    PIECE_TARGETS,
    Position,
    Worker,
    position_at,
)
from agent.chess.search.move_ordering import earlier_piece_target
from agent.chess.search.parameters import (
    correction_line,
    correction_most_step,
    correction_pawn,
    correction_piece,
    correction_rate,
)
from agent.kernel.decorators import kernel
from agent.kernel.intrinsics import U64, Bits, count, int64
from agent.kernel.scores import MAX_EVALUATION

_MASK = U64(CORRECTION_ENTRIES - 1)
_MAX_ENTRY = 1024
_HASH_MULTIPLIER = 40503  # an odd number that mixes the bits of two moves
_MAX_PIECES_OF_DRAW = 8
_SCALE = 1536  # an entry times its weight, per centipawn


@kernel
def _pawn_index(position: Position) -> int:
    return CORRECTION_ENTRIES * position.turn + _index_of_key(position.pawn_key)


@kernel
def _piece_index(position: Position, side: int) -> int:
    return CORRECTION_ENTRIES * (2 * position.turn + side) + _index_of_key(
        position.piece_keys[side]
    )


@kernel
def _line_index(worker: Worker, ply: int) -> int:
    line = earlier_piece_target(worker, ply, 1) * PIECE_TARGETS + earlier_piece_target(
        worker, ply, 2
    )
    mixed = line * _HASH_MULTIPLIER >> 4
    return CORRECTION_ENTRIES * position_at(worker, ply).turn + (mixed & (CORRECTION_ENTRIES - 1))


@kernel
def _index_of_key(key: Bits) -> int:
    return int64(key & _MASK)


@kernel
def corrected_evaluation(worker: Worker, ply: int, evaluation: int) -> int:
    """Return `evaluation` plus the learned corrections, in centipawns.

    A known draw is not corrected: the corrections come from similar positions that may be won. It
    is recognized by its evaluation of 0 with few pieces.
    """
    position = position_at(worker, ply)
    if evaluation == 0 and count(position.sides[0] | position.sides[1]) <= _MAX_PIECES_OF_DRAW:
        return evaluation
    total = (
        correction_pawn() * worker.pawn_corrections[_pawn_index(position)]
        + correction_piece() * worker.piece_corrections[_piece_index(position, 0)]
        + correction_piece() * worker.piece_corrections[_piece_index(position, 1)]
        + correction_line() * worker.line_corrections[_line_index(worker, ply)]
    )
    value = evaluation + total // _SCALE
    return min(max(value, -MAX_EVALUATION), MAX_EVALUATION)


@kernel
def _updated_entry(entry: int, step: int) -> int:
    return entry + step - entry * abs(step) // _MAX_ENTRY


@kernel
def update_correction_history(worker: Worker, ply: int, depth: int, difference: int) -> None:
    """Update the corrections after a search to `depth` plies.

    `difference` is the search score minus the corrected evaluation, in centipawns.
    """
    position = position_at(worker, ply)
    max_step = correction_most_step()
    step = min(max(difference * depth * correction_rate() // 64, -max_step), max_step)
    index = _pawn_index(position)
    worker.pawn_corrections[index] = _updated_entry(worker.pawn_corrections[index], step)
    index = _line_index(worker, ply)
    worker.line_corrections[index] = _updated_entry(worker.line_corrections[index], step)
    for side in range(2):
        index = _piece_index(position, side)
        worker.piece_corrections[index] = _updated_entry(worker.piece_corrections[index], step)
