"""Retrograde analysis: the distance to mate of every position of an ending, from the mates back.

Ströhlein's method (Munich, 1970), level by level. First every position is valued by its mates and
by the moves that lead to other endings, whose tables are whole (`fill`). Then, for each number of
plies in turn, the predecessors of the positions just decided are looked at (`advance`): one move
into a lost position wins; a position is lost when all its moves lead to won ones.

Values are the bytes of `ending_tables`. At level n all values up to n are final; a greater one is
final too if it is lost, and may still become smaller if it is won.
"""

from collections.abc import Iterator
from typing import Annotated

import numba
import numpy as np
import numpy.typing as npt

from agent.chess.attacks import bit, has, pawn_attacks, piece_attacks
from agent.chess.ending_index import EndingKind, index_of, layout_of, squares_at
from agent.chess.ending_tables import BROKEN, DRAWN, Tables, table_value
from agent.chess.geometry import king_attacks
from agent.chess.records import KING, KNIGHT, PAWN, QUEEN
from agent.compiled.kernel import entry, kernel
from agent.compiled.native import U64, Bits, first_square, int64, load_byte, store_byte
from agent.compiled.record import Many, allocate, record

_NEVER = 1 << 30  # greater than every value
_CHUNK = 1 << 17  # indices that are filled between two signs of life
_MAX_JUMPS = 1 << 16  # positions in which a pawn may jump into an en passant capture


@record
class Task:
    """An ending under analysis: its table, and pieces that stand on some squares."""

    squares: Annotated[Many[int], 4]  # white king, black king, pieces
    kinds: Annotated[Many[int], 4]
    sides: Annotated[Many[int], 4]
    codes: Annotated[Many[int], 4]
    count: int  # of pieces, kings included
    layout: int
    places: int  # of either side to move
    values: Bits  # address of the bytes
    directory: Bits  # address of the directory of the other endings' tables
    level: int
    longest: int  # greatest value so far
    jump_count: int
    jumps: Annotated[Many[int], _MAX_JUMPS]  # turn * size + index


@kernel
def _place(task: Task, turn: int) -> int:
    """Return where the value of the position on the squares is."""
    squares = task.squares
    index = index_of(task.layout, squares[0], squares[1], squares[2], squares[3])
    return turn * task.places + index


@kernel
def _set_up(task: Task, place: int) -> int:
    """Put the pieces where an index says, whether or not that is a position; return the turn."""
    turn = place // task.places
    squares = squares_at(task.layout, place - turn * task.places)
    for i in range(4):
        task.squares[i] = squares[i]
    return turn


@kernel
def _occupied(task: Task) -> Bits:
    occupied = U64(0)
    for i in range(task.count):
        occupied |= bit(task.squares[i])
    return occupied


@kernel
def _is_attacked(task: Task, square: int, by: int, occupied: Bits, but: int) -> bool:
    """Tell whether a piece of side `by`, piece number `but` excepted, attacks a square."""
    for i in range(task.count):
        if task.sides[i] != by or i == but:
            continue
        kind = task.kinds[i]
        if kind == PAWN:
            attacked = pawn_attacks(by, task.squares[i])
        else:
            attacked = piece_attacks(kind, task.squares[i], occupied)
        if has(attacked, square):
            return True
    return False


@kernel
def _targets(task: Task, i: int, occupied: Bits, own: Bits) -> Bits:
    """Return the squares that a piece may go to, checks and en passant aside."""
    square = task.squares[i]
    if task.kinds[i] != PAWN:
        return piece_attacks(task.kinds[i], square, occupied) & ~own
    side = task.sides[i]
    targets = pawn_attacks(side, square) & occupied & ~own
    step = 8 if side == 0 else -8
    if not has(occupied, square + step):
        targets |= bit(square + step)
        start = 1 if side == 0 else 6
        if square >> 3 == start and not has(occupied, square + 2 * step):
            targets |= bit(square + 2 * step)
    return targets


@kernel
def _piece_on(task: Task, square: int, side: int) -> int:
    """Return the number of the side's piece on a square, -1 if there is none."""
    for i in range(2, task.count):
        if task.sides[i] == side and task.squares[i] == square:
            return i
    return -1


@kernel
def _leaves_check(task: Task, i: int, target: int, captured: int, occupied: Bits) -> bool:
    """Tell whether a move keeps or brings the mover's king into check."""
    side = task.sides[i]
    after = occupied ^ bit(task.squares[i]) | bit(target)
    if captured >= 0:
        after = (after ^ bit(task.squares[captured])) | bit(target)
    king = target if i < 2 else task.squares[side]
    return _is_attacked(task, king, 1 - side, after, captured)


@kernel
def _has_moves(task: Task, turn: int) -> bool:
    """Tell whether there is a legal move, en passant not counted."""
    occupied = _occupied(task)
    own = U64(0)
    for i in range(task.count):
        if task.sides[i] == turn:
            own |= bit(task.squares[i])
    for i in range(task.count):
        if task.sides[i] != turn:
            continue
        targets = _targets(task, i, occupied, own)
        while targets:
            target = first_square(targets)
            targets &= targets - U64(1)
            if not _leaves_check(task, i, target, _piece_on(task, target, 1 - turn), occupied):
                return True
    return False


@kernel
def _converted(task: Task, turn: int, moved: int, target: int, kind: int, captured: int) -> int:
    """Return the value, in another ending, of the position after a capture or a promotion.

    turn: who moves then. kind: what the moved piece has become.
    """
    white_king, black_king = task.squares[0], task.squares[1]
    if moved == 0:
        white_king = target
    elif moved == 1:
        black_king = target
    code1 = square1 = code2 = square2 = 0
    for i in range(2, task.count):
        if i == captured:
            continue
        code2, square2 = code1, square1
        code1, square1 = task.codes[i], task.squares[i]
        if i == moved:
            code1, square1 = 1 + kind + 5 * task.sides[i], target
    return table_value(task.directory, turn, white_king, black_king, code1, square1, code2, square2)


@kernel
def _en_passant_capturer(task: Task, i: int, start: int, target: int) -> int:
    """Return the pawn that may take pawn i after its jump, if only by its place; -1 if none."""
    if task.kinds[i] != PAWN or (target - start) not in (16, -16):
        return -1
    side = task.sides[i]
    for j in range(2, task.count):
        if (
            task.kinds[j] == PAWN
            and task.sides[j] != side
            and has(pawn_attacks(side, (start + target) >> 1), task.squares[j])
        ):
            return j
    return -1


@kernel
def _after_jump(task: Task, i: int, capturer: int, target: int, level: int) -> int:
    """Return what is known of the position after pawn i has jumped beside an enemy pawn.

    The pawn stands on its old square still. The value is the better one of taking en passant and
    of the same position without that right.
    """
    start = task.squares[i]
    turn = 1 - task.sides[i]
    task.squares[i] = target
    value = load_byte(task.values, _place(task, turn))
    if value > level:
        value = DRAWN
    jumped = (start + target) >> 1
    if not _leaves_check(task, capturer, jumped, i, _occupied(task)):
        taken = _converted(task, 1 - turn, capturer, jumped, PAWN, i)
        # What taking is worth to the side that takes.
        taken = DRAWN if taken == DRAWN else taken + 1
        if taken > task.longest:
            task.longest = taken
        if taken == DRAWN:
            if value & 1:
                value = DRAWN
        elif taken & 1:
            if value & 1:
                value = max(value, taken)
            elif value == DRAWN and not _has_moves(task, turn):
                value = taken
        else:
            if value & 1 or value == DRAWN or taken < value:
                value = taken
            if value > level:  # a faster win may yet be found
                value = DRAWN
    task.squares[i] = start
    return value


@kernel
def _known(task: Task, turn: int, level: int, only_lost: bool) -> int:
    """Return the value for the side to move as far as it follows from values up to `level`.

    DRAWN stands for unknown too. With `only_lost` a position that is not lost gives DRAWN.
    """
    occupied = _occupied(task)
    own = U64(0)
    for i in range(task.count):
        if task.sides[i] == turn:
            own |= bit(task.squares[i])
    won, lost, undecided, any_move = _NEVER, 0, False, False
    for i in range(task.count):
        if task.sides[i] != turn:
            continue
        start = task.squares[i]
        targets = _targets(task, i, occupied, own)
        while targets:
            target = first_square(targets)
            targets &= targets - U64(1)
            captured = _piece_on(task, target, 1 - turn)
            if _leaves_check(task, i, target, captured, occupied):
                continue
            any_move = True
            kind = task.kinds[i]
            first = last = kind
            if kind == PAWN and (target < 8 or target > 55):
                first, last = KNIGHT, QUEEN
            for becomes in range(first, last + 1):
                if captured >= 0 or becomes != kind:
                    value = _converted(task, 1 - turn, i, target, becomes, captured)
                else:
                    capturer = _en_passant_capturer(task, i, start, target)
                    if capturer >= 0:
                        value = _after_jump(task, i, capturer, target, level)
                    elif level == 0:
                        value = DRAWN
                    else:
                        task.squares[i] = target
                        value = load_byte(task.values, _place(task, 1 - turn))
                        task.squares[i] = start
                        if value > level:
                            value = DRAWN
                if value == DRAWN:
                    undecided = True
                elif value & 1:
                    won = min(won, value + 1)
                else:
                    lost = max(lost, value + 1)
                if only_lost and (undecided or won != _NEVER):
                    return DRAWN
    if won != _NEVER:
        return won
    if not any_move:
        return 1 if _is_attacked(task, task.squares[turn], 1 - turn, occupied, -1) else DRAWN
    return DRAWN if undecided else lost


@kernel
def _is_position(task: Task, place: int, turn: int) -> bool:
    """Tell whether the squares make a position, and the one that its index stands for."""
    occupied = U64(0)
    for i in range(task.count):
        if has(occupied, task.squares[i]):
            return False
        occupied |= bit(task.squares[i])
    if _place(task, turn) != place:
        return False
    return not _is_attacked(task, task.squares[1 - turn], turn, occupied, -1)


@kernel
def _note_jumps(task: Task, place: int, turn: int) -> None:
    """Remember a position in which a pawn may jump beside an enemy pawn."""
    occupied = _occupied(task)
    for i in range(2, task.count):
        start = task.squares[i]
        if task.kinds[i] != PAWN or task.sides[i] != turn:
            continue
        target = start + 16 if turn == 0 else start - 16
        if (
            start >> 3 == (1 if turn == 0 else 6)
            and not has(occupied, target)
            and not has(occupied, (start + target) >> 1)
            and _en_passant_capturer(task, i, start, target) >= 0
        ):
            task.jumps[task.jump_count] = place
            task.jump_count += 1


@entry(numba.void(Task, int64, int64))
def _fill(task: Task, begin: int, end: int) -> None:
    """Value the positions from `begin` to `end` by mates and by moves into other endings."""
    for place in range(begin, end):
        turn = _set_up(task, place)
        value = BROKEN
        if _is_position(task, place, turn):
            value = _known(task, turn, 0, False)
            if value > task.longest:
                task.longest = value
            _note_jumps(task, place, turn)
        store_byte(task.values, place, value)


@kernel
def _offer(task: Task, place: int, value: int) -> None:
    """Give a position a value, unless it has one that is as good."""
    old = load_byte(task.values, place)
    if old == DRAWN or (value < old and old != BROKEN and (old & 1) == (value & 1)):
        store_byte(task.values, place, value)
        if value > task.longest:
            task.longest = value


@kernel
def _origins(task: Task, i: int, occupied: Bits) -> Bits:
    """Return the squares that piece i may have come from without a capture or promotion."""
    square = task.squares[i]
    if task.kinds[i] == PAWN:
        step = 8 if task.sides[i] == 0 else -8
        before = square - step
        origins = U64(0)
        if 7 < before < 56 and not has(occupied, before):
            origins = bit(before)
            if square >> 3 == (3 if task.sides[i] == 0 else 4):
                origins |= bit(before - step) & ~occupied
        return origins
    origins = piece_attacks(task.kinds[i], square, occupied) & ~occupied
    if i < 2:
        origins &= ~king_attacks(task.squares[1 - i])
    return origins


@kernel
def _decide_predecessors(task: Task, turn: int, value: int) -> None:
    """Tell those who may move to this position, whose value is final, of it."""
    occupied = _occupied(task)
    mover = 1 - turn
    for i in range(task.count):
        if task.sides[i] != mover:
            continue
        square = task.squares[i]
        origins = _origins(task, i, occupied)
        while origins:
            origin = first_square(origins)
            origins &= origins - U64(1)
            if _en_passant_capturer(task, i, origin, square) >= 0:
                continue  # such jumps are looked at on every level
            task.squares[i] = origin
            place = _place(task, mover)
            if value & 1:
                _offer(task, place, value + 1)
            elif load_byte(task.values, place) == DRAWN:
                lost = _known(task, mover, value, True)
                if lost != DRAWN:
                    _offer(task, place, lost)
        task.squares[i] = square


@entry(numba.void(Task))
def _advance(task: Task) -> None:
    """Decide the predecessors of all positions of this level."""
    level = task.level
    for place in range(2 * task.places):
        if load_byte(task.values, place) == level:
            turn = _set_up(task, place)
            _decide_predecessors(task, turn, level)
    for i in range(task.jump_count):
        place = task.jumps[i]
        turn = _set_up(task, place)
        value = _known(task, turn, level, False)
        if value != DRAWN:
            _offer(task, place, value)


class Analysis:
    """The analysis of one ending, a step at a time, so that it can be watched and given up.

    tables: must hold all endings that this one leads to.
    """

    def __init__(self, ending: EndingKind, tables: Tables) -> None:
        self.ending = ending
        self.values: npt.NDArray[np.uint8] = np.zeros(2 * ending.size, dtype=np.uint8)
        self._tables = tables
        self._task, _ = allocate(Task)
        task = self._task
        codes = (1, 6, *ending.codes)
        task.count = len(codes)
        for i, code in enumerate(codes):
            task.codes[i] = code
            task.sides[i] = (code - 1) // 5
            task.kinds[i] = (code - 1) % 5 if i > 1 else KING
        task.layout = _layout(ending.signature)
        task.places = ending.size
        task.values = U64(self.values.ctypes.data)
        task.directory = U64(tables.address)

    def steps(self) -> Iterator[float]:
        """Do it; yield the share that is done, 0 to 1, after each step, some of a second long.

        The last part is judged by the usual length of such analyses.
        """
        task = self._task
        total = 2 * self.ending.size
        for begin in range(0, total, _CHUNK):
            _fill(task, begin, min(begin + _CHUNK, total))
            yield 0.5 * min(begin + _CHUNK, total) / total
        while task.level < task.longest:
            task.level += 1
            _advance(task)
            yield 1.0 - 0.5 * 0.95 ** int(task.level)


@entry(int64(int64))
def _layout(signature: int) -> int:
    return layout_of(signature)
