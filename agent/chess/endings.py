"""What is known of endings: which advantages do not win, and where a bare king is mated."""

from agent.chess.attacks import is_single, king_square
from agent.chess.native import U64, count, first_square, last_square
from agent.chess.records import BISHOP, KNIGHT, PAWN, QUEEN, ROOK, Position
from agent.chess.squares import distance
from agent.kernel import kernel

FULL_SCALE = 64  # all of the advantage counts

# Shares of an advantage, of FULL_SCALE. Where no more than DIFFICULT is left, the middlegame does
# not count, however many pieces are on the board.
_DRAWN = 0
_HOPELESS = 4  # a minor piece more, or an exchange, without pawns
DIFFICULT = 14
_OPPOSITE_BISHOPS = 18
_OPPOSITE_BISHOPS_PAWN = 4  # more for each passed or other pawn beyond the enemy's
_OPPOSITE_WITH_PIECES = 26
_OPPOSITE_PIECE = 4
_ROOK_ENDING = 36  # with at most a pawn more, on one wing
_FEW_PAWNS = 36  # more for each pawn
_EACH_PAWN = 9

_MINOR, _ROOK, _QUEEN = 3, 5, 9

_DARK = U64(0xAA55AA55AA55AA55)
_FILE_A = U64(0x0101010101010101)
_FILE_H = U64(0x8080808080808080)
_WEST = U64(0x0F0F0F0F0F0F0F0F)

# Centipawns for a square nearer the edge or corner, and for a king's move nearer the other king.
_EDGE = 12
_CORNER = 16
_NEAR = 6


@kernel
def _worth(position: Position, side: int) -> int:
    """Return what the side has beside king and pawns, in pawns."""
    own, kinds = position.sides[side], position.kinds
    return (
        _MINOR * count((kinds[KNIGHT] | kinds[BISHOP]) & own)
        + _ROOK * count(kinds[ROOK] & own)
        + _QUEEN * count(kinds[QUEEN] & own)
    )


@kernel
def scale(position: Position, strong: int) -> int:
    """Return how much of the endgame advantage of a side counts, of FULL_SCALE."""
    own, enemy = position.sides[strong], position.sides[1 - strong]
    pawns = position.kinds[PAWN]
    own_pawns = pawns & own
    worth, other = _worth(position, strong), _worth(position, 1 - strong)
    if not own_pawns:
        return _without_pawns(position, strong, worth, other)

    bishops, knights = position.kinds[BISHOP], position.kinds[KNIGHT]
    own_bishops = bishops & own
    number = count(own_pawns)
    surplus = number - count(pawns & enemy)
    if is_single(own_bishops) and is_single(bishops & enemy):
        dark = (own_bishops & _DARK) != U64(0)
        if dark != ((bishops & enemy & _DARK) != U64(0)):
            if worth == other == _MINOR:
                return _OPPOSITE_BISHOPS + _OPPOSITE_BISHOPS_PAWN * max(surplus, 0)
            pieces = count(own & ~pawns) - 1
            return min(_OPPOSITE_WITH_PIECES + _OPPOSITE_PIECE * pieces, FULL_SCALE)
    if worth == _MINOR * count(own_bishops) and _is_wrong_corner(position, strong):
        return _DRAWN
    if worth == other == _ROOK and surplus <= 1 and not knights | bishops:
        west = (own_pawns & _WEST) != U64(0)
        east = (own_pawns & ~_WEST) != U64(0)
        if west != east and _is_before(position, strong):
            return _ROOK_ENDING
    return min(_FEW_PAWNS + _EACH_PAWN * number, FULL_SCALE)


@kernel
def _without_pawns(position: Position, strong: int, worth: int, other: int) -> int:
    if worth <= _MINOR:
        return _DRAWN
    if worth == 2 * _MINOR and count(position.kinds[KNIGHT] & position.sides[strong]) == 2:
        return _DRAWN
    if worth - other <= _MINOR:
        return _HOPELESS if other <= _MINOR else DIFFICULT
    return FULL_SCALE


@kernel
def _is_wrong_corner(position: Position, strong: int) -> bool:
    """Tell whether all pawns are on one rook file and the king stays in their corner.

    That is a draw with pawns alone, and with bishops that do not attack the corner.
    """
    own = position.sides[strong]
    pawns = position.kinds[PAWN] & own
    if pawns & ~_FILE_A and pawns & ~_FILE_H:
        return False
    file = 0 if pawns & _FILE_A else 7
    corner = file if strong else 56 + file
    square = U64(1) << U64(corner)
    colour = _DARK if square & _DARK else ~_DARK
    if position.kinds[BISHOP] & own & colour:
        return False
    return distance(king_square(position, 1 - strong), corner) <= 1


@kernel
def _is_before(position: Position, strong: int) -> bool:
    """Tell whether the enemy king stands before all pawns, on a file near theirs."""
    king = king_square(position, 1 - strong)
    pawns = position.kinds[PAWN] & position.sides[strong]
    foremost = last_square(pawns) if strong == 0 else first_square(pawns)
    ahead = (king >> 3) - (foremost >> 3)
    return (ahead if strong == 0 else -ahead) > 0 and abs((king & 7) - (foremost & 7)) <= 2


@kernel
def drive(position: Position, strong: int) -> int:
    """Return centipawns for how far a bare king has been driven to where it is mated.

    By bishop and knight that is a corner of the bishop's colour, else any edge.
    """
    own, kinds = position.sides[strong], position.kinds
    king = king_square(position, 1 - strong)
    near = _NEAR * (7 - distance(king, king_square(position, strong)))
    if kinds[PAWN] or _worth(position, strong) < _ROOK:
        return 0
    if is_single(kinds[BISHOP] & own) and is_single(kinds[KNIGHT] & own) and count(own) == 3:
        if kinds[BISHOP] & _DARK:
            away = min(distance(king, 0), distance(king, 63))
        else:
            away = min(distance(king, 7), distance(king, 56))
        return near + _CORNER * (7 - away)
    rank, file = king >> 3, king & 7
    return near + _EDGE * (max(3 - rank, rank - 4) + max(3 - file, file - 4))
