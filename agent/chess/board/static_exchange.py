"""Static exchange evaluation (SEE)."""

from agent.chess.board.attacks import attackers, bishop_attacks, bit, has, rook_attacks
from agent.chess.board.movegen import explosion, from_square, is_drop, promotion_kind, to_square
from agent.chess.board.records import (
    BISHOP,
    CASTLING,
    EN_PASSANT,
    FLAG_MASK,
    KING,
    PAWN,
    PROMOTION,
    QUEEN,
    ROOK,
    Position,
)
from agent.chess.board.rules import EXPLOSIONS, FORCED_CAPTURES, POCKETS
from agent.kernel.decorators import kernel
from agent.kernel.intrinsics import U64, first_square

# Centipawns, by piece type from PAWN to EMPTY.
PIECE_VALUES = (100, 320, 330, 500, 950, 10000, 0)


@kernel
def _explosion_value(position: Position, move: int) -> int:
    """Return the material that a capture of atomic chess wins, in centipawns; 0 for other moves."""
    removed = explosion(position, move)
    if not removed:
        return 0
    removed = (removed | bit(from_square(move))) & (position.sides[0] | position.sides[1])
    enemy = position.sides[1 - position.turn]
    value = 0
    while removed:
        square = first_square(removed)
        worth = PIECE_VALUES[position.board[square]]
        value += worth if has(enemy, square) else -worth
        removed &= removed - U64(1)
    return value


@kernel
def see_ge(position: Position, move: int, threshold: int) -> bool:
    """Return whether the SEE value of `move` is at least `threshold` centipawns, ignoring pins."""
    if FORCED_CAPTURES:  # to lose material is good
        return True
    if EXPLOSIONS:
        return _explosion_value(position, move) >= threshold
    flag = move & FLAG_MASK
    if flag == CASTLING:
        return threshold <= 0
    start, target = from_square(move), to_square(move)
    piece = position.board[start]
    balance = PIECE_VALUES[position.board[target]] - threshold
    occupied = (position.sides[0] | position.sides[1]) ^ bit(start) | bit(target)
    if POCKETS and is_drop(move):
        piece = start
        occupied = position.sides[0] | position.sides[1] | bit(target)
    elif flag == EN_PASSANT:
        balance += PIECE_VALUES[PAWN]
        occupied ^= bit(target - 8 if position.turn == 0 else target + 8)
    elif flag == PROMOTION:
        piece = promotion_kind(move)
        balance += PIECE_VALUES[piece] - PIECE_VALUES[PAWN]
    if balance < 0:
        return False
    balance -= PIECE_VALUES[piece]
    if balance >= 0:  # sufficient even if the moved piece is lost
        return True

    diagonal = position.kinds[BISHOP] | position.kinds[QUEEN]
    straight = position.kinds[ROOK] | position.kinds[QUEEN]
    remaining = attackers(position, target, occupied) & occupied
    side = 1 - position.turn
    while True:
        side_attackers = remaining & position.sides[side]
        if not side_attackers:
            break
        kind = PAWN
        while not side_attackers & position.kinds[kind]:
            kind += 1
        capturer = side_attackers & position.kinds[kind]
        capturer &= ~capturer + U64(1)
        side = 1 - side
        # The balance for the side that has just captured, if it loses the capturer.
        balance = -balance - 1 - PIECE_VALUES[kind]
        if balance >= 0:
            # The king cannot capture a defended piece.
            if kind == KING and remaining & position.sides[side]:
                side = 1 - side
            break
        occupied ^= capturer
        if kind in (PAWN, BISHOP, QUEEN):
            remaining |= bishop_attacks(target, occupied) & diagonal
        if kind in (ROOK, QUEEN):
            remaining |= rook_attacks(target, occupied) & straight
        remaining &= occupied
    return side != position.turn
