"""The hand-made evaluation: material, placement, mobility, pawns, king safety, bishop pair.

Every term has a value for the middlegame and one for the endgame, in centipawns; the total is
their mean, weighted by the pieces left on the board ("tapered"). It is also the model of an
evaluator: a function of (worker, ply) that only reads.
"""

from typing import Any

import numba
import numpy as np

from agent.chess.attacks import (
    bishop_attacks,
    bit,
    has,
    king_square,
    piece_attacks,
    rook_attacks,
)
from agent.chess.geometry import king_attacks
from agent.chess.native import U64, count, first_square
from agent.chess.records import (
    BISHOP,
    KING,
    KNIGHT,
    PAWN,
    QUEEN,
    ROOK,
    Bits,
    Position,
    Worker,
    position_at,
    worker_at,
)
from agent.kernel import c_function, kernel

# All weights are (middlegame, endgame) in centipawns, from the owner's point of view.
MATERIAL = ((82, 96), (325, 290), (340, 305), (470, 525), (975, 960), (0, 0))
BISHOP_PAIR = (24, 50)
TEMPO = (16, 8)

# Placement on the files a to d as White sees the board, rank 8 on top; e to h mirror them.
PLACEMENT = (
    (  # pawn
        (
            (0, 0, 0, 0),
            (45, 55, 60, 65),
            (8, 20, 30, 34),
            (-6, 6, 8, 20),
            (-14, 0, 4, 18),
            (-10, 2, 0, 2),
            (-14, 8, 2, -14),
            (0, 0, 0, 0),
        ),
        (
            (0, 0, 0, 0),
            (90, 85, 78, 74),
            (48, 46, 38, 32),
            (18, 14, 5, -1),
            (6, 4, -3, -6),
            (0, 2, -1, 2),
            (4, 4, 6, 10),
            (0, 0, 0, 0),
        ),
    ),
    (  # knight
        (
            (-100, -50, -40, -25),
            (-35, -15, 25, 20),
            (-10, 25, 45, 50),
            (0, 12, 22, 36),
            (-8, 8, 16, 18),
            (-20, 2, 14, 16),
            (-25, -20, -2, 0),
            (-60, -22, -28, -22),
        ),
        (
            (-60, -40, -20, -18),
            (-30, -15, -14, -4),
            (-24, -10, 4, 8),
            (-14, 4, 15, 20),
            (-14, 2, 14, 18),
            (-20, -6, 2, 12),
            (-30, -18, -10, -4),
            (-44, -40, -18, -14),
        ),
    ),
    (  # bishop
        (
            (-20, -5, -40, -35),
            (-25, 5, 0, 0),
            (-2, 20, 32, 30),
            (-3, 6, 18, 34),
            (0, 8, 12, 26),
            (6, 16, 16, 12),
            (6, 22, 16, 6),
            (-20, -8, -10, -12),
        ),
        (
            (-14, -14, -9, -8),
            (-10, -4, -2, -6),
            (0, -2, 0, 0),
            (-2, 6, 9, 10),
            (-7, 2, 9, 12),
            (-10, -3, 5, 9),
            (-16, -14, -6, 0),
            (-18, -9, -14, -6),
        ),
    ),
    (  # rook
        (
            (28, 28, 26, 38),
            (26, 28, 48, 54),
            (4, 25, 28, 26),
            (-14, -4, 14, 20),
            (-24, -12, -4, 2),
            (-28, -12, -6, -4),
            (-36, -10, -4, -2),
            (-14, -8, 6, 14),
        ),
        (
            (10, 10, 14, 13),
            (8, 10, 10, 6),
            (3, 2, 2, 4),
            (4, 2, 8, 2),
            (-2, -2, 0, -1),
            (-8, -4, -6, -4),
            (-4, -6, -4, -3),
            (-10, -2, -2, -2),
        ),
    ),
    (  # queen
        (
            (0, 12, 26, 26),
            (4, -10, 10, 0),
            (10, 8, 22, 18),
            (-10, -12, -4, -4),
            (-6, -8, -4, -6),
            (-6, 4, 0, -2),
            (-16, -4, 8, 6),
            (-16, -16, -12, 2),
        ),
        (
            (2, 14, 18, 22),
            (-6, 18, 26, 40),
            (-6, 10, 20, 40),
            (8, 28, 30, 44),
            (0, 24, 26, 36),
            (-8, -4, 14, 8),
            (-24, -24, -22, -16),
            (-34, -28, -22, -30),
        ),
    ),
    (  # king
        (
            (-20, 5, -4, -25),
            (-6, -6, -8, -10),
            (-10, 10, 5, -14),
            (-20, -14, -15, -24),
            (-40, -16, -28, -36),
            (-16, -16, -24, -38),
            (8, 10, -12, -40),
            (6, 30, -2, -16),
        ),
        (
            (-50, -22, -8, -12),
            (-2, 16, 22, 16),
            (8, 24, 28, 16),
            (-2, 20, 24, 26),
            (-12, 4, 20, 24),
            (-12, 2, 12, 18),
            (-20, -8, 4, 12),
            (-44, -28, -16, -22),
        ),
    ),
)

# Per square attacked beyond the usual number, enemy pawns' attacks not counted: knight to queen.
MOBILITY = ((0, 0), (5, 5), (5, 5), (3, 5), (2, 5))
MOBILITY_USUAL = (0, 4, 6, 7, 13)

DOUBLED = (-6, -20)
ISOLATED = (-14, -14)
BACKWARD = (-8, -10)
SUPPORTED = (8, 4)  # defended by another pawn
PASSED = ((0, 0), (2, 12), (4, 16), (8, 32), (28, 58), (60, 102), (90, 150), (0, 0))  # by rank
PASSED_BLOCKED = (-6, -24)
PASSED_KING_NEAR = 5  # endgame only: per square of distance that the enemy king is farther

ROOK_OPEN_FILE = (32, 6)
ROOK_HALF_OPEN_FILE = (14, 6)
KNIGHT_OUTPOST = (20, 12)

# King safety, middlegame only: danger grows with the square of the attack's weight.
ATTACK_WEIGHT = (0, 3, 3, 4, 6, 0)  # per attacked square beside the king, by attacking kind
DANGER_DIVISOR = 9
MAX_DANGER = 400
SHIELD = (14, 0)  # per pawn close before the king
KING_OPEN_FILE = (-22, 0)  # per file beside the king without own pawns

PHASE = (0, 1, 1, 2, 4, 0)
FULL_PHASE = 24


_HALF = np.array(PLACEMENT, dtype=np.int16)[:, :, ::-1, :]
# Material and placement together: kind, phase, square as White sees it.
_PLACED = np.concatenate([_HALF, _HALF[:, :, :, ::-1]], axis=3).reshape(6, 2, 64) + np.array(
    MATERIAL, dtype=np.int16
).reshape(6, 2, 1)

_FILE_A = U64(0x0101010101010101)
_FILE_H = U64(0x8080808080808080)


@kernel
def up(bits: Bits, side: int) -> Bits:
    """Move every square one rank forward, as `side` sees it."""
    return bits << U64(8) if side == 0 else bits >> U64(8)


@kernel
def fill_up(bits: Bits, side: int) -> Bits:
    """Add all squares in front, as `side` sees it."""
    if side == 0:
        bits |= bits << U64(8)
        bits |= bits << U64(16)
        return bits | bits << U64(32)
    bits |= bits >> U64(8)
    bits |= bits >> U64(16)
    return bits | bits >> U64(32)


@kernel
def beside(bits: Bits) -> Bits:
    """Return the squares left and right of each square."""
    return (bits & ~_FILE_A) >> U64(1) | (bits & ~_FILE_H) << U64(1)


@kernel
def distance(a: int, b: int) -> int:
    """Return the number of king's moves between two squares."""
    return max(abs((a >> 3) - (b >> 3)), abs((a & 7) - (b & 7)))


@kernel
def _pawn_score(position: Position, side: int) -> tuple[int, int]:
    """Score the side's pawns: placement, structure, passed pawns."""
    pawns = position.kinds[PAWN] & position.sides[side]
    enemy_pawns = position.kinds[PAWN] & position.sides[1 - side]
    occupied = position.sides[0] | position.sides[1]
    own_king, enemy_king = king_square(position, side), king_square(position, 1 - side)

    own_attacks = up(beside(pawns), side)
    attack_span = fill_up(own_attacks, side)
    enemy_attacks = up(beside(enemy_pawns), 1 - side)
    enemy_front = fill_up(up(enemy_pawns, 1 - side), 1 - side)
    enemy_span = fill_up(enemy_attacks, 1 - side)
    behind_own = fill_up(up(pawns, 1 - side), 1 - side)
    files = fill_up(fill_up(pawns, 0), 1)

    doubled = pawns & behind_own
    isolated = pawns & ~beside(files)
    stops = up(pawns, side) & ~attack_span & enemy_attacks
    backward = up(stops, 1 - side) & pawns & ~isolated
    supported = pawns & own_attacks
    passed = pawns & ~enemy_front & ~enemy_span & ~behind_own

    mg = (
        count(doubled) * DOUBLED[0]
        + count(isolated) * ISOLATED[0]
        + count(backward) * BACKWARD[0]
        + count(supported) * SUPPORTED[0]
    )
    eg = (
        count(doubled) * DOUBLED[1]
        + count(isolated) * ISOLATED[1]
        + count(backward) * BACKWARD[1]
        + count(supported) * SUPPORTED[1]
    )
    flip = 0 if side == 0 else 56
    while pawns:
        square = first_square(pawns)
        mg += _PLACED[PAWN, 0, square ^ flip]
        eg += _PLACED[PAWN, 1, square ^ flip]
        pawns &= pawns - U64(1)
    while passed:
        square = first_square(passed)
        rank = (square ^ flip) >> 3
        stop = square + 8 if side == 0 else square - 8
        mg += PASSED[rank][0]
        eg += PASSED[rank][1]
        if has(occupied, stop):
            mg += PASSED_BLOCKED[0]
            eg += PASSED_BLOCKED[1]
        if rank > 2:
            nearer = distance(enemy_king, stop) * 2 - distance(own_king, stop)
            eg += PASSED_KING_NEAR * (rank - 2) * nearer // 2
        passed &= passed - U64(1)
    return mg, eg


@kernel
def _piece_score(position: Position, side: int) -> tuple[int, int]:
    """Score the side's knights to queens: placement, mobility, files, attack on the king."""
    own, enemy = position.sides[side], position.sides[1 - side]
    occupied = own | enemy
    pawns = position.kinds[PAWN]
    own_pawn_attacks = up(beside(pawns & own), side)
    enemy_pawn_attacks = up(beside(pawns & enemy), 1 - side)
    enemy_attack_span = fill_up(enemy_pawn_attacks, 1 - side)
    enemy_king = king_square(position, 1 - side)
    zone = king_attacks(enemy_king)
    zone |= up(zone, 1 - side)
    usable = ~own & ~enemy_pawn_attacks
    flip = 0 if side == 0 else 56
    mg = eg = attack = attacker_count = 0
    for kind in range(KNIGHT, KING):
        pieces = position.kinds[kind] & own
        while pieces:
            square = first_square(pieces)
            pieces &= pieces - U64(1)
            if kind == BISHOP:  # sees through queens, as it would after their exchange
                attacked = bishop_attacks(square, occupied & ~position.kinds[QUEEN])
            elif kind == ROOK:
                attacked = rook_attacks(
                    square, occupied & ~position.kinds[QUEEN] & ~(position.kinds[ROOK] & own)
                )
            else:
                attacked = piece_attacks(kind, square, occupied)
            mobility = count(attacked & usable) - MOBILITY_USUAL[kind]
            mg += _PLACED[kind, 0, square ^ flip] + mobility * MOBILITY[kind][0]
            eg += _PLACED[kind, 1, square ^ flip] + mobility * MOBILITY[kind][1]
            near = count(attacked & zone)
            if near:
                attack += near * ATTACK_WEIGHT[kind]
                attacker_count += 1
            if kind == ROOK:
                file = _FILE_A << U64(square & 7)
                if not file & pawns & own:
                    if file & pawns:
                        mg += ROOK_HALF_OPEN_FILE[0]
                        eg += ROOK_HALF_OPEN_FILE[1]
                    else:
                        mg += ROOK_OPEN_FILE[0]
                        eg += ROOK_OPEN_FILE[1]
            elif kind == KNIGHT and bit(square) & own_pawn_attacks & ~enemy_attack_span:
                mg += KNIGHT_OUTPOST[0]
                eg += KNIGHT_OUTPOST[1]
    if count(position.kinds[BISHOP] & own) >= 2:
        mg += BISHOP_PAIR[0]
        eg += BISHOP_PAIR[1]
    if attacker_count >= 2:
        mg += min(attack * attack // DANGER_DIVISOR, MAX_DANGER)
    return mg, eg


@kernel
def _king_score(position: Position, side: int) -> tuple[int, int]:
    """Score the side's king: placement, the pawns before it, open files beside it."""
    king = king_square(position, side)
    flip = 0 if side == 0 else 56
    mg = eg = 0
    mg += _PLACED[KING, 0, king ^ flip]
    eg += _PLACED[KING, 1, king ^ flip]
    pawns = position.kinds[PAWN] & position.sides[side]
    row = bit(king) | beside(bit(king))
    shield = up(row, side) | up(up(row, side), side)
    mg += min(count(shield & pawns), 3) * SHIELD[0]
    while row:
        file = _FILE_A << U64(first_square(row) & 7)
        if not file & pawns:
            mg += KING_OPEN_FILE[0]
        row &= row - U64(1)
    return mg, eg


@kernel
def game_phase(position: Position) -> int:
    """Return 24 with all pieces on the board, down to 0 with kings and pawns only."""
    phase = 0
    for kind in range(KNIGHT, KING):
        phase += PHASE[kind] * count(position.kinds[kind])
    return min(phase, FULL_PHASE)


@kernel
def handcrafted(worker: Worker, ply: int) -> int:
    """Evaluate the position at `ply`: centipawns for the side to move."""
    position = position_at(worker, ply)
    mg = eg = 0
    for side in range(2):
        pawn_mg, pawn_eg = _pawn_score(position, side)
        piece_mg, piece_eg = _piece_score(position, side)
        king_mg, king_eg = _king_score(position, side)
        sign = 1 if side == position.turn else -1
        mg += sign * (pawn_mg + piece_mg + king_mg)
        eg += sign * (pawn_eg + piece_eg + king_eg)
    mg += TEMPO[0]
    eg += TEMPO[1]
    phase = game_phase(position)
    total = mg * phase + eg * (FULL_PHASE - phase)
    return total // FULL_PHASE if total >= 0 else -(-total // FULL_PHASE)


def _handcrafted_at(address: Any, ply: Any) -> Any:
    return handcrafted(worker_at(address), ply)


EVALUATOR_SIGNATURE = numba.types.int32(numba.types.uint64, numba.types.int64)
handcrafted_function = c_function(
    EVALUATOR_SIGNATURE, _handcrafted_at, "agent.chess.handcrafted.handcrafted"
)
