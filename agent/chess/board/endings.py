"""Ends of games by the rules of variants."""

from agent.chess.board.attacks import attackers, has_single_bit, king_square
from agent.chess.board.bitboards import DARK_SQUARES, RANKS
from agent.chess.board.lookup_tables import king_attacks
from agent.chess.board.records import (
    BISHOP,
    KING,
    KNIGHT,
    PAWN,
    POCKET_KINDS,
    QUEEN,
    ROOK,
    Position,
)
from agent.chess.board.rules import (
    COUNTS_CHECKS,
    EXPLOSIONS,
    FORCED_CAPTURES,
    HILL,
    HORDE,
    POCKETS,
    RACE,
)
from agent.kernel.decorators import kernel
from agent.kernel.intrinsics import U64, count, first_square

# Results for the side to move.
NOT_OVER, LOST, WON, DRAWN = range(4)

HILL_SQUARES = U64(0x0000001818000000)


@kernel
def variant_result(position: Position) -> int:
    """Return whether a rule of the variant has ended the game although there may be legal moves."""
    side = position.turn
    enemy = 1 - side
    kings = position.kinds[KING]
    if HILL:
        if kings & position.sides[enemy] & HILL_SQUARES:
            return LOST
        if kings & position.sides[side] & HILL_SQUARES:
            return WON
    if COUNTS_CHECKS:
        if position.remaining_checks[enemy] <= 0:
            return LOST
        if position.remaining_checks[side] <= 0:
            return WON
    if HORDE:
        if not position.sides[side]:
            return LOST
        if not position.sides[enemy]:
            return WON
    if FORCED_CAPTURES:
        if not position.sides[side]:
            return WON
        if not position.sides[enemy]:
            return LOST
    if EXPLOSIONS:
        if not kings & position.sides[side]:
            return LOST
        if not kings & position.sides[enemy]:
            return WON
    if RACE:
        return _race_result(position)
    return NOT_OVER


@kernel
def _race_result(position: Position) -> int:
    arrived = position.kinds[KING] & RANKS[7]
    if not arrived:
        return NOT_OVER
    white, black = arrived & position.sides[0], arrived & position.sides[1]
    if position.turn == 1 and not black:
        # Black has the last move, and draws if its king arrives with it.
        targets = king_attacks(king_square(position, 1)) & RANKS[7] & ~position.sides[1]
        occupied = position.sides[0] | position.sides[1]
        while targets:
            if not attackers(position, first_square(targets), occupied) & position.sides[0]:
                return NOT_OVER
            targets &= targets - U64(1)
        return LOST
    if white and black:
        return DRAWN
    return WON if arrived & position.sides[position.turn] else LOST


@kernel
def is_variant_draw(position: Position) -> bool:
    """Return whether neither side can win, as `is_insufficient_material` for variants."""
    if HILL or HORDE or RACE:
        return False
    kinds = position.kinds
    occupied = position.sides[0] | position.sides[1]
    if COUNTS_CHECKS:  # any piece can give check
        return occupied == kinds[KING]
    if FORCED_CAPTURES:
        return _cannot_be_captured(position)
    if EXPLOSIONS:
        return _cannot_explode(position, 0) and _cannot_explode(position, 1)
    if POCKETS:
        if kinds[PAWN] | kinds[ROOK] | kinds[QUEEN] | position.promoted:
            return False
        pieces = count(occupied)
        for side in range(2):
            for kind in range(5):
                number = position.pockets[POCKET_KINDS * side + kind]
                if number and kind in (PAWN, ROOK, QUEEN):
                    return False
                pieces += number
        return pieces <= 3
    return False


@kernel
def _cannot_be_captured(position: Position) -> bool:
    """Return whether neither side of antichess can lose its last piece, a bishop."""
    white, black = position.sides[0], position.sides[1]
    if not white or not black:
        return False
    occupied = white | black
    if occupied == position.kinds[BISHOP]:
        return (white & DARK_SQUARES == 0 and black & ~DARK_SQUARES == 0) or (
            white & ~DARK_SQUARES == 0 and black & DARK_SQUARES == 0
        )
    return False


@kernel
def _cannot_explode(position: Position, side: int) -> bool:
    """Return whether `side` cannot win in atomic chess, even with the help of the enemy."""
    kinds = position.kinds
    kings = kinds[KING]
    own, enemy = position.sides[side], position.sides[1 - side]
    if not enemy & kings:
        return False
    if not own & ~kings:
        return True
    occupied = own | enemy
    if enemy & ~kings:
        # Something can explode next to the enemy's king, unless bishops never meet.
        if occupied == kinds[BISHOP] | kings:
            white, black = kinds[BISHOP] & position.sides[0], kinds[BISHOP] & position.sides[1]
            if not white & DARK_SQUARES:
                return black & ~DARK_SQUARES == 0
            if not white & ~DARK_SQUARES:
                return black & DARK_SQUARES == 0
        return False
    if kinds[QUEEN] | kinds[PAWN]:
        return False
    if has_single_bit(kinds[KNIGHT] | kinds[BISHOP] | kinds[ROOK]):
        return True
    return occupied == kinds[KNIGHT] | kings and count(kinds[KNIGHT]) <= 2
