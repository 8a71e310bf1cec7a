"""Static exchange evaluation: what a sequence of captures on one square wins."""

from agent.chess.board.attacks import attackers, bishop_attacks, bit, rook_attacks
from agent.chess.board.movegen import from_square, promotion_kind, to_square
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
from agent.kernel.decorators import kernel
from agent.kernel.intrinsics import U64

PIECE_VALUES = (
    100,
    320,
    330,
    500,
    950,
    10000,
    0,
)  # centipawns, by kind; nothing for an empty square


@kernel
def see_ge(position: Position, move: int, threshold: int) -> bool:
    """Tell whether the captures that start with `move` win at least `threshold` centipawns.

    Both sides always capture with their least piece, and may stop when going on would lose.
    Pins are ignored.
    """
    flag = move & FLAG_MASK
    if flag == CASTLING:
        return threshold <= 0
    start, target = from_square(move), to_square(move)
    piece = position.board[start]
    balance = PIECE_VALUES[position.board[target]] - threshold
    occupied = (position.sides[0] | position.sides[1]) ^ bit(start) | bit(target)
    if flag == EN_PASSANT:
        balance += PIECE_VALUES[PAWN]
        occupied ^= bit(target - 8 if position.turn == 0 else target + 8)
    elif flag == PROMOTION:
        piece = promotion_kind(move)
        balance += PIECE_VALUES[piece] - PIECE_VALUES[PAWN]
    if balance < 0:
        return False
    balance -= PIECE_VALUES[piece]
    if balance >= 0:  # good even if the piece is lost for nothing
        return True

    diagonal = position.kinds[BISHOP] | position.kinds[QUEEN]
    straight = position.kinds[ROOK] | position.kinds[QUEEN]
    left = attackers(position, target, occupied) & occupied
    side = 1 - position.turn
    while True:
        own = left & position.sides[side]
        if not own:
            break
        kind = PAWN
        while not own & position.kinds[kind]:
            kind += 1
        capturer = own & position.kinds[kind]
        capturer &= ~capturer + U64(1)
        side = 1 - side
        # The balance, as the side that has just captured sees it, if it loses the capturer.
        balance = -balance - 1 - PIECE_VALUES[kind]
        if balance >= 0:
            # A king may not capture into an attack.
            if kind == KING and left & position.sides[side]:
                side = 1 - side
            break
        occupied ^= capturer
        if kind in (PAWN, BISHOP, QUEEN):
            left |= bishop_attacks(target, occupied) & diagonal
        if kind in (ROOK, QUEEN):
            left |= rook_attacks(target, occupied) & straight
        left &= occupied
    return side != position.turn
