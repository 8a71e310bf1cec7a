"""Endgame rules for the evaluation: drawish endgames and known wins.

- Drawish endgames: the endgame score is scaled down if the stronger side can hardly win.
- Known wins: a special evaluation drives a bare king, or a king with only a rook, to the edge of
  the board. Bishop and knight drive the king to a corner of the bishop's colour.

Source: Averbakh, 'Comprehensive Chess Endings'.
"""

from agent.chess.board.attacks import bit, has_single_bit, king_square, pawn_attacks
from agent.chess.board.bitboards import DARK_SQUARES, FILE_A, FILE_H, QUEENSIDE, king_distance
from agent.chess.board.records import BISHOP, KING, KNIGHT, PAWN, QUEEN, ROOK, Position
from agent.chess.board.static_exchange import PIECE_VALUES
from agent.kernel.decorators import kernel
from agent.kernel.intrinsics import Bits, count, first_square

FULL_SCALE = 64  # the scale of a normal endgame

# Scale factors of the endgame score, in units of 1 / FULL_SCALE. At DIFFICULT_SCALE or less the
# middlegame score is ignored, whatever the game phase.
_DRAWN_SCALE = 0
_NEARLY_DRAWN_SCALE = 3  # a fortress, or a rook against a minor piece
DIFFICULT_SCALE = 5  # a minor piece ahead, no pawns
_PIECES_AGAINST_PAWNS = 36  # more than a minor piece ahead, but only the weaker side has pawns
_OPPOSITE_BISHOPS_ONE_PAWN = 2  # opposite-coloured bishops, no other pieces, one pawn
_OPPOSITE_BISHOPS_PER_PAWN = 9  # added for each further pawn of the stronger side
_OPPOSITE_BISHOPS_WITH_PIECES = 44  # with other pieces, and at most one pawn ahead
_LAST_PAWN_SCALE = 28  # only minor pieces, and one pawn that can be exchanged for one of them
_ONE_FLANK = 24  # equal pieces, no pawn ahead, all pawns on one wing
_ONE_FLANK_PAWN_AHEAD = 40  # the same, one pawn ahead
_SCALE_BY_PAWN_COUNT = (42, 56, 60, 62, FULL_SCALE)  # otherwise, by pawns of the stronger side

# Terms of known wins, in centipawns; the last three are per square. _CORNER applies only to bishop
# and knight. It is a penalty that shrinks to 0 at the corner, because a step is worth over a pawn.
_BARE_KING = 600
_ROOK_TO_BE_WON = -200  # the queen must still win the rook
_EDGE = 20  # distance of the weaker king from the centre
_CORNER = -130  # distance of the weaker king from the right corner
_CLOSENESS = 40  # closeness of the two kings

_MAX_EXTRA_PAWNS = 5


@kernel
def can_force_mate(position: Position, side: int) -> bool:
    """Return whether the pieces of `side`, without pawns, can force mate against a bare king."""
    own = position.sides[side]
    if (position.kinds[ROOK] | position.kinds[QUEEN]) & own:
        return True
    bishops, knights = position.kinds[BISHOP] & own, position.kinds[KNIGHT] & own
    if bishops & DARK_SQUARES and bishops & ~DARK_SQUARES:
        return True
    return knights != 0 and (bishops != 0 or count(knights) > 2)


@kernel
def is_known_win(position: Position, strong: int) -> bool:
    """Return whether `strong` has a known win, so that `known_win_value` applies.

    The enemy has a bare king, or only a rook against a queen. `strong` may also have pawns.
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
    """Return the value of a known win for the stronger side, in centipawns."""
    own = position.sides[strong]
    weak_king = king_square(position, 1 - strong)
    rank, file = weak_king >> 3, weak_king & 7
    value = _non_pawn_material(position, strong) - _non_pawn_material(position, 1 - strong)
    value += PIECE_VALUES[PAWN] * count(position.kinds[PAWN] & own)
    value += _CLOSENESS * (7 - king_distance(king_square(position, strong), weak_king))
    value += _BARE_KING if has_single_bit(position.sides[1 - strong]) else _ROOK_TO_BE_WON
    bishops, knights = position.kinds[BISHOP] & own, position.kinds[KNIGHT] & own
    if count(own) == 3 and bishops and knights:
        # Corners of one colour are the ends of a diagonal, each 7 from its middle.
        diagonal_distance = abs(rank + file - 7) if bishops & DARK_SQUARES else abs(rank - file)
        return value + _CORNER * (7 - diagonal_distance)
    edge_distance = max(3 - rank, rank - 4) + max(3 - file, file - 4)
    return value + _EDGE * edge_distance


@kernel
def endgame_scale(position: Position, strong: int) -> int:
    """Return the scale factor (0 to FULL_SCALE) of the endgame score if `strong` is ahead."""
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
        bishops_only = own_pieces == own_bishops and enemy_pieces == enemy_bishops
        if bishops_only and _is_blockaded(position, strong):
            return _DRAWN_SCALE
        if (own_bishops & DARK_SQUARES == 0) != (enemy_bishops & DARK_SQUARES == 0):
            if bishops_only:
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
    own, enemy = position.sides[strong], position.sides[1 - strong]
    pawns = position.kinds[PAWN]
    material = _non_pawn_material(position, strong)
    if not material or material - _non_pawn_material(position, 1 - strong) >= PIECE_VALUES[PAWN]:
        return FULL_SCALE
    if has_single_bit(pawns & own) and position.kinds[ROOK] | position.kinds[QUEEN] == 0:
        has_pieces = enemy & (position.kinds[KNIGHT] | position.kinds[BISHOP]) != 0
        return _LAST_PAWN_SCALE if has_pieces else FULL_SCALE
    pawns_ahead = count(pawns & own) - count(pawns & enemy)
    return (
        _ONE_FLANK
        if pawns_ahead <= 0
        else _ONE_FLANK_PAWN_AHEAD
        if pawns_ahead == 1
        else FULL_SCALE
    )


@kernel
def _non_pawn_material(position: Position, side: int) -> int:
    own = position.sides[side]
    value = 0
    for kind in range(KNIGHT, KING):
        value += PIECE_VALUES[kind] * count(position.kinds[kind] & own)
    return value


@kernel
def _scale_without_pawns(position: Position, strong: int) -> int:
    own, enemy = position.sides[strong], position.sides[1 - strong]
    own_material = _non_pawn_material(position, strong)
    enemy_material = _non_pawn_material(position, 1 - strong)
    has_enemy_pawns = position.kinds[PAWN] & enemy != 0
    if own_material - enemy_material <= PIECE_VALUES[BISHOP]:
        if own_material < PIECE_VALUES[ROOK]:
            return _NEARLY_DRAWN_SCALE if has_enemy_pawns else _DRAWN_SCALE
        if has_enemy_pawns:
            return DIFFICULT_SCALE
        return _NEARLY_DRAWN_SCALE if enemy_material <= PIECE_VALUES[BISHOP] else DIFFICULT_SCALE
    if own_material == 2 * PIECE_VALUES[KNIGHT] and own & position.kinds[KNIGHT]:
        # Two knights can mate only if an enemy pawn prevents stalemate.
        return DIFFICULT_SCALE if has_enemy_pawns else _DRAWN_SCALE
    if own_material == PIECE_VALUES[QUEEN] and enemy_material == PIECE_VALUES[ROOK]:
        return _NEARLY_DRAWN_SCALE if _is_rook_fortress(position, 1 - strong) else FULL_SCALE
    return _PIECES_AGAINST_PAWNS if has_enemy_pawns and enemy_material else FULL_SCALE


@kernel
def _is_rook_fortress(position: Position, side: int) -> bool:
    """Return whether `side` has a rook fortress against a queen.

    A pawn on the second rank defends the rook on the third rank. The king is on the first two
    ranks, next to the rook or the pawn.
    """
    own = position.sides[side]
    rook = first_square(position.kinds[ROOK] & own)
    king = king_square(position, side)
    rook_rank = rook >> 3 if side == 0 else 7 - (rook >> 3)
    king_rank = king >> 3 if side == 0 else 7 - (king >> 3)
    defenders = pawn_attacks(1 - side, rook) & position.kinds[PAWN] & own
    if rook_rank != 2 or king_rank > 1 or not defenders:
        return False
    return king_distance(king, rook) == 1 or king_distance(king, first_square(defenders)) == 1


@kernel
def _cannot_promote(position: Position, strong: int) -> bool:
    """Return whether `strong` has rook pawns and the wrong bishop, so that it cannot promote.

    The enemy king guards the promotion corner. `strong` must have only bishops and pawns.
    """
    pawns = position.kinds[PAWN]
    own_pawns = pawns & position.sides[strong]
    if pawns & position.sides[1 - strong] or (own_pawns & ~FILE_A and own_pawns & ~FILE_H):
        return False
    file = 0 if own_pawns & FILE_A else 7
    corner = file + 56 if strong == 0 else file
    bishops = position.kinds[BISHOP] & position.sides[strong]
    right_bishops = (
        bishops & DARK_SQUARES if bit(corner) & DARK_SQUARES else bishops & ~DARK_SQUARES
    )
    return right_bishops == 0 and king_distance(king_square(position, 1 - strong), corner) <= 1


@kernel
def _is_blockaded(position: Position, strong: int) -> bool:
    """Return whether the enemy king safely blocks the only pawn.

    Each side must have one bishop. The bishop of `strong` cannot attack the king's square.
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
