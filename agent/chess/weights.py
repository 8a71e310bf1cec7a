"""The weights of the hand-made evaluation, as `kempelen tune evaluation` writes them.

Every weight is a pair of centipawns, for the middlegame and for the endgame, from the owner's
point of view. Ranks are counted from the owner's first, which is 0.
"""

from typing import NamedTuple


class Term(NamedTuple):
    """What counts, how many weights make a line here, and the weights."""

    meaning: str
    row: int
    values: tuple[tuple[int, int], ...]


# fmt: off
WEIGHTS = {
    "tempo": Term(
        "having the move",
        6,
        (
            (16, 8),
        ),
    ),
    "material": Term(
        "by kind, pawn to queen",
        6,
        (
            (82, 96), (325, 290), (340, 305), (470, 525), (975, 960),
        ),
    ),
    "pawn_placement": Term(
        "files a to d, which e to h mirror, from the first rank up",
        4,
        (
            (0, 0), (0, 0), (0, 0), (0, 0),
            (-14, 4), (8, 4), (2, 6), (-14, 10),
            (-10, 0), (2, 2), (0, -1), (2, 2),
            (-14, 6), (0, 4), (4, -3), (18, -6),
            (-6, 18), (6, 14), (8, 5), (20, -1),
            (8, 48), (20, 46), (30, 38), (34, 32),
            (45, 90), (55, 85), (60, 78), (65, 74),
            (0, 0), (0, 0), (0, 0), (0, 0),
        ),
    ),
    "knight_placement": Term(
        "files a to d, which e to h mirror, from the first rank up",
        4,
        (
            (-60, -44), (-22, -40), (-28, -18), (-22, -14),
            (-25, -30), (-20, -18), (-2, -10), (0, -4),
            (-20, -20), (2, -6), (14, 2), (16, 12),
            (-8, -14), (8, 2), (16, 14), (18, 18),
            (0, -14), (12, 4), (22, 15), (36, 20),
            (-10, -24), (25, -10), (45, 4), (50, 8),
            (-35, -30), (-15, -15), (25, -14), (20, -4),
            (-100, -60), (-50, -40), (-40, -20), (-25, -18),
        ),
    ),
    "bishop_placement": Term(
        "files a to d, which e to h mirror, from the first rank up",
        4,
        (
            (-20, -18), (-8, -9), (-10, -14), (-12, -6),
            (6, -16), (22, -14), (16, -6), (6, 0),
            (6, -10), (16, -3), (16, 5), (12, 9),
            (0, -7), (8, 2), (12, 9), (26, 12),
            (-3, -2), (6, 6), (18, 9), (34, 10),
            (-2, 0), (20, -2), (32, 0), (30, 0),
            (-25, -10), (5, -4), (0, -2), (0, -6),
            (-20, -14), (-5, -14), (-40, -9), (-35, -8),
        ),
    ),
    "rook_placement": Term(
        "files a to d, which e to h mirror, from the first rank up",
        4,
        (
            (-14, -10), (-8, -2), (6, -2), (14, -2),
            (-36, -4), (-10, -6), (-4, -4), (-2, -3),
            (-28, -8), (-12, -4), (-6, -6), (-4, -4),
            (-24, -2), (-12, -2), (-4, 0), (2, -1),
            (-14, 4), (-4, 2), (14, 8), (20, 2),
            (4, 3), (25, 2), (28, 2), (26, 4),
            (26, 8), (28, 10), (48, 10), (54, 6),
            (28, 10), (28, 10), (26, 14), (38, 13),
        ),
    ),
    "queen_placement": Term(
        "files a to d, which e to h mirror, from the first rank up",
        4,
        (
            (-16, -34), (-16, -28), (-12, -22), (2, -30),
            (-16, -24), (-4, -24), (8, -22), (6, -16),
            (-6, -8), (4, -4), (0, 14), (-2, 8),
            (-6, 0), (-8, 24), (-4, 26), (-6, 36),
            (-10, 8), (-12, 28), (-4, 30), (-4, 44),
            (10, -6), (8, 10), (22, 20), (18, 40),
            (4, -6), (-10, 18), (10, 26), (0, 40),
            (0, 2), (12, 14), (26, 18), (26, 22),
        ),
    ),
    "king_placement": Term(
        "files a to d, which e to h mirror, from the first rank up",
        4,
        (
            (6, -44), (30, -28), (-2, -16), (-16, -22),
            (8, -20), (10, -8), (-12, 4), (-40, 12),
            (-16, -12), (-16, 2), (-24, 12), (-38, 18),
            (-40, -12), (-16, 4), (-28, 20), (-36, 24),
            (-20, -2), (-14, 20), (-15, 24), (-24, 26),
            (-10, 8), (10, 24), (5, 28), (-14, 16),
            (-6, -2), (-6, 16), (-8, 22), (-10, 16),
            (-20, -50), (5, -22), (-4, -8), (-25, -12),
        ),
    ),
    "knight_mobility": Term(
        "by squares attacked, those of enemy pawns not counted",
        6,
        (
            (-20, -20), (-15, -15), (-10, -10), (-5, -5), (0, 0), (5, 5),
            (10, 10), (15, 15), (20, 20),
        ),
    ),
    "bishop_mobility": Term(
        "by squares attacked, those of enemy pawns not counted",
        6,
        (
            (-30, -30), (-25, -25), (-20, -20), (-15, -15), (-10, -10), (-5, -5),
            (0, 0), (5, 5), (10, 10), (15, 15), (20, 20), (25, 25),
            (30, 30), (35, 35),
        ),
    ),
    "rook_mobility": Term(
        "by squares attacked, those of enemy pawns not counted",
        6,
        (
            (-21, -35), (-18, -30), (-15, -25), (-12, -20), (-9, -15), (-6, -10),
            (-3, -5), (0, 0), (3, 5), (6, 10), (9, 15), (12, 20),
            (15, 25), (18, 30), (21, 35),
        ),
    ),
    "queen_mobility": Term(
        "by squares attacked, those of enemy pawns not counted",
        6,
        (
            (-26, -65), (-24, -60), (-22, -55), (-20, -50), (-18, -45), (-16, -40),
            (-14, -35), (-12, -30), (-10, -25), (-8, -20), (-6, -15), (-4, -10),
            (-2, -5), (0, 0), (2, 5), (4, 10), (6, 15), (8, 20),
            (10, 25), (12, 30), (14, 35), (16, 40), (18, 45), (20, 50),
            (22, 55), (24, 60), (26, 65), (28, 70),
        ),
    ),
    "doubled": Term(
        "pawn behind another",
        6,
        (
            (-6, -20),
        ),
    ),
    "isolated": Term(
        "pawn without neighbours: with an enemy pawn before it, without one",
        6,
        (
            (-14, -14), (-14, -14),
        ),
    ),
    "backward": Term(
        "pawn that cannot safely catch up: the same two",
        6,
        (
            (-8, -10), (-8, -10),
        ),
    ),
    "supported": Term(
        "pawn defended by another, by rank",
        4,
        (
            (0, 0), (8, 4), (8, 4), (8, 4),
            (8, 4), (8, 4), (8, 4), (0, 0),
        ),
    ),
    "phalanx": Term(
        "pawn beside another, by rank",
        4,
        (
            (0, 0), (0, 0), (0, 0), (0, 0),
            (0, 0), (0, 0), (0, 0), (0, 0),
        ),
    ),
    "passed": Term(
        "passed pawn, by rank",
        4,
        (
            (0, 0), (2, 12), (4, 16), (8, 32),
            (28, 58), (60, 102), (90, 150), (0, 0),
        ),
    ),
    "passed_blocked": Term(
        "passed pawn with a piece before it, by rank",
        4,
        (
            (0, 0), (-6, -24), (-6, -24), (-6, -24),
            (-6, -24), (-6, -24), (-6, -24), (0, 0),
        ),
    ),
    "passed_free": Term(
        "passed pawn that may safely advance, by rank",
        4,
        (
            (0, 0), (0, 0), (0, 0), (0, 0),
            (0, 0), (0, 0), (0, 0), (0, 0),
        ),
    ),
    "passed_own_king": Term(
        "per square of the own king's distance from the next square, by rank",
        4,
        (
            (0, 0), (0, 0), (0, 0), (0, -2),
            (0, -5), (0, -8), (0, -10), (0, -12),
        ),
    ),
    "passed_enemy_king": Term(
        "the same of the enemy king",
        4,
        (
            (0, 0), (0, 0), (0, 0), (0, 5),
            (0, 10), (0, 15), (0, 20), (0, 25),
        ),
    ),
    "bishop_pair": Term(
        "two bishops or more",
        6,
        (
            (24, 50),
        ),
    ),
    "bishop_pawns": Term(
        "own pawn on the colour of a bishop",
        6,
        (
            (0, 0),
        ),
    ),
    "outpost": Term(
        "knight, bishop defended by a pawn where no pawn can attack it",
        6,
        (
            (20, 12), (0, 0),
        ),
    ),
    "behind_pawn": Term(
        "knight or bishop right behind a pawn",
        6,
        (
            (0, 0),
        ),
    ),
    "rook_file": Term(
        "rook on a file without own pawns: half open, open",
        6,
        (
            (14, 6), (32, 6),
        ),
    ),
    "rook_seventh": Term(
        "rook on the seventh rank with the enemy king behind or pawns there",
        6,
        (
            (0, 0),
        ),
    ),
    "pawn_threat": Term(
        "enemy piece attacked by a pawn, pawn to queen",
        6,
        (
            (0, 0), (0, 0), (0, 0), (0, 0), (0, 0),
        ),
    ),
    "minor_threat": Term(
        "attacked by a knight or bishop; pawns only if not defended",
        6,
        (
            (0, 0), (0, 0), (0, 0), (0, 0), (0, 0),
        ),
    ),
    "rook_threat": Term(
        "attacked by a rook; pawns, knights and bishops only if not defended",
        6,
        (
            (0, 0), (0, 0), (0, 0), (0, 0), (0, 0),
        ),
    ),
    "hanging": Term(
        "enemy piece attacked and not defended",
        6,
        (
            (0, 0),
        ),
    ),
    "push_threat": Term(
        "enemy piece that a safe advance of a pawn would attack",
        6,
        (
            (0, 0),
        ),
    ),
    "space": Term(
        "safe square behind or between the own pawns in the centre",
        6,
        (
            (0, 0),
        ),
    ),
    "shelter": Term(
        "by rank, 0 for none, the nearest own pawn before the king: on its file, on one beside",
        4,
        (
            (-22, 0), (14, 0), (14, 0), (0, 0),
            (0, 0), (0, 0), (0, 0), (0, 0),
            (-22, 0), (14, 0), (14, 0), (0, 0),
            (0, 0), (0, 0), (0, 0), (0, 0),
        ),
    ),
    "storm": Term(
        "by rank, 0 for none, the nearest enemy pawn before the king: free, blocked by a pawn",
        4,
        (
            (0, 0), (0, 0), (0, 0), (0, 0),
            (0, 0), (0, 0), (0, 0), (0, 0),
            (0, 0), (0, 0), (0, 0), (0, 0),
            (0, 0), (0, 0), (0, 0), (0, 0),
        ),
    ),
    "king_danger": Term(
        "by units of attack on the enemy king: without an own queen, with one",
        6,
        (
            (0, 0), (0, 0), (1, 0), (4, 0), (7, 0), (11, 0),
            (16, 0), (21, 0), (28, 0), (36, 0), (44, 0), (53, 0),
            (64, 0), (75, 0), (87, 0), (100, 0), (113, 0), (128, 0),
            (144, 0), (160, 0), (177, 0), (196, 0), (215, 0), (235, 0),
            (256, 0), (277, 0), (300, 0), (324, 0), (348, 0), (373, 0),
            (400, 0), (400, 0), (400, 0), (400, 0), (400, 0), (400, 0),
            (400, 0), (400, 0), (400, 0), (400, 0), (400, 0), (400, 0),
            (400, 0), (400, 0), (400, 0), (400, 0), (400, 0), (400, 0),
            (0, 0), (0, 0), (1, 0), (4, 0), (7, 0), (11, 0),
            (16, 0), (21, 0), (28, 0), (36, 0), (44, 0), (53, 0),
            (64, 0), (75, 0), (87, 0), (100, 0), (113, 0), (128, 0),
            (144, 0), (160, 0), (177, 0), (196, 0), (215, 0), (235, 0),
            (256, 0), (277, 0), (300, 0), (324, 0), (348, 0), (373, 0),
            (400, 0), (400, 0), (400, 0), (400, 0), (400, 0), (400, 0),
            (400, 0), (400, 0), (400, 0), (400, 0), (400, 0), (400, 0),
            (400, 0), (400, 0), (400, 0), (400, 0), (400, 0), (400, 0),
        ),
    ),
}
# fmt: on
