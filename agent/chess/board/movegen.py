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
from agent.chess.board.endings import NOT_OVER, variant_result
from agent.chess.board.lookup_tables import bishop_rays, king_attacks, rook_rays
from agent.chess.board.records import (
    BISHOP,
    CASTLING,
    DROP,
    EMPTY,
    EN_PASSANT,
    FLAG_MASK,
    KIND_MASK,
    KING,
    KING_PROMOTION,
    KNIGHT,
    NO_SQUARE,
    PAWN,
    POCKET_KINDS,
    PROMOTION,
    QUEEN,
    ROOK,
    Frame,
    Position,
)
from agent.chess.board.rules import (
    ENDS_EARLY,
    EXPLOSIONS,
    FILTERS_MOVES,
    FORCED_CAPTURES,
    HORDE,
    POCKETS,
)
from agent.kernel.decorators import kernel
from agent.kernel.intrinsics import U64, Bits, count, first_square, int64

# Move classes. Noisy moves are captures and promotions to a queen; all others are quiet.
NOISY, QUIET, ALL = 1, 2, 3

_LAST_RANKS = U64(0xFF000000000000FF)
# The pawns of White may be on the first rank in horde, and may then move two squares.
_THIRD_RANK = (
    U64(0x0000000000FFFF00 if HORDE else 0x0000000000FF0000),
    U64(0x0000FF0000000000),
)
# Whether the generated moves must not leave the king attacked.
_PROTECTS_KINGS: bool = not (FORCED_CAPTURES or EXPLOSIONS)
_END_OF_KINDS = KING if _PROTECTS_KINGS else KING + 1


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
def is_drop(move: int) -> bool:
    """Return whether the move drops a piece, whose type is in place of the source square."""
    return move & KIND_MASK == DROP


@kernel
def moved_kind(position: Position, move: int) -> int:
    """Return the type of the piece that `move` moves or drops."""
    if POCKETS and is_drop(move):
        return from_square(move)
    return position.board[from_square(move)]


@kernel
def is_noisy(position: Position, move: int) -> bool:
    """Return whether the move is a capture or a promotion to a queen."""
    flag = move & FLAG_MASK
    if flag == CASTLING:
        return False
    if POCKETS and is_drop(move):
        return False
    if FORCED_CAPTURES and move & KIND_MASK == KING_PROMOTION:
        return has(position.sides[1 - position.turn], to_square(move))
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
def _add_king_promotions(frame: Frame, n: int, targets: Bits, step: int, count_only: bool) -> int:
    if count_only:
        return n + count(targets)
    while targets:
        square = first_square(targets)
        frame.moves[n] = (square - step) | square << 6 | KING_PROMOTION
        n += 1
        targets &= targets - U64(1)
    return n


@kernel
def _shift(bits: Bits, step: int) -> Bits:
    return bits << U64(step) if step > 0 else bits >> U64(-step)


@kernel
def en_passant_is_legal(position: Position, square: int, target: int) -> bool:
    """Return whether the en passant capture from `square` to `target` leaves the own king safe."""
    if FORCED_CAPTURES:
        return True
    if EXPLOSIONS:
        return _explosion_is_legal(position, square | target << 6 | EN_PASSANT)
    side = position.turn
    if HORDE and not position.kinds[KING] & position.sides[side]:
        return True
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
        if FORCED_CAPTURES:
            n = _add_king_promotions(frame, n, pushes & _LAST_RANKS, up, count_only)
    if kinds & NOISY:
        n = _add_promotions(frame, n, pushes & _LAST_RANKS, up, QUEEN, QUEEN, count_only)
        left = _shift(pawns & ~FILE_A, up - 1) & enemy & allowed
        right = _shift(pawns & ~FILE_H, up + 1) & enemy & allowed
        n = _add_pawn_targets(frame, n, left & ~_LAST_RANKS, up - 1, count_only)
        n = _add_pawn_targets(frame, n, right & ~_LAST_RANKS, up + 1, count_only)
        n = _add_promotions(frame, n, left & _LAST_RANKS, up - 1, QUEEN, KNIGHT, count_only)
        n = _add_promotions(frame, n, right & _LAST_RANKS, up + 1, QUEEN, KNIGHT, count_only)
        if FORCED_CAPTURES:
            n = _add_king_promotions(frame, n, left & _LAST_RANKS, up - 1, count_only)
            n = _add_king_promotions(frame, n, right & _LAST_RANKS, up + 1, count_only)
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
        if EXPLOSIONS:
            # Kings side by side are safe. The destination is tested with all other moves.
            path = (path | bit(king)) & ~king_attacks(king_square(position, 1 - side))
            legal = True
        while path and legal:
            legal = not is_attacked(position, first_square(path), 1 - side, occupied ^ bit(king))
            path &= path - U64(1)
        if legal:
            if not count_only:
                frame.moves[n] = king | rook << 6 | CASTLING
            n += 1
    return n


@kernel
def _drops(position: Position, frame: Frame, n: int, allowed: Bits, count_only: bool) -> int:
    side = position.turn
    empty = allowed & ~(position.sides[0] | position.sides[1])
    for kind in range(PAWN, KING):
        if position.pockets[POCKET_KINDS * side + kind]:
            targets = empty & ~_LAST_RANKS if kind == PAWN else empty
            if count_only:
                n += count(targets)
                continue
            while targets:
                frame.moves[n] = kind | first_square(targets) << 6 | DROP
                n += 1
                targets &= targets - U64(1)
    return n


@kernel
def drop_is_legal(position: Position, move: int) -> bool:
    kind, target = from_square(move), to_square(move)
    if kind >= KING or not position.pockets[POCKET_KINDS * position.turn + kind]:
        return False
    if position.board[target] != EMPTY or (kind == PAWN and has(_LAST_RANKS, target)):
        return False
    if not position.checkers:
        return True
    if position.checkers & (position.checkers - U64(1)):
        return False
    king = king_square(position, position.turn)
    return has(between(king, first_square(position.checkers)), target)


@kernel
def has_capture(position: Position) -> bool:
    """Return whether the side to move can capture something, without regard to kings."""
    side = position.turn
    up = 8 if side == 0 else -8
    own, enemy = position.sides[side], position.sides[1 - side]
    pawns = position.kinds[PAWN] & own
    if (_shift(pawns & ~FILE_A, up - 1) | _shift(pawns & ~FILE_H, up + 1)) & enemy:
        return True
    if position.en_passant != NO_SQUARE:  # only set if a pawn attacks it
        return True
    occupied = own | enemy
    for kind in range(KNIGHT, KING + 1):
        pieces = position.kinds[kind] & own
        while pieces:
            if piece_attacks(kind, first_square(pieces), occupied) & enemy:
                return True
            pieces &= pieces - U64(1)
    return False


@kernel
def explosion(position: Position, move: int) -> Bits:
    """Return the squares that a capture empties, without the source square, else 0."""
    target = to_square(move)
    if move & FLAG_MASK == EN_PASSANT:
        pawn = target - 8 if position.turn == 0 else target + 8
        return (king_attacks(target) & ~position.kinds[PAWN]) | bit(target) | bit(pawn)
    if move & FLAG_MASK == CASTLING or not has(position.sides[1 - position.turn], target):
        return U64(0)
    return (king_attacks(target) & ~position.kinds[PAWN]) | bit(target)


@kernel
def _explosion_is_legal(position: Position, move: int) -> bool:
    """Return whether a generated move of atomic chess leaves the own king safe."""
    side = position.turn
    own, enemy = position.sides[side], position.sides[1 - side]
    start, target = from_square(move), to_square(move)
    kings = position.kinds[KING]
    king = king_square(position, side)
    occupied = own | enemy
    removed = explosion(position, move)
    if removed:
        removed |= bit(start)
        if has(removed, king):
            return False
        if removed & kings & enemy:
            return True
        occupied &= ~removed
        enemy &= ~removed
    elif move & FLAG_MASK == CASTLING:
        king_to, rook_to = castling_squares(start, target)
        occupied = occupied & ~(bit(start) | bit(target)) | bit(king_to) | bit(rook_to)
        king = king_to
    else:
        occupied = occupied & ~bit(start) | bit(target)
        if start == king:
            king = target
    if king_attacks(king) & kings & enemy:
        return True
    return not attackers(position, king, occupied) & enemy


@kernel
def gives_check(position: Position, move: int) -> bool:
    """Return whether an ordinary move or a promotion gives check."""
    side = position.turn
    king = king_square(position, 1 - side)
    start, target = from_square(move), to_square(move)
    kind = position.board[start]
    if move & FLAG_MASK == PROMOTION:
        kind = promotion_kind(move)
    occupied = (position.sides[0] | position.sides[1]) & ~bit(start) | bit(target)
    if kind == PAWN:
        if has(pawn_attacks(side, target), king):
            return True
    elif has(piece_attacks(kind, target, occupied), king):
        return True
    sliders = attackers(position, king, occupied) & position.sides[side] & ~bit(start)
    return sliders != 0


@kernel
def _keep_legal(position: Position, frame: Frame, first: int, end: int) -> int:
    """Remove the illegal ones of the moves from index `first`, and return the new end."""
    n = first
    for i in range(first, end):
        move = int64(frame.moves[i])
        if EXPLOSIONS:
            legal = _explosion_is_legal(position, move)
        else:
            legal = not gives_check(position, move)
        if legal:
            frame.moves[n] = move
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
    if ENDS_EARLY and variant_result(position) != NOT_OVER:
        return n
    first = n
    if FILTERS_MOVES:
        count_only = False
    side = position.turn
    own, enemy = position.sides[side], position.sides[1 - side]
    occupied = own | enemy
    king = king_square(position, side)
    class_targets = (enemy if kinds & NOISY else U64(0)) | (~occupied if kinds & QUIET else U64(0))
    king_sources = sources
    if HORDE:
        king_sources = sources & position.kinds[KING]  # without a king, `king` is any square

    if _PROTECTS_KINGS and has(king_sources, king):
        targets = king_attacks(king) & class_targets
        safe = U64(0)
        while targets:
            target = first_square(targets)
            if not is_attacked(position, target, 1 - side, occupied ^ bit(king)):
                safe |= bit(target)
            targets &= targets - U64(1)
        n = _add_targets(frame, n, king, safe, count_only)

    allowed_targets = ALL_SQUARES  # squares that a piece other than the king may move to
    if FORCED_CAPTURES:
        if has_capture(position):
            allowed_targets = enemy
    elif position.checkers and _PROTECTS_KINGS:
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
    for kind in range(KNIGHT, _END_OF_KINDS):
        pieces = position.kinds[kind] & own & sources
        while pieces:
            square = first_square(pieces)
            targets = piece_attacks(kind, square, occupied) & class_targets
            if has(position.pinned, square):
                targets &= line(king, square)
            n = _add_targets(frame, n, square, targets, count_only)
            pieces &= pieces - U64(1)
    if POCKETS and kinds & QUIET and sources == ALL_SQUARES:
        n = _drops(position, frame, n, allowed_targets, count_only)
    if FILTERS_MOVES:
        n = _keep_legal(position, frame, first, n)
    return n
