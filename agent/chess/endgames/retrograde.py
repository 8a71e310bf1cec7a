"""Retrograde analysis, which computes the distance to mate for every position of an endgame.

First, `_initialise` assigns values to mates and to positions that are decided by moves into other
endgames. Then `_propagate_level` runs once per ply, and updates the predecessors of the positions
that have just been decided. At level n, all values up to n are final. Higher losses are final too,
but a higher win may still become shorter.

Source: Ströhlein's dissertation (Munich, 1970).
"""

from collections.abc import Iterator
from typing import Annotated

import numba
import numpy as np
import numpy.typing as npt

from agent.chess.board.attacks import bit, has, pawn_attacks, piece_attacks
from agent.chess.board.lookup_tables import king_attacks
from agent.chess.board.records import KING, KNIGHT, PAWN, QUEEN
from agent.chess.endgames.dtm_tables import DRAWN, INVALID, DtmTables, tablebase_value
from agent.chess.endgames.table_index import (
    EndgameType,
    squares_of_index,
    table_index,
    table_layout,
)
from agent.kernel.decorators import entry_point, kernel
from agent.kernel.intrinsics import U64, Bits, first_square, int64, load_byte, store_byte
from agent.kernel.record import FixedArray, allocate, record

_NEVER = 1 << 30  # greater than every value
_CHUNK_SIZE = 1 << 17  # indices per step of the initialisation
_MAX_DOUBLE_PUSHES = 1 << 16  # positions with a double push that allows en passant


@record
class RetrogradeState:
    """The state of an analysis, with the table and the position that is being examined."""

    squares: Annotated[FixedArray[int], 4]  # white king, black king, other pieces
    kinds: Annotated[FixedArray[int], 4]
    sides: Annotated[FixedArray[int], 4]
    codes: Annotated[FixedArray[int], 4]
    count: int  # number of pieces, including kings
    layout: int
    positions_per_side: int  # number of indices for each side to move
    values: Bits  # address of the table
    directory: Bits  # address of the directory of other endgames' tables
    level: int
    max_value: int  # greatest value so far
    double_push_count: int
    double_pushes: Annotated[FixedArray[int], _MAX_DOUBLE_PUSHES]  # indices into `values`


@kernel
def _value_index(state: RetrogradeState, turn: int) -> int:
    squares = state.squares
    index = table_index(state.layout, squares[0], squares[1], squares[2], squares[3])
    return turn * state.positions_per_side + index


@kernel
def _set_up_position(state: RetrogradeState, value_index: int) -> int:
    """Set the current position, which may be illegal, from its index. Return the side to move."""
    turn = value_index // state.positions_per_side
    squares = squares_of_index(state.layout, value_index - turn * state.positions_per_side)
    for i in range(4):
        state.squares[i] = squares[i]
    return turn


@kernel
def _occupied(state: RetrogradeState) -> Bits:
    occupied = U64(0)
    for i in range(state.count):
        occupied |= bit(state.squares[i])
    return occupied


@kernel
def _is_attacked(
    state: RetrogradeState, square: int, by: int, occupied: Bits, excluded: int
) -> bool:
    for i in range(state.count):
        if state.sides[i] != by or i == excluded:
            continue
        kind = state.kinds[i]
        if kind == PAWN:
            attacked = pawn_attacks(by, state.squares[i])
        else:
            attacked = piece_attacks(kind, state.squares[i], occupied)
        if has(attacked, square):
            return True
    return False


@kernel
def _targets(state: RetrogradeState, i: int, occupied: Bits, own: Bits) -> Bits:
    square = state.squares[i]
    if state.kinds[i] != PAWN:
        return piece_attacks(state.kinds[i], square, occupied) & ~own
    side = state.sides[i]
    targets = pawn_attacks(side, square) & occupied & ~own
    step = 8 if side == 0 else -8
    if not has(occupied, square + step):
        targets |= bit(square + step)
        start = 1 if side == 0 else 6
        if square >> 3 == start and not has(occupied, square + 2 * step):
            targets |= bit(square + 2 * step)
    return targets


@kernel
def _piece_index_on(state: RetrogradeState, square: int, side: int) -> int:
    """Return the index of the piece of `side` (other than the king) on `square`, or -1."""
    for i in range(2, state.count):
        if state.sides[i] == side and state.squares[i] == square:
            return i
    return -1


@kernel
def _leaves_king_in_check(
    state: RetrogradeState, i: int, target: int, captured: int, occupied: Bits
) -> bool:
    side = state.sides[i]
    after = occupied ^ bit(state.squares[i]) | bit(target)
    if captured >= 0:
        after = (after ^ bit(state.squares[captured])) | bit(target)
    king = target if i < 2 else state.squares[side]
    return _is_attacked(state, king, 1 - side, after, captured)


@kernel
def _has_moves(state: RetrogradeState, turn: int) -> bool:
    occupied = _occupied(state)
    own = U64(0)
    for i in range(state.count):
        if state.sides[i] == turn:
            own |= bit(state.squares[i])
    for i in range(state.count):
        if state.sides[i] != turn:
            continue
        targets = _targets(state, i, occupied, own)
        while targets:
            target = first_square(targets)
            targets &= targets - U64(1)
            if not _leaves_king_in_check(
                state, i, target, _piece_index_on(state, target, 1 - turn), occupied
            ):
                return True
    return False


@kernel
def _conversion_value(
    state: RetrogradeState, turn: int, moved: int, target: int, kind: int, captured: int
) -> int:
    """Return the value after a capture or promotion, from the table of the new endgame.

    `turn` is the side to move after the move. `kind` is the type of the piece after a promotion.
    """
    white_king, black_king = state.squares[0], state.squares[1]
    if moved == 0:
        white_king = target
    elif moved == 1:
        black_king = target
    code1 = square1 = code2 = square2 = 0
    for i in range(2, state.count):
        if i == captured:
            continue
        code2, square2 = code1, square1
        code1, square1 = state.codes[i], state.squares[i]
        if i == moved:
            code1, square1 = 1 + kind + 5 * state.sides[i], target
    return tablebase_value(
        state.directory, turn, white_king, black_king, code1, square1, code2, square2
    )


@kernel
def _en_passant_capturer(state: RetrogradeState, i: int, start: int, target: int) -> int:
    """Return the index of a pawn that can capture piece `i` en passant after its move, or -1."""
    if state.kinds[i] != PAWN or (target - start) not in (16, -16):
        return -1
    side = state.sides[i]
    for j in range(2, state.count):
        if (
            state.kinds[j] == PAWN
            and state.sides[j] != side
            and has(pawn_attacks(side, (start + target) >> 1), state.squares[j])
        ):
            return j
    return -1


@kernel
def _value_after_double_push(
    state: RetrogradeState, i: int, capturer: int, target: int, level: int
) -> int:
    """Return the opponent's value after a double push that `capturer` can capture en passant.

    The opponent captures only if that is better. Pawn `i` must still be on its starting square.
    """
    start = state.squares[i]
    turn = 1 - state.sides[i]
    state.squares[i] = target
    value = load_byte(state.values, _value_index(state, turn))
    if value > level:
        value = DRAWN
    skipped = (start + target) >> 1
    if not _leaves_king_in_check(state, capturer, skipped, i, _occupied(state)):
        capture_value = _conversion_value(state, 1 - turn, capturer, skipped, PAWN, i)
        # The value of the capture for the side that captures.
        capture_value = DRAWN if capture_value == DRAWN else capture_value + 1
        if capture_value > state.max_value:
            state.max_value = capture_value
        if capture_value == DRAWN:
            if value & 1:
                value = DRAWN
        elif capture_value & 1:
            if value & 1:
                value = max(value, capture_value)
            elif value == DRAWN and not _has_moves(state, turn):
                value = capture_value
        else:
            if value & 1 or value == DRAWN or capture_value < value:
                value = capture_value
            if value > level:  # a shorter win may still be found
                value = DRAWN
    state.squares[i] = start
    return value


@kernel
def _value_from_successors(state: RetrogradeState, turn: int, level: int, only_lost: bool) -> int:
    """Return the value for the side to move, derived from successor values up to `level`.

    DRAWN also means undecided. If `only_lost` is true, every position that is not lost gives DRAWN.
    """
    occupied = _occupied(state)
    own = U64(0)
    for i in range(state.count):
        if state.sides[i] == turn:
            own |= bit(state.squares[i])
    best_win, longest_loss, undecided, any_move = _NEVER, 0, False, False
    for i in range(state.count):
        if state.sides[i] != turn:
            continue
        start = state.squares[i]
        targets = _targets(state, i, occupied, own)
        while targets:
            target = first_square(targets)
            targets &= targets - U64(1)
            captured = _piece_index_on(state, target, 1 - turn)
            if _leaves_king_in_check(state, i, target, captured, occupied):
                continue
            any_move = True
            kind = state.kinds[i]
            first = last = kind
            if kind == PAWN and (target < 8 or target > 55):
                first, last = KNIGHT, QUEEN
            for new_kind in range(first, last + 1):
                if captured >= 0 or new_kind != kind:
                    value = _conversion_value(state, 1 - turn, i, target, new_kind, captured)
                else:
                    capturer = _en_passant_capturer(state, i, start, target)
                    if capturer >= 0:
                        value = _value_after_double_push(state, i, capturer, target, level)
                    elif level == 0:
                        value = DRAWN
                    else:
                        state.squares[i] = target
                        value = load_byte(state.values, _value_index(state, 1 - turn))
                        state.squares[i] = start
                        if value > level:
                            value = DRAWN
                if value == DRAWN:
                    undecided = True
                elif value & 1:
                    best_win = min(best_win, value + 1)
                else:
                    longest_loss = max(longest_loss, value + 1)
                if only_lost and (undecided or best_win != _NEVER):
                    return DRAWN
    if best_win != _NEVER:
        return best_win
    if not any_move:
        return 1 if _is_attacked(state, state.squares[turn], 1 - turn, occupied, -1) else DRAWN
    return DRAWN if undecided else longest_loss


@kernel
def _is_position(state: RetrogradeState, value_index: int, turn: int) -> bool:
    occupied = U64(0)
    for i in range(state.count):
        if has(occupied, state.squares[i]):
            return False
        occupied |= bit(state.squares[i])
    if _value_index(state, turn) != value_index:
        return False
    return not _is_attacked(state, state.squares[1 - turn], turn, occupied, -1)


@kernel
def _record_double_pushes(state: RetrogradeState, value_index: int, turn: int) -> None:
    occupied = _occupied(state)
    for i in range(2, state.count):
        start = state.squares[i]
        if state.kinds[i] != PAWN or state.sides[i] != turn:
            continue
        target = start + 16 if turn == 0 else start - 16
        if (
            start >> 3 == (1 if turn == 0 else 6)
            and not has(occupied, target)
            and not has(occupied, (start + target) >> 1)
            and _en_passant_capturer(state, i, start, target) >= 0
        ):
            state.double_pushes[state.double_push_count] = value_index
            state.double_push_count += 1


@entry_point(numba.void(RetrogradeState, int64, int64))
def _initialise(state: RetrogradeState, begin: int, end: int) -> None:
    for value_index in range(begin, end):
        turn = _set_up_position(state, value_index)
        value = INVALID
        if _is_position(state, value_index, turn):
            value = _value_from_successors(state, turn, 0, False)
            if value > state.max_value:
                state.max_value = value
            _record_double_pushes(state, value_index, turn)
        store_byte(state.values, value_index, value)


@kernel
def _improve_value(state: RetrogradeState, value_index: int, value: int) -> None:
    old = load_byte(state.values, value_index)
    if old == DRAWN or (value < old and old != INVALID and (old & 1) == (value & 1)):
        store_byte(state.values, value_index, value)
        if value > state.max_value:
            state.max_value = value


@kernel
def _unmove_squares(state: RetrogradeState, i: int, occupied: Bits) -> Bits:
    """Return the squares from which piece `i` may have moved without a capture or promotion."""
    square = state.squares[i]
    if state.kinds[i] == PAWN:
        step = 8 if state.sides[i] == 0 else -8
        before = square - step
        origins = U64(0)
        if 7 < before < 56 and not has(occupied, before):
            origins = bit(before)
            if square >> 3 == (3 if state.sides[i] == 0 else 4):
                origins |= bit(before - step) & ~occupied
        return origins
    origins = piece_attacks(state.kinds[i], square, occupied) & ~occupied
    if i < 2:
        origins &= ~king_attacks(state.squares[1 - i])
    return origins


@kernel
def _update_predecessors(state: RetrogradeState, turn: int, value: int) -> None:
    occupied = _occupied(state)
    mover = 1 - turn
    for i in range(state.count):
        if state.sides[i] != mover:
            continue
        square = state.squares[i]
        origins = _unmove_squares(state, i, occupied)
        while origins:
            origin = first_square(origins)
            origins &= origins - U64(1)
            if _en_passant_capturer(state, i, origin, square) >= 0:
                continue  # `_propagate_level` handles these double pushes
            state.squares[i] = origin
            value_index = _value_index(state, mover)
            if value & 1:
                _improve_value(state, value_index, value + 1)
            elif load_byte(state.values, value_index) == DRAWN:
                loss_value = _value_from_successors(state, mover, value, True)
                if loss_value != DRAWN:
                    _improve_value(state, value_index, loss_value)
        state.squares[i] = square


@entry_point(numba.void(RetrogradeState))
def _propagate_level(state: RetrogradeState) -> None:
    level = state.level
    for value_index in range(2 * state.positions_per_side):
        if load_byte(state.values, value_index) == level:
            turn = _set_up_position(state, value_index)
            _update_predecessors(state, turn, level)
    for i in range(state.double_push_count):
        value_index = state.double_pushes[i]
        turn = _set_up_position(state, value_index)
        value = _value_from_successors(state, turn, level, False)
        if value != DRAWN:
            _improve_value(state, value_index, value)


class RetrogradeAnalysis:
    """The analysis of one endgame. `tables` must contain all endgames that it can lead to."""

    def __init__(self, endgame: EndgameType, tables: DtmTables) -> None:
        self.endgame = endgame
        self.values: npt.NDArray[np.uint8] = np.zeros(2 * endgame.size, dtype=np.uint8)
        self._tables = tables
        self._state, _ = allocate(RetrogradeState)
        state = self._state
        codes = (1, 6, *endgame.codes)
        state.count = len(codes)
        for i, code in enumerate(codes):
            state.codes[i] = code
            state.sides[i] = (code - 1) // 5
            state.kinds[i] = (code - 1) % 5 if i > 1 else KING
        state.layout = _layout(endgame.signature)
        state.positions_per_side = endgame.size
        state.values = U64(self.values.ctypes.data)
        state.directory = U64(tables.address)

    def steps(self) -> Iterator[float]:
        """Run the analysis in short steps, and yield the estimated progress (0 to 1) after each."""
        state = self._state
        total = 2 * self.endgame.size
        for begin in range(0, total, _CHUNK_SIZE):
            _initialise(state, begin, min(begin + _CHUNK_SIZE, total))
            yield 0.5 * min(begin + _CHUNK_SIZE, total) / total
        while state.level < state.max_value:
            state.level += 1
            _propagate_level(state)
            yield 1.0 - 0.5 * 0.95 ** int(state.level)


@entry_point(int64(int64))
def _layout(signature: int) -> int:
    return table_layout(signature)
