"""What is known of endings without a search: which pieces win alone, and what cannot be won.

The evaluation counts what each side has; that misleads where the plus cannot be turned into a win.
There its endgame part is scaled down. A king that pieces alone can mate, bare or with a rook
against a queen, is driven to the edge; by bishop and knight, to a corner of the bishop's colour,
the only ones where they mate. The terms of the evaluation have no say in that: what they tell of a
king on the edge and of pieces near it was learned from other endings.
Source of the rules: the endgame manuals' common stock (Averbakh, 'Comprehensive Chess Endings').
"""

from agent.chess.board.attacks import bit, has_single_bit, king_square, pawn_attacks
from agent.chess.board.bitboards import DARK_SQUARES, FILE_A, FILE_H, QUEENSIDE, king_distance
from agent.chess.board.records import BISHOP, KING, KNIGHT, PAWN, QUEEN, ROOK, Position
from agent.chess.board.static_exchange import PIECE_VALUES
from agent.kernel.decorators import kernel
from agent.kernel.intrinsics import Bits, count, first_square

FULL_SCALE = 64  # all of the plus counts

# Shares of a plus, of FULL_SCALE. Where no more than DIFFICULT is left, the middlegame does not
# count, however many pieces are on the board.
_DRAWN_SCALE = 0
_NEARLY_DRAWN_SCALE = 3  # a fortress, or a rook against a minor piece
DIFFICULT_SCALE = 5  # a minor piece ahead, no pawns
_PIECES_AGAINST_PAWNS = 36  # more than a minor piece ahead, but only the other side has pawns
_OPPOSITE_BISHOPS_ONE_PAWN = 2  # and opposite bishops
_OPPOSITE_BISHOPS_PER_PAWN = 9  # for each pawn more of the stronger side
_OPPOSITE_BISHOPS_WITH_PIECES = 44  # opposite bishops, other pieces too, and at most a pawn more
_LAST_PAWN_SCALE = 28  # even minor pieces, and one pawn to give one of them for
_ONE_FLANK = 24  # even pieces, no more pawns, and all of these on one wing
_ONE_FLANK_PAWN_AHEAD = 40  # the same, a pawn ahead
_SCALE_BY_PAWN_COUNT = (
    42,
    56,
    60,
    62,
    FULL_SCALE,
)  # anything else, with one pawn, two, ... to win with

# Centipawns; the last three for each square. A step to the corner may outweigh a pawn, so that it
# counts from the corner, and only where the way is all there is to win by.
_BARE_KING = 600  # beside the pieces
_ROOK_TO_BE_WON = -200  # beside the pieces: a queen still has to win the rook
_EDGE = 20  # that the weaker king is farther from the centre
_CORNER = -130  # that it is farther from the right corner
_CLOSENESS = 40  # that the other king is nearer

_MAX_EXTRA_PAWNS = 5


@kernel
def can_force_mate(position: Position, side: int) -> bool:
    """Tell whether the side's pieces, without its pawns, can mate a bare king by force."""
    own = position.sides[side]
    if (position.kinds[ROOK] | position.kinds[QUEEN]) & own:
        return True
    bishops, knights = position.kinds[BISHOP] & own, position.kinds[KNIGHT] & own
    if bishops & DARK_SQUARES and bishops & ~DARK_SQUARES:
        return True
    return knights != 0 and (bishops != 0 or count(knights) > 2)


@kernel
def is_known_win(position: Position, strong: int) -> bool:
    """Tell whether `known_win_value` knows the ending: a side is to mate by its pieces alone.

    That is against a bare king, or with a queen against a rook. It may have pawns besides.
    """
    own, enemy = position.sides[strong], position.sides[1 - strong]
    if has_single_bit(enemy):
        return can_force_mate(position, strong)
    if count(enemy) != 2 or not enemy & position.kinds[ROOK]:
        return False
    own &= ~position.kinds[PAWN]
    return own & position.kinds[QUEEN] != 0 and count(own) == 2


@kernel
def known_win_value(position: Position, strong: int) -> int:
    """Return what a known ending is worth to its stronger side, in centipawns."""
    own = position.sides[strong]
    weak_king = king_square(position, 1 - strong)
    rank, file = weak_king >> 3, weak_king & 7
    value = _non_pawn_material(position, strong) - _non_pawn_material(position, 1 - strong)
    value += PIECE_VALUES[PAWN] * count(position.kinds[PAWN] & own)
    value += _CLOSENESS * (7 - king_distance(king_square(position, strong), weak_king))
    value += _BARE_KING if has_single_bit(position.sides[1 - strong]) else _ROOK_TO_BE_WON
    bishops, knights = position.kinds[BISHOP] & own, position.kinds[KNIGHT] & own
    if count(own) == 3 and bishops and knights:
        # Corners of one colour lie on a diagonal, whose ends are 7 from its middle.
        along = abs(rank + file - 7) if bishops & DARK_SQUARES else abs(rank - file)
        return value + _CORNER * (7 - along)
    edge = max(3 - rank, rank - 4) + max(3 - file, file - 4)
    return value + _EDGE * edge


@kernel
def endgame_scale(position: Position, strong: int) -> int:
    """Return how much of a side's plus in the endgame counts, of FULL_SCALE."""
    own, enemy = position.sides[strong], position.sides[1 - strong]
    pawns, bishops = position.kinds[PAWN], position.kinds[BISHOP]
    own_pawns = pawns & own
    if not own_pawns:
        return _scale_without_pawns(position, strong)
    own_pieces = own & ~(pawns | position.kinds[KING])
    enemy_pieces = enemy & ~(pawns | position.kinds[KING])
    own_bishops, enemy_bishops = bishops & own, bishops & enemy
    if own_pieces == own_bishops and _cannot_promote(position, strong):
        return _DRAWN_SCALE
    if has_single_bit(own_bishops) and has_single_bit(enemy_bishops):
        alone = own_pieces == own_bishops and enemy_pieces == enemy_bishops
        if alone and _is_blockaded(position, strong):
            return _DRAWN_SCALE
        if (own_bishops & DARK_SQUARES == 0) != (enemy_bishops & DARK_SQUARES == 0):
            if alone:
                return _OPPOSITE_BISHOPS_ONE_PAWN + _OPPOSITE_BISHOPS_PER_PAWN * min(
                    count(own_pawns) - 1, _MAX_EXTRA_PAWNS
                )
            if count(own_pawns) - count(pawns & enemy) <= 1:
                return _OPPOSITE_BISHOPS_WITH_PIECES
    if pawns & QUEENSIDE == 0 or pawns & ~QUEENSIDE == 0:
        return _scale_one_flank(position, strong)
    return _SCALE_BY_PAWN_COUNT[min(count(own_pawns), len(_SCALE_BY_PAWN_COUNT)) - 1]


@kernel
def _scale_one_flank(position: Position, strong: int) -> int:
    """Scale where all pawns stand on one wing: the king is near, and few of them are left."""
    own, enemy = position.sides[strong], position.sides[1 - strong]
    pawns = position.kinds[PAWN]
    value = _non_pawn_material(position, strong)
    if not value or value - _non_pawn_material(position, 1 - strong) >= PIECE_VALUES[PAWN]:
        return FULL_SCALE
    if has_single_bit(pawns & own) and position.kinds[ROOK] | position.kinds[QUEEN] == 0:
        has_pieces = enemy & (position.kinds[KNIGHT] | position.kinds[BISHOP]) != 0
        return _LAST_PAWN_SCALE if has_pieces else FULL_SCALE
    ahead = count(pawns & own) - count(pawns & enemy)
    return _ONE_FLANK if ahead <= 0 else _ONE_FLANK_PAWN_AHEAD if ahead == 1 else FULL_SCALE


@kernel
def _non_pawn_material(position: Position, side: int) -> int:
    """Return the value of the side's pieces, pawns not counted."""
    own = position.sides[side]
    value = 0
    for kind in range(KNIGHT, KING):
        value += PIECE_VALUES[kind] * count(position.kinds[kind] & own)
    return value


@kernel
def _scale_without_pawns(position: Position, strong: int) -> int:
    """Scale where the stronger side has pieces only: a minor piece more does not win."""
    own, enemy = position.sides[strong], position.sides[1 - strong]
    own_material, enemy_material = (
        _non_pawn_material(position, strong),
        _non_pawn_material(position, 1 - strong),
    )
    pawns_against = position.kinds[PAWN] & enemy != 0
    if own_material - enemy_material <= PIECE_VALUES[BISHOP]:
        if own_material < PIECE_VALUES[ROOK]:
            return _NEARLY_DRAWN_SCALE if pawns_against else _DRAWN_SCALE
        if pawns_against:
            return DIFFICULT_SCALE
        return _NEARLY_DRAWN_SCALE if enemy_material <= PIECE_VALUES[BISHOP] else DIFFICULT_SCALE
    if own_material == 2 * PIECE_VALUES[KNIGHT] and own & position.kinds[KNIGHT]:
        # Two knights mate only a king whose own pawn spoils the stalemate.
        return DIFFICULT_SCALE if pawns_against else _DRAWN_SCALE
    if own_material == PIECE_VALUES[QUEEN] and enemy_material == PIECE_VALUES[ROOK]:
        return _NEARLY_DRAWN_SCALE if _is_rook_fortress(position, 1 - strong) else FULL_SCALE
    return _PIECES_AGAINST_PAWNS if pawns_against and enemy_material else FULL_SCALE


@kernel
def _is_rook_fortress(position: Position, side: int) -> bool:
    """Tell whether a rook, held by a pawn of the second rank, bars the king of a queen.

    The side's king stands on its first two ranks, beside one of them.
    """
    own = position.sides[side]
    rook = first_square(position.kinds[ROOK] & own)
    king = king_square(position, side)
    rook_rank = rook >> 3 if side == 0 else 7 - (rook >> 3)
    king_rank = king >> 3 if side == 0 else 7 - (king >> 3)
    holders = pawn_attacks(1 - side, rook) & position.kinds[PAWN] & own
    if rook_rank != 2 or king_rank > 1 or not holders:
        return False
    return king_distance(king, rook) == 1 or king_distance(king, first_square(holders)) == 1


@kernel
def _cannot_promote(position: Position, strong: int) -> bool:
    """Tell whether all pawns are rook pawns of one file whose corner the enemy king holds.

    The stronger side has no pieces but bishops, none of which controls the corner.
    """
    pawns = position.kinds[PAWN]
    own_pawns = pawns & position.sides[strong]
    if pawns & position.sides[1 - strong] or (own_pawns & ~FILE_A and own_pawns & ~FILE_H):
        return False
    file = 0 if own_pawns & FILE_A else 7
    corner = file + 56 if strong == 0 else file
    bishops = position.kinds[BISHOP] & position.sides[strong]
    right = bishops & DARK_SQUARES if bit(corner) & DARK_SQUARES else bishops & ~DARK_SQUARES
    return right == 0 and king_distance(king_square(position, 1 - strong), corner) <= 1


@kernel
def _is_blockaded(position: Position, strong: int) -> bool:
    """Tell whether one pawn is all, and the enemy king stands before it where no bishop drives it.

    Each side has one bishop besides.
    """
    pawns: Bits = position.kinds[PAWN]
    if count(pawns) != 1 or pawns & position.sides[1 - strong]:
        return False
    pawn = first_square(pawns)
    king = king_square(position, 1 - strong)
    if king & 7 != pawn & 7 or (king > pawn) != (strong == 0):
        return False
    bishop = position.kinds[BISHOP] & position.sides[strong]
    return (bit(king) & DARK_SQUARES == 0) != (bishop & DARK_SQUARES == 0)
