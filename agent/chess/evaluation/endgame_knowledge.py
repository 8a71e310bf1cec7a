"""Endgame rules for the evaluation: drawish endgames and known wins.

- Drawish endgames: the endgame score is scaled down if the stronger side can hardly win. A network
  knows most of them, so only scales up to DIFFICULT_SCALE apply to its score (`drawish_scale`).
- Known wins: a special evaluation drives a bare king, or a king with only a rook, to the edge of
  the board. Bishop and knight drive the king to a corner of the bishop's colour.

Source: Averbakh, 'Comprehensive Chess Endings'.
"""

from agent.chess.board.attacks import (
    bishop_attacks,
    bit,
    has,
    has_single_bit,
    king_square,
    pawn_attacks,
)
from agent.chess.board.bitboards import (
    DARK_SQUARES,
    FILE_A,
    FILE_H,
    QUEENSIDE,
    adjacent_on_rank,
    fill_forward,
    king_distance,
    shift_forward,
)
from agent.chess.board.lookup_tables import king_attacks
from agent.chess.board.records import BISHOP, KING, KNIGHT, PAWN, QUEEN, ROOK, Position
from agent.chess.board.static_exchange import PIECE_VALUES
from agent.kernel.decorators import kernel
from agent.kernel.intrinsics import U64, Bits, count, first_square, last_square

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

_KNIGHT_FILES = U64(0x4242424242424242)
_ROOK_AND_BISHOP_FILES = U64(0xA5A5A5A5A5A5A5A5)


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
def is_known_draw(position: Position) -> bool:
    """Return whether a bare king guards the corner against rook pawns and wrong bishops.

    This is exact. With one bishop and one pawn it agrees with the endgame table.
    """
    pawns = position.kinds[PAWN]
    if not pawns or (pawns & ~FILE_A and pawns & ~FILE_H):
        return False
    for side in range(2):
        pieces = position.sides[side] & ~(pawns | position.kinds[KING] | position.kinds[BISHOP])
        if has_single_bit(position.sides[1 - side]) and not pieces:
            return _cannot_promote(position, side)
    return False


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
    factor = drawish_scale(position, strong)
    if factor < FULL_SCALE:
        return factor
    own, enemy = position.sides[strong], position.sides[1 - strong]
    pawns, bishops = position.kinds[PAWN], position.kinds[BISHOP]
    own_pawns = pawns & own
    if not own_pawns:
        has_pawns_and_pieces = pawns != 0 and enemy & ~(pawns | position.kinds[KING]) != 0
        return _PIECES_AGAINST_PAWNS if has_pawns_and_pieces else FULL_SCALE
    if _has_opposite_bishops(bishops & own, bishops & enemy):
        if not (own | enemy) & ~(pawns | bishops | position.kinds[KING]):
            return _OPPOSITE_BISHOPS_ONE_PAWN + _OPPOSITE_BISHOPS_PER_PAWN * min(
                count(own_pawns) - 1, _MAX_EXTRA_PAWNS
            )
        if count(own_pawns) - count(pawns & enemy) <= 1:
            return _OPPOSITE_BISHOPS_WITH_PIECES
    if pawns & QUEENSIDE == 0 or pawns & ~QUEENSIDE == 0:
        return _scale_one_flank(position, strong)
    return _SCALE_BY_PAWN_COUNT[min(count(own_pawns), len(_SCALE_BY_PAWN_COUNT)) - 1]


@kernel
def drawish_scale(position: Position, strong: int) -> int:
    """Return a scale factor of at most DIFFICULT_SCALE if `strong` can hardly win.

    Otherwise, return FULL_SCALE.
    """
    own = position.sides[strong]
    pawns, kings, bishops = position.kinds[PAWN], position.kinds[KING], position.kinds[BISHOP]
    own_pawns = pawns & own
    if not own_pawns:
        return _scale_without_pawns(position, strong)
    own_pieces = own & ~(pawns | kings)
    own_bishops = bishops & own
    if own_pieces == own_bishops and _cannot_promote(position, strong):
        return _DRAWN_SCALE
    enemy_pieces = position.sides[1 - strong] & ~(pawns | kings)
    if own_pieces & (own_pieces - U64(1)) or enemy_pieces & (enemy_pieces - U64(1)):
        return FULL_SCALE
    # Pawns and at most one piece, against at most one piece.
    minors, rooks = bishops | position.kinds[KNIGHT], position.kinds[ROOK]
    if not enemy_pieces:
        if own_pieces & ~minors or not _is_pawn_fortress(position, strong):
            return FULL_SCALE
        return _DRAWN_SCALE
    if own_pieces & rooks and enemy_pieces & rooks:
        return _NEARLY_DRAWN_SCALE if _holds_with_rook(position, strong) else FULL_SCALE
    if not own_pieces & minors or not enemy_pieces & minors:
        return FULL_SCALE
    if _is_blockaded(position, strong):
        return _DRAWN_SCALE if own_bishops else DIFFICULT_SCALE
    if _has_opposite_bishops(own_bishops, bishops & enemy_pieces):
        if has_single_bit(own_pawns):
            return _OPPOSITE_BISHOPS_ONE_PAWN
        if count(pawns) == 2 and _are_both_stopped(position, strong):
            return DIFFICULT_SCALE
    return FULL_SCALE


@kernel
def _has_opposite_bishops(own: Bits, enemy: Bits) -> bool:
    """Return whether each side has one bishop, and their squares differ in colour."""
    if not has_single_bit(own) or not has_single_bit(enemy):
        return False
    return (own & DARK_SQUARES == 0) != (enemy & DARK_SQUARES == 0)


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
    enemy = position.sides[1 - strong]
    own_material = _non_pawn_material(position, strong)
    enemy_material = _non_pawn_material(position, 1 - strong)
    has_enemy_pawns = position.kinds[PAWN] & enemy != 0
    if not can_force_mate(position, strong):
        # Two knights can mate only if an enemy pawn prevents stalemate.
        if not own_material or not has_enemy_pawns:
            return _DRAWN_SCALE
        return _NEARLY_DRAWN_SCALE if own_material < PIECE_VALUES[ROOK] else DIFFICULT_SCALE
    if own_material - enemy_material <= PIECE_VALUES[BISHOP]:
        if has_enemy_pawns:
            return DIFFICULT_SCALE
        return _NEARLY_DRAWN_SCALE if enemy_material <= PIECE_VALUES[BISHOP] else DIFFICULT_SCALE
    if own_material == PIECE_VALUES[QUEEN]:
        if enemy_material == PIECE_VALUES[ROOK] and _is_rook_fortress(position, 1 - strong):
            return _NEARLY_DRAWN_SCALE
        if enemy_material == 0 and _holds_by_stalemate(position, 1 - strong):
            return _DRAWN_SCALE
    return FULL_SCALE


@kernel
def _holds_by_stalemate(position: Position, side: int) -> bool:
    """Return whether the pawn of `side` on the seventh rank holds against a queen.

    A rook or bishop pawn does, because the queen would give stalemate, unless the enemy king is
    near. The king of `side` must be near the promotion square. The distances are from tables.
    """
    pawns = position.kinds[PAWN]
    pawn = first_square(pawns & position.sides[side])
    promotion = pawn + 8 if side == 0 else pawn - 8
    if not has_single_bit(pawns) or promotion >> 3 != (7 if side == 0 else 0):
        return False
    king, file, to_move = king_square(position, side), pawn & 7, position.turn == side
    distance = king_distance(king, promotion)
    if distance > (2 if to_move else 1) or not pawns & _ROOK_AND_BISHOP_FILES:
        return False
    if distance == 0 and not to_move and file in (0, 7):
        return False
    near = 4
    if file in (2, 5):
        near -= to_move + (king & 7 < 2 if file == 2 else king & 7 > 5)  # the side of the corner
    return king_distance(king_square(position, 1 - side), promotion) > near


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

    The enemy king guards the promotion corner, and no enemy pawn can be captured by a rook pawn.
    `strong` must have only bishops and pawns.
    """
    pawns = position.kinds[PAWN]
    own_pawns = pawns & position.sides[strong]
    if own_pawns & ~FILE_A and own_pawns & ~FILE_H:
        return False
    if (
        pawns
        & position.sides[1 - strong]
        & adjacent_on_rank(FILE_A if own_pawns & FILE_A else FILE_H)
    ):
        return False
    file = 0 if own_pawns & FILE_A else 7
    corner = file + 56 if strong == 0 else file
    bishops = position.kinds[BISHOP] & position.sides[strong]
    right_bishops = (
        bishops & DARK_SQUARES if bit(corner) & DARK_SQUARES else bishops & ~DARK_SQUARES
    )
    return right_bishops == 0 and king_distance(king_square(position, 1 - strong), corner) <= 1


@kernel
def _is_pawn_fortress(position: Position, strong: int) -> bool:
    """Return whether the enemy king, without pieces, holds against pawns of one file.

    `strong` may also have a minor piece. The fortresses:

    - A knight defends a rook pawn on the seventh rank, and the enemy king guards the corner.
    - The foremost knight pawn is blocked by a pawn on its second rank. The bishop cannot attack
      the blocking pawn, or its capture would leave no pawn. The enemy king is near.
    """
    pawns = position.kinds[PAWN]
    own_pawns, enemy_pawns = pawns & position.sides[strong], pawns & position.sides[1 - strong]
    pawn = last_square(own_pawns) if strong == 0 else first_square(own_pawns)
    corner = (0 if pawn & 7 < 4 else 7) + (56 if strong == 0 else 0)
    king, strong_king = king_square(position, 1 - strong), king_square(position, strong)
    if not enemy_pawns:
        return (
            position.kinds[KNIGHT] & position.sides[strong] != 0
            and has_single_bit(own_pawns)
            and pawn == (corner - 8 if strong == 0 else corner + 8)
            and king_distance(king, corner) <= 1
        )
    bishop = position.kinds[BISHOP] & position.sides[strong]
    file = FILE_A << U64(pawn & 7)
    blocker = pawn + 8 if strong == 0 else pawn - 8
    if pawns & ~file or not file & _KNIGHT_FILES or not has(enemy_pawns, blocker):
        return False
    if position.kinds[KNIGHT] or blocker >> 3 != (6 if strong == 0 else 1):
        return False
    attackable = (bit(blocker) & DARK_SQUARES == 0) == (bishop & DARK_SQUARES == 0)
    if bishop and attackable and not has_single_bit(own_pawns):
        return False
    distance = king_distance(king, blocker)
    king_rank = king >> 3 if strong == 0 else 7 - (king >> 3)
    return king_rank >= 6 and distance <= 2 and distance <= king_distance(strong_king, blocker)


@kernel
def _are_both_stopped(position: Position, strong: int) -> bool:
    """Return whether both pawns are stopped on squares that the bishop of `strong` cannot attack.

    Each side must have one bishop, of opposite colours, and `strong` two pawns. The enemy king is
    in front of the pawns, and it or the bishop guards a square in front of each. On adjacent files
    the bishop must guard both.
    """
    pawns = position.kinds[PAWN] & position.sides[strong]
    bishop = position.kinds[BISHOP] & position.sides[1 - strong]
    square, king = first_square(bishop), king_square(position, 1 - strong)
    guarded = bishop | bishop_attacks(square, position.sides[0] | position.sides[1])
    first, last = first_square(pawns), last_square(pawns)
    foremost, king_ahead = (last, king) if strong == 0 else (first ^ 56, king ^ 56)
    left, right = min(first & 7, last & 7), max(first & 7, last & 7)
    if king_ahead >> 3 <= foremost >> 3 or not left - 1 <= king & 7 <= right + 1:
        return False
    if right - left != 1:
        guarded |= bit(king) | king_attacks(king)
    guarded &= DARK_SQUARES if bishop & DARK_SQUARES else ~DARK_SQUARES
    ahead_of_first = fill_forward(shift_forward(bit(first), strong), strong)
    ahead_of_last = fill_forward(shift_forward(bit(last), strong), strong)
    return guarded & ahead_of_first != 0 and guarded & ahead_of_last != 0


@kernel
def _holds_with_rook(position: Position, strong: int) -> bool:
    """Return whether a rook holds against a rook and the pawns of `strong`.

    Each side must have one rook. Squares are seen from White as the stronger side. The draws:

    - Philidor: the rook is on its third rank and the king on the promotion square or next to it.
      Pawn and king of `strong` have not reached that rank.
    - A rook stands in front of its rook pawn, far from its king. The enemy king is on the second
      rank of the other wing. The enemy rook attacks a pawn on the seventh rank from behind, or
      another pawn from the side (Vancura). A pawn on the enemy king's wing does not help.
    """
    pawns: Bits = position.kinds[PAWN]
    if pawns & position.sides[1 - strong]:
        return False
    flip = 56 * strong
    pawn = last_square(pawns) if strong == 0 else first_square(pawns) ^ flip
    rooks = position.kinds[ROOK]
    rook = first_square(rooks & position.sides[strong]) ^ flip
    enemy_rook = first_square(rooks & position.sides[1 - strong]) ^ flip
    king, enemy_king = (
        king_square(position, strong) ^ flip,
        king_square(position, 1 - strong) ^ flip,
    )
    file, rank = pawn & 7, pawn >> 3
    if has_single_bit(pawns) and king_distance(enemy_king, 56 + file) <= 1:
        return rank <= 4 and king >> 3 <= 4 and enemy_rook >> 3 == 5
    if file not in (0, 7) or rook & 7 != file or rook < pawn or king_distance(king, pawn) <= 2:
        return False
    if enemy_king >> 3 != 6 or abs((enemy_king & 7) - file) < 6:
        return False
    if rank < 6:
        from_side = enemy_rook >> 3 == rank and abs((enemy_rook & 7) - file) > 2
        return from_side and has_single_bit(pawns)
    own_file = FILE_A if file == 0 else FILE_H
    wing = FILE_H | FILE_H >> U64(1) if file == 0 else FILE_A | FILE_A << U64(1)
    return enemy_rook & 7 == file and enemy_rook < pawn and pawns & ~(own_file | wing) == 0


@kernel
def _is_blockaded(position: Position, strong: int) -> bool:
    """Return whether the enemy king safely blocks the only pawn.

    Each side must have one minor piece. A bishop of `strong` cannot attack the king's square.
    """
    pawns: Bits = position.kinds[PAWN]
    if not has_single_bit(pawns) or pawns & position.sides[1 - strong]:
        return False
    pawn = first_square(pawns)
    king = king_square(position, 1 - strong)
    if king & 7 != pawn & 7 or (king > pawn) != (strong == 0):
        return False
    bishop = position.kinds[BISHOP] & position.sides[strong]
    return not bishop or (bit(king) & DARK_SQUARES == 0) != (bishop & DARK_SQUARES == 0)
