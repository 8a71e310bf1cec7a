"""Fields of encoded moves, and the generator of legal moves."""

from agent.chess.board.attacks import (
    attackers,
    between,
    bit,
    has,
    is_attacked,
    king_square,
    line,
    pawn_attacks,
    piece_attacks,
)
from agent.chess.board.bitboards import ALL_SQUARES, FILE_A, FILE_H
from agent.chess.board.lookup_tables import bishop_rays, king_attacks, rook_rays
from agent.chess.board.records import (
    BISHOP,
    CASTLING,
    EN_PASSANT,
    FLAG_MASK,
    KING,
    KNIGHT,
    NO_SQUARE,
    PAWN,
    PROMOTION,
    QUEEN,
    ROOK,
    Frame,
    Position,
)
from agent.kernel.decorators import kernel
from agent.kernel.intrinsics import U64, Bits, count, first_square

# Move classes. Noisy moves are captures and promotions to a queen; all others are quiet.
NOISY, QUIET, ALL = 1, 2, 3

_LAST_RANKS = U64(0xFF000000000000FF)
_THIRD_RANK = (U64(0x0000000000FF0000), U64(0x0000FF0000000000))


@kernel
def from_square(move: int) -> int:
    return move & 63


@kernel
def to_square(move: int) -> int:
    """Return the destination square. For castling, this is the rook's square."""
    return move >> 6 & 63


@kernel
def promotion_kind(move: int) -> int:
    """Return the promotion piece type of `move`, which must be a promotion."""
    return (move >> 12 & 3) + 1


@kernel
def is_noisy(position: Position, move: int) -> bool:
    """Return whether the move is a capture or a promotion to a queen."""
    flag = move & FLAG_MASK
    if flag == CASTLING:
        return False
    if flag == EN_PASSANT or has(position.sides[1 - position.turn], to_square(move)):
        return True
    return flag == PROMOTION and promotion_kind(move) == QUEEN


@kernel
def find_pinned(position: Position, king: int, side: int) -> Bits:
    queens = position.kinds[QUEEN]
    snipers = (
        (rook_rays(king) & (position.kinds[ROOK] | queens))
        | (bishop_rays(king) & (position.kinds[BISHOP] | queens))
    ) & position.sides[1 - side]
    occupied = position.sides[0] | position.sides[1]
    pinned = U64(0)
    while snipers:
        blockers = between(king, first_square(snipers)) & occupied
        if blockers and blockers & (blockers - U64(1)) == 0:
            pinned |= blockers & position.sides[side]
        snipers &= snipers - U64(1)
    return pinned


@kernel
def _add_targets(frame: Frame, n: int, square: int, targets: Bits, count_only: bool) -> int:
    if count_only:
        return n + count(targets)
    while targets:
        frame.moves[n] = square | first_square(targets) << 6
        n += 1
        targets &= targets - U64(1)
    return n


@kernel
def _add_pawn_targets(frame: Frame, n: int, targets: Bits, step: int, count_only: bool) -> int:
    if count_only:
        return n + count(targets)
    while targets:
        square = first_square(targets)
        frame.moves[n] = (square - step) | square << 6
        n += 1
        targets &= targets - U64(1)
    return n


@kernel
def _add_promotions(
    frame: Frame, n: int, targets: Bits, step: int, first: int, last: int, count_only: bool
) -> int:
    if count_only:
        return n + count(targets) * (first - last + 1)
    while targets:
        square = first_square(targets)
        for kind in range(first, last - 1, -1):
            frame.moves[n] = (square - step) | square << 6 | (kind - 1) << 12 | PROMOTION
            n += 1
        targets &= targets - U64(1)
    return n


@kernel
def _shift(bits: Bits, step: int) -> Bits:
    return bits << U64(step) if step > 0 else bits >> U64(-step)


@kernel
def en_passant_is_legal(position: Position, square: int, target: int) -> bool:
    """Return whether the en passant capture from `square` to `target` leaves the own king safe."""
    side = position.turn
    captured = target - 8 if side == 0 else target + 8
    occupied = (position.sides[0] | position.sides[1]) ^ bit(square) ^ bit(captured) | bit(target)
    king = king_square(position, side)
    threats = attackers(position, king, occupied) & position.sides[1 - side]
    return threats & ~bit(captured) == 0


@kernel
def _pawn_moves(
    position: Position,
    frame: Frame,
    n: int,
    kinds: int,
    pawns: Bits,
    allowed: Bits,
    count_only: bool,
) -> int:
    side = position.turn
    up = 8 if side == 0 else -8
    enemy = position.sides[1 - side]
    empty = ~(position.sides[side] | enemy)
    single_pushes = _shift(pawns, up) & empty
    pushes = single_pushes & allowed
    if kinds & QUIET:
        third = _THIRD_RANK[0] if side == 0 else _THIRD_RANK[1]
        n = _add_pawn_targets(frame, n, pushes & ~_LAST_RANKS, up, count_only)
        double_pushes = _shift(single_pushes & third, up) & empty & allowed
        n = _add_pawn_targets(frame, n, double_pushes, 2 * up, count_only)
        n = _add_promotions(frame, n, pushes & _LAST_RANKS, up, ROOK, KNIGHT, count_only)
    if kinds & NOISY:
        n = _add_promotions(frame, n, pushes & _LAST_RANKS, up, QUEEN, QUEEN, count_only)
        left = _shift(pawns & ~FILE_A, up - 1) & enemy & allowed
        right = _shift(pawns & ~FILE_H, up + 1) & enemy & allowed
        n = _add_pawn_targets(frame, n, left & ~_LAST_RANKS, up - 1, count_only)
        n = _add_pawn_targets(frame, n, right & ~_LAST_RANKS, up + 1, count_only)
        n = _add_promotions(frame, n, left & _LAST_RANKS, up - 1, QUEEN, KNIGHT, count_only)
        n = _add_promotions(frame, n, right & _LAST_RANKS, up + 1, QUEEN, KNIGHT, count_only)
    return n


@kernel
def _en_passant_moves(
    position: Position, frame: Frame, n: int, pawns: Bits, count_only: bool
) -> int:
    target = position.en_passant
    capturers = pawns & pawn_attacks(1 - position.turn, target)
    while capturers:
        square = first_square(capturers)
        if en_passant_is_legal(position, square, target):
            if not count_only:
                frame.moves[n] = square | target << 6 | EN_PASSANT
            n += 1
        capturers &= capturers - U64(1)
    return n


@kernel
def castling_squares(king: int, rook: int) -> tuple[int, int]:
    """Return the king's and the rook's squares after castling (files g and f, or c and d)."""
    rank = king & 56
    if rook > king:
        return rank + 6, rank + 5
    return rank + 2, rank + 3


@kernel
def _castling_moves(position: Position, frame: Frame, n: int, king: int, count_only: bool) -> int:
    side = position.turn
    occupied = position.sides[0] | position.sides[1]
    rooks = position.castling & position.sides[side]
    while rooks:
        rook = first_square(rooks)
        rooks &= rooks - U64(1)
        king_to, rook_to = castling_squares(king, rook)
        remaining = occupied ^ bit(king) ^ bit(rook)
        path = between(king, king_to) | bit(king_to)
        if (path | between(rook, rook_to) | bit(rook_to)) & remaining:
            continue
        legal = not is_attacked(position, king_to, 1 - side, remaining | bit(rook_to))
        while path and legal:
            legal = not is_attacked(position, first_square(path), 1 - side, occupied ^ bit(king))
            path &= path - U64(1)
        if legal:
            if not count_only:
                frame.moves[n] = king | rook << 6 | CASTLING
            n += 1
    return n


@kernel
def generate(
    position: Position, frame: Frame, n: int, kinds: int, sources: Bits, count_only: bool
) -> int:
    """Write legal moves to `frame.moves` from index `n`, and return `n` plus their number.

    Only the pieces on the squares in `sources` move. `kinds` is NOISY, QUIET or ALL. If
    `count_only` is true, the moves are not written.
    """
    side = position.turn
    own, enemy = position.sides[side], position.sides[1 - side]
    occupied = own | enemy
    king = king_square(position, side)
    class_targets = (enemy if kinds & NOISY else U64(0)) | (~occupied if kinds & QUIET else U64(0))

    if has(sources, king):
        targets = king_attacks(king) & class_targets
        safe = U64(0)
        while targets:
            target = first_square(targets)
            if not is_attacked(position, target, 1 - side, occupied ^ bit(king)):
                safe |= bit(target)
            targets &= targets - U64(1)
        n = _add_targets(frame, n, king, safe, count_only)

    allowed_targets = ALL_SQUARES  # squares that a piece other than the king may move to
    if position.checkers:
        if position.checkers & (position.checkers - U64(1)):
            return n
        checker = first_square(position.checkers)
        allowed_targets = between(king, checker) | position.checkers
    elif kinds & QUIET and position.castling & own and has(sources, king):
        n = _castling_moves(position, frame, n, king, count_only)

    pawns = position.kinds[PAWN] & own & sources
    n = _pawn_moves(
        position, frame, n, kinds, pawns & ~position.pinned, allowed_targets, count_only
    )
    pinned_pawns = pawns & position.pinned
    while pinned_pawns:
        square = first_square(pinned_pawns)
        allowed = allowed_targets & line(king, square)
        n = _pawn_moves(position, frame, n, kinds, bit(square), allowed, count_only)
        pinned_pawns &= pinned_pawns - U64(1)
    if kinds & NOISY and position.en_passant != NO_SQUARE:
        n = _en_passant_moves(position, frame, n, pawns, count_only)

    class_targets &= allowed_targets
    for kind in range(KNIGHT, KING):
        pieces = position.kinds[kind] & own & sources
        while pieces:
            square = first_square(pieces)
            targets = piece_attacks(kind, square, occupied) & class_targets
            if has(position.pinned, square):
                targets &= line(king, square)
            n = _add_targets(frame, n, square, targets, count_only)
            pieces &= pieces - U64(1)
    return n
