"""Making moves, and detecting draws by insufficient material or repetition."""

from agent.chess.board.attacks import attackers, bit, has, king_square, pawn_attacks
from agent.chess.board.bitboards import DARK_SQUARES
from agent.chess.board.endings import is_variant_draw
from agent.chess.board.lookup_tables import king_attacks, zobrist
from agent.chess.board.movegen import (
    castling_squares,
    en_passant_is_legal,
    explosion,
    find_pinned,
    from_square,
    is_drop,
    promotion_kind,
    to_square,
)
from agent.chess.board.records import (
    BISHOP,
    CASTLING,
    EMPTY,
    EN_PASSANT,
    FLAG_MASK,
    KIND_MASK,
    KING,
    KING_PROMOTION,
    KNIGHT,
    MAX_GAME_KEYS,
    NO_MOVE,
    NO_SQUARE,
    PAWN,
    POCKET_KINDS,
    PROMOTION,
    QUEEN,
    ROOK,
    Position,
    Worker,
    copy_position,
    position_at,
)
from agent.chess.board.rules import (
    COUNTS_CHECKS,
    EXPLOSIONS,
    FORCED_CAPTURES,
    HORDE,
    IS_STANDARD,
    POCKETS,
)
from agent.kernel.decorators import kernel
from agent.kernel.intrinsics import U64, Bits, count, first_square
from agent.kernel.transposition_table import prefetch_entries

# Offsets into Polyglot's list of random numbers.
_CASTLING_KEYS, _EN_PASSANT_KEYS, TURN_KEY = 768, 772, 780

# Indices of `_variant_key`.
_CHECK_KEYS, _POCKET_KEYS, _PROMOTED_KEYS = 0, 1 << 10, 1 << 13

_FIRST_RANK = (U64(0x00000000000000FF), U64(0xFF00000000000000))


@kernel
def piece_key(side: int, kind: int, square: int) -> Bits:
    return zobrist(64 * (2 * kind + 1 - side) + square)


@kernel
def _variant_key(index: int) -> Bits:
    """Return a key that Polyglot does not define, with the finalizer of SplitMix64."""
    key = U64(index + 1) * U64(0x9E3779B97F4A7C15)
    key = (key ^ key >> U64(30)) * U64(0xBF58476D1CE4E5B9)
    key = (key ^ key >> U64(27)) * U64(0x94D049BB133111EB)
    return key ^ key >> U64(31)


@kernel
def _checks_key(position: Position, side: int) -> Bits:
    return _variant_key(_CHECK_KEYS + 16 * side + position.remaining_checks[side])


@kernel
def _pocket_key(position: Position, index: int) -> Bits:
    return _variant_key(_POCKET_KEYS + 64 * index + position.pockets[index])


@kernel
def _add_to_pocket(position: Position, side: int, kind: int, number: int) -> None:
    index = POCKET_KINDS * side + kind
    position.key ^= _pocket_key(position, index)
    position.pockets[index] += number
    position.key ^= _pocket_key(position, index)


@kernel
def _toggle_promoted(position: Position, square: int) -> None:
    position.promoted ^= bit(square)
    position.key ^= _variant_key(_PROMOTED_KEYS + square)


@kernel
def _set_variant_keys(position: Position) -> None:
    """Add the keys of the fields that only variants have to `position.key`."""
    if COUNTS_CHECKS:
        position.key ^= _checks_key(position, 0) ^ _checks_key(position, 1)
    if POCKETS:
        for index in range(2 * POCKET_KINDS):
            position.key ^= _pocket_key(position, index)
        promoted = position.promoted
        while promoted:
            position.key ^= _variant_key(_PROMOTED_KEYS + first_square(promoted))
            promoted &= promoted - U64(1)


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
    if FORCED_CAPTURES or EXPLOSIONS or HORDE:
        position.checkers = position.pinned = U64(0)
        if FORCED_CAPTURES or not position.kinds[KING] & position.sides[side]:
            return
    if EXPLOSIONS:
        enemy = position.sides[1 - side]
        if not king_attacks(king) & position.kinds[KING] & enemy:  # not side by side
            position.checkers = attackers(position, king, position.sides[side] | enemy) & enemy
        return
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
    if not IS_STANDARD:
        _set_variant_keys(position)
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
    if FORCED_CAPTURES and promotion == KING:
        return move | KING_PROMOTION
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
    if POCKETS and is_drop(move):
        kind = start
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
    if POCKETS:
        # Captured pieces return, so that any position can be repeated.
        position.reversible_plies = position_at(worker, ply).reversible_plies + 1
        if is_drop(move):
            position.halfmoves = position_at(worker, ply).halfmoves + 1
    position.fullmoves += side
    if position.en_passant != NO_SQUARE:
        position.key ^= zobrist(_EN_PASSANT_KEYS + (position.en_passant & 7))
        position.en_passant = NO_SQUARE

    touched = bit(start) | bit(target)
    if kind == KING:
        touched |= _FIRST_RANK[0] if side == 0 else _FIRST_RANK[1]
    if POCKETS and is_drop(move):
        touched = bit(target)
    emptied = U64(0)
    if EXPLOSIONS:
        emptied = explosion(position, move)
        touched |= emptied
        if emptied & position.kinds[KING] & position.sides[1 - side]:
            touched |= _FIRST_RANK[1] if side == 0 else _FIRST_RANK[0]
    if position.castling & touched:
        position.key ^= _castling_key(position)
        position.castling &= ~touched
        position.key ^= _castling_key(position)

    if POCKETS and is_drop(move):
        _add_to_pocket(position, side, kind, -1)
        _toggle(position, side, kind, target)
        position.board[target] = kind
    elif flag == CASTLING:
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
            if POCKETS:
                if has(position.promoted, target):
                    _toggle_promoted(position, target)
                    captured = PAWN
                _add_to_pocket(position, side, captured, 1)
        _toggle(position, side, kind, start)
        position.board[start] = EMPTY
        if POCKETS and has(position.promoted, start):
            _toggle_promoted(position, start)
            _toggle_promoted(position, target)
        if kind == PAWN:
            if FORCED_CAPTURES and move & KIND_MASK == KING_PROMOTION:
                kind = KING
            elif flag == EN_PASSANT:
                pawn = target - 8 if side == 0 else target + 8
                _toggle(position, 1 - side, PAWN, pawn)
                position.board[pawn] = EMPTY
                if POCKETS:
                    _add_to_pocket(position, side, PAWN, 1)
            elif flag == PROMOTION:
                kind = promotion_kind(move)
                if POCKETS:
                    _toggle_promoted(position, target)
            elif (start ^ target) == 16:
                skipped_square = (start + target) >> 1
        _toggle(position, side, kind, target)
        position.board[target] = kind
    if HORDE and start < 8:  # no capture en passant after a double step from the first rank
        skipped_square = NO_SQUARE
    if EXPLOSIONS:
        emptied &= position.sides[0] | position.sides[1]
        while emptied:
            square = first_square(emptied)
            owner = 0 if has(position.sides[0], square) else 1
            _toggle(position, owner, position.board[square], square)
            position.board[square] = EMPTY
            emptied &= emptied - U64(1)

    position.turn = 1 - side
    position.key ^= zobrist(TURN_KEY)
    position.move = move
    legal = skipped_square != NO_SQUARE and _set_en_passant(position, skipped_square)
    _set_repetition_key(position, legal)
    _update_checks(position)
    if COUNTS_CHECKS and position.checkers:
        key = _checks_key(position, side)
        position.remaining_checks[side] -= 1
        key ^= _checks_key(position, side)
        position.key ^= key
        position.repetition_key ^= key


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

    This means at most one minor piece in total, or only bishops on squares of one colour. Variants
    have their own rules.
    """
    if not IS_STANDARD:
        return is_variant_draw(position)
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
