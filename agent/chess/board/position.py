"""Making moves, and detecting draws by insufficient material or repetition."""

from agent.chess.board.attacks import attackers, bit, has, king_square, pawn_attacks
from agent.chess.board.bitboards import DARK_SQUARES
from agent.chess.board.lookup_tables import zobrist
from agent.chess.board.movegen import (
    castling_squares,
    en_passant_is_legal,
    find_pinned,
    from_square,
    promotion_kind,
    to_square,
)
from agent.chess.board.records import (
    BISHOP,
    CASTLING,
    EMPTY,
    EN_PASSANT,
    FLAG_MASK,
    KING,
    KNIGHT,
    MAX_GAME_KEYS,
    NO_MOVE,
    NO_SQUARE,
    PAWN,
    PROMOTION,
    QUEEN,
    ROOK,
    Position,
    Worker,
    copy_position,
    position_at,
)
from agent.kernel.decorators import kernel
from agent.kernel.intrinsics import U64, Bits, count, first_square
from agent.kernel.transposition_table import prefetch_entries

# Offsets into Polyglot's list of random numbers.
_CASTLING_KEYS, _EN_PASSANT_KEYS, TURN_KEY = 768, 772, 780

_FIRST_RANK = (U64(0x00000000000000FF), U64(0xFF00000000000000))


@kernel
def piece_key(side: int, kind: int, square: int) -> Bits:
    return zobrist(64 * (2 * kind + 1 - side) + square)


@kernel
def _castling_key(position: Position) -> Bits:
    key = U64(0)
    rooks = position.castling
    while rooks:
        rook = first_square(rooks)
        side = 1 if rook > 31 else 0
        queen_side = 1 if rook < king_square(position, side) else 0
        key ^= zobrist(_CASTLING_KEYS + 2 * side + queen_side)
        rooks &= rooks - U64(1)
    return key


@kernel
def _toggle_keys(position: Position, side: int, kind: int, square: int) -> None:
    key = piece_key(side, kind, square)
    position.key ^= key
    if kind == PAWN:
        position.pawn_key ^= key
    else:
        position.piece_keys[side] ^= key


@kernel
def _toggle(position: Position, side: int, kind: int, square: int) -> None:
    mask = bit(square)
    position.kinds[kind] ^= mask
    position.sides[side] ^= mask
    _toggle_keys(position, side, kind, square)


@kernel
def _set_en_passant(position: Position, target: int) -> bool:
    """Set the en passant square if a pawn attacks it, and return whether a capture is legal.

    `position.turn` must already be the side that may capture.
    """
    side = position.turn
    capturers = pawn_attacks(1 - side, target) & position.kinds[PAWN] & position.sides[side]
    if not capturers:
        return False
    position.en_passant = target
    position.key ^= zobrist(_EN_PASSANT_KEYS + (target & 7))
    while capturers:
        if en_passant_is_legal(position, first_square(capturers), target):
            return True
        capturers &= capturers - U64(1)
    return False


@kernel
def _set_repetition_key(position: Position, en_passant_counts: bool) -> None:
    position.repetition_key = position.key
    if position.en_passant != NO_SQUARE and not en_passant_counts:
        position.repetition_key ^= zobrist(_EN_PASSANT_KEYS + (position.en_passant & 7))


@kernel
def _update_checks(position: Position) -> None:
    side = position.turn
    king = king_square(position, side)
    occupied = position.sides[0] | position.sides[1]
    position.checkers = attackers(position, king, occupied) & position.sides[1 - side]
    position.pinned = find_pinned(position, king, side)


@kernel
def refresh(position: Position) -> None:
    """Compute all fields derived from `kinds`, `sides`, `turn`, `castling` and `en_passant`."""
    position.key = position.pawn_key = position.piece_keys[0] = position.piece_keys[1] = U64(0)
    for square in range(64):
        position.board[square] = EMPTY
    for kind in range(6):
        pieces = position.kinds[kind]
        while pieces:
            square = first_square(pieces)
            position.board[square] = kind
            side = 0 if has(position.sides[0], square) else 1
            _toggle_keys(position, side, kind, square)
            pieces &= pieces - U64(1)
    position.key ^= _castling_key(position)
    if position.turn == 0:
        position.key ^= zobrist(TURN_KEY)
    target = position.en_passant
    position.en_passant = NO_SQUARE
    legal = target != NO_SQUARE and _set_en_passant(position, target)
    _set_repetition_key(position, legal)
    _update_checks(position)
    position.move = NO_MOVE


@kernel
def encode_move(position: Position, start: int, target: int, promotion: int) -> int:
    """Return the 16-bit encoding of a move. `promotion` is a piece type, or 0.

    Castling can be given as a king move by two squares or as a king move onto the rook.
    """
    side = position.turn
    kind = position.board[start]
    move = start | target << 6
    if promotion:
        return move | (promotion - 1) << 12 | PROMOTION
    if kind == PAWN and target == position.en_passant and (target - start) & 7:
        return move | EN_PASSANT
    if kind == KING:
        if has(position.castling & position.sides[side], target):
            return move | CASTLING
        distance = target - start
        if distance in (2, -2):
            rooks = position.castling & position.sides[side]
            while rooks:
                rook = first_square(rooks)
                if (rook > start) == (distance > 0):
                    return start | rook << 6 | CASTLING
                rooks &= rooks - U64(1)
    return move


@kernel
def _prefetch_entry(
    worker: Worker, position: Position, kind: int, captured: int, start: int, target: int
) -> None:
    """Prefetch the transposition table entry for the position after an ordinary move."""
    side = position.turn
    key = position.key ^ piece_key(side, kind, start) ^ piece_key(side, kind, target)
    if captured != EMPTY:
        key ^= piece_key(1 - side, captured, target)
    prefetch_entries(worker, key ^ zobrist(TURN_KEY))


@kernel
def make_move(worker: Worker, ply: int, move: int) -> None:
    """Copy the position at `ply` to `ply + 1`, and make a legal move there."""
    position = position_at(worker, ply)
    side = position.turn
    start, target, flag = from_square(move), to_square(move), move & FLAG_MASK
    kind = position.board[start]
    captured = position.board[target]
    skipped_square = NO_SQUARE
    _prefetch_entry(worker, position, kind, captured, start, target)
    position = position_at(worker, ply + 1)
    copy_position(position, position_at(worker, ply))

    if flag != CASTLING and (kind == PAWN or captured != EMPTY):
        position.halfmoves = 0
        position.reversible_plies = 0
    else:
        position.halfmoves += 1
        position.reversible_plies += 1
    position.fullmoves += side
    if position.en_passant != NO_SQUARE:
        position.key ^= zobrist(_EN_PASSANT_KEYS + (position.en_passant & 7))
        position.en_passant = NO_SQUARE

    touched = bit(start) | bit(target)
    if kind == KING:
        touched |= _FIRST_RANK[0] if side == 0 else _FIRST_RANK[1]
    if position.castling & touched:
        position.key ^= _castling_key(position)
        position.castling &= ~touched
        position.key ^= _castling_key(position)

    if flag == CASTLING:
        king_to, rook_to = castling_squares(start, target)
        _toggle(position, side, KING, start)
        _toggle(position, side, ROOK, target)
        _toggle(position, side, KING, king_to)
        _toggle(position, side, ROOK, rook_to)
        position.board[start] = EMPTY
        position.board[target] = EMPTY
        position.board[king_to] = KING
        position.board[rook_to] = ROOK
    else:
        if captured != EMPTY:
            _toggle(position, 1 - side, captured, target)
        _toggle(position, side, kind, start)
        position.board[start] = EMPTY
        if kind == PAWN:
            if flag == EN_PASSANT:
                pawn = target - 8 if side == 0 else target + 8
                _toggle(position, 1 - side, PAWN, pawn)
                position.board[pawn] = EMPTY
            elif flag == PROMOTION:
                kind = promotion_kind(move)
            elif (start ^ target) == 16:
                skipped_square = (start + target) >> 1
        _toggle(position, side, kind, target)
        position.board[target] = kind

    position.turn = 1 - side
    position.key ^= zobrist(TURN_KEY)
    position.move = move
    legal = skipped_square != NO_SQUARE and _set_en_passant(position, skipped_square)
    _set_repetition_key(position, legal)
    _update_checks(position)


@kernel
def advance_root(worker: Worker, move: int) -> None:
    """Make a legal move at the root, and add the previous root position to the game history."""
    root = position_at(worker, 0)
    if worker.game_key_count == MAX_GAME_KEYS:
        for i in range(MAX_GAME_KEYS - 1):
            worker.game_keys[i] = worker.game_keys[i + 1]
        worker.game_key_count -= 1
    worker.game_keys[worker.game_key_count] = root.repetition_key
    worker.game_key_count += 1
    make_move(worker, 0, move)
    copy_position(root, position_at(worker, 1))


@kernel
def make_null_move(worker: Worker, ply: int) -> None:
    """Write the position after a null move to `ply + 1`. The side to move must not be in check."""
    position = position_at(worker, ply + 1)
    copy_position(position, position_at(worker, ply))
    if position.en_passant != NO_SQUARE:
        position.key ^= zobrist(_EN_PASSANT_KEYS + (position.en_passant & 7))
        position.en_passant = NO_SQUARE
    position.turn = 1 - position.turn
    position.key ^= zobrist(TURN_KEY)
    position.halfmoves += 1
    position.reversible_plies = 0
    position.move = NO_MOVE
    _set_repetition_key(position, False)
    _update_checks(position)


@kernel
def is_insufficient_material(position: Position) -> bool:
    """Return whether neither side has mating material.

    This means at most one minor piece in total, or only bishops on squares of one colour.
    """
    kinds = position.kinds
    if kinds[PAWN] | kinds[ROOK] | kinds[QUEEN]:
        return False
    if count(position.sides[0] | position.sides[1]) <= 3:
        return True
    bishops = kinds[BISHOP]
    return kinds[KNIGHT] == 0 and (bishops & DARK_SQUARES == 0 or bishops & ~DARK_SQUARES == 0)


@kernel
def is_repetition(worker: Worker, ply: int) -> bool:
    """Return whether the search treats the position at `ply` as a draw by repetition.

    The position must have occurred once since the root (inclusive), or twice before the root.
    """
    position = position_at(worker, ply)
    key = position.repetition_key
    max_distance = position.reversible_plies
    occurrences = 0
    distance = 4
    while distance <= max_distance:
        if distance <= ply:
            if position_at(worker, ply - distance).repetition_key == key:
                return True
        else:
            index = worker.game_key_count + ply - distance
            if index < 0:
                return False
            if worker.game_keys[index] == key:
                occurrences += 1
                if occurrences == 2:
                    return True
        distance += 2
    return False
