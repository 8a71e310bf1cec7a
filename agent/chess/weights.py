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
            (23, 7),
        ),
    ),
    "material": Term(
        "by kind, pawn to queen",
        6,
        (
            (77, 105), (337, 296), (356, 310), (496, 545), (1139, 940),
        ),
    ),
    "pawn_placement": Term(
        "files a to d, which e to h mirror, from the first rank up",
        4,
        (
            (0, 0), (0, 0), (0, 0), (0, 0),
            (-19, 12), (6, 14), (-1, 11), (-18, 15),
            (-12, 1), (9, 2), (-1, 1), (-3, 1),
            (-17, 9), (-4, 14), (5, 2), (19, -11),
            (2, 23), (9, 13), (8, 4), (16, 1),
            (14, 20), (15, 27), (2, 24), (31, 18),
            (51, 44), (100, 55), (46, 80), (61, 79),
            (0, 0), (0, 0), (0, 0), (0, 0),
        ),
    ),
    "knight_placement": Term(
        "files a to d, which e to h mirror, from the first rank up",
        4,
        (
            (-71, -26), (-13, -26), (-31, -21), (-6, -27),
            (-22, -38), (-23, -10), (1, -12), (5, 2),
            (-9, -34), (13, -11), (14, 7), (36, 5),
            (-4, -20), (10, 8), (29, 11), (26, 9),
            (0, 3), (24, -5), (40, 1), (40, 12),
            (-19, -22), (-4, -3), (20, 15), (33, 22),
            (-31, -28), (-25, -7), (13, -8), (19, 3),
            (-96, -45), (-45, -33), (-59, -30), (-29, -9),
        ),
    ),
    "bishop_placement": Term(
        "files a to d, which e to h mirror, from the first rank up",
        4,
        (
            (1, -18), (-8, -7), (-3, -8), (-6, -20),
            (32, -20), (30, -13), (28, -11), (16, -9),
            (7, -10), (27, 1), (25, 6), (19, 12),
            (-11, -2), (10, 1), (15, 8), (29, 14),
            (-4, 2), (12, 5), (20, 1), (43, 4),
            (6, -17), (10, -4), (13, 13), (23, 11),
            (-48, -4), (-17, 21), (7, 11), (-26, 5),
            (3, 0), (-18, -7), (-36, 10), (-36, -3),
        ),
    ),
    "rook_placement": Term(
        "files a to d, which e to h mirror, from the first rank up",
        4,
        (
            (-14, 5), (-12, 12), (13, 0), (14, -6),
            (-40, -4), (-1, -8), (9, -31), (10, -12),
            (-30, 11), (-10, 3), (-1, 1), (-6, 0),
            (-22, 7), (0, 13), (6, 8), (-17, 10),
            (-20, 17), (3, 15), (10, 12), (12, 10),
            (8, 22), (32, 4), (41, 0), (30, 12),
            (15, 4), (17, -1), (64, -13), (67, -11),
            (43, 8), (63, -9), (44, -7), (64, -3),
        ),
    ),
    "queen_placement": Term(
        "files a to d, which e to h mirror, from the first rank up",
        4,
        (
            (-2, -24), (-2, -46), (6, -39), (8, -28),
            (1, -24), (12, -26), (20, -33), (21, -13),
            (2, -16), (15, 3), (10, 18), (5, 23),
            (9, 9), (-5, 20), (10, 13), (5, 25),
            (16, 10), (4, 29), (-2, 36), (14, -1),
            (13, 2), (-6, 48), (12, 21), (26, 20),
            (3, 6), (3, 17), (11, 25), (-3, 26),
            (-11, -6), (21, 7), (2, 10), (21, 17),
        ),
    ),
    "king_placement": Term(
        "files a to d, which e to h mirror, from the first rank up",
        4,
        (
            (-3, -53), (13, -33), (-12, -15), (-12, -20),
            (7, -26), (-3, -5), (-13, 6), (-18, 2),
            (-17, -8), (11, 2), (-2, 13), (-12, 13),
            (-55, -1), (-16, 17), (-20, 18), (-42, 18),
            (-24, 18), (-10, 18), (-22, 13), (-42, 12),
            (-14, 24), (12, -6), (0, -5), (-21, 21),
            (-8, 20), (7, 29), (-5, 17), (-2, 22),
            (-19, -64), (10, 12), (-7, 33), (-25, 48),
        ),
    ),
    "knight_mobility": Term(
        "by squares attacked, those of enemy pawns not counted",
        6,
        (
            (-24, -49), (-13, -16), (-6, 1), (1, 3), (6, 9), (10, 15),
            (12, 12), (19, -4), (19, -36),
        ),
    ),
    "bishop_mobility": Term(
        "by squares attacked, those of enemy pawns not counted",
        6,
        (
            (-33, -51), (-17, -37), (-8, -24), (-6, -3), (0, -1), (2, 11),
            (4, 16), (8, 13), (11, 15), (10, 15), (20, 7), (20, -2),
            (21, 10), (-13, -30),
        ),
    ),
    "rook_mobility": Term(
        "by squares attacked, those of enemy pawns not counted",
        6,
        (
            (-32, -40), (-16, -34), (-11, -28), (-6, -14), (-6, -4), (-3, 3),
            (0, 3), (0, 7), (6, 13), (10, 13), (5, 24), (8, 27),
            (7, 25), (-3, 37), (79, -24),
        ),
    ),
    "queen_mobility": Term(
        "by squares attacked, those of enemy pawns not counted",
        6,
        (
            (-1, -58), (-10, -54), (-7, -56), (-5, -44), (-8, -46), (-3, -39),
            (-4, -24), (0, -28), (1, -12), (-1, -5), (2, 9), (5, 16),
            (8, 31), (5, 30), (6, 41), (4, 49), (13, 43), (11, 35),
            (22, 43), (31, 25), (30, 9), (35, -5), (24, -16), (21, -61),
            (5, -31), (-9, -100), (17, 28), (-9, -74),
        ),
    ),
    "doubled": Term(
        "pawn behind another",
        6,
        (
            (-7, -20),
        ),
    ),
    "isolated": Term(
        "pawn without neighbours: with an enemy pawn before it, without one",
        6,
        (
            (-1, -6), (-15, -9),
        ),
    ),
    "backward": Term(
        "pawn that cannot safely catch up: the same two",
        6,
        (
            (-1, -10), (-17, -14),
        ),
    ),
    "supported": Term(
        "pawn defended by another, by rank",
        4,
        (
            (0, 0), (8, 4), (12, 8), (13, 9),
            (13, 11), (38, 17), (28, -8), (0, 0),
        ),
    ),
    "phalanx": Term(
        "pawn beside another, by rank",
        4,
        (
            (0, 0), (5, -1), (4, 4), (5, 7),
            (10, 24), (22, 35), (8, 26), (0, 0),
        ),
    ),
    "passed": Term(
        "passed pawn, by rank",
        4,
        (
            (0, 0), (5, 22), (3, 22), (10, 52),
            (25, 61), (59, 94), (104, 116), (0, 0),
        ),
    ),
    "passed_blocked": Term(
        "passed pawn with a piece before it, by rank",
        4,
        (
            (0, 0), (-26, 3), (-1, 2), (3, -11),
            (-7, 0), (-19, -5), (-53, -28), (0, 0),
        ),
    ),
    "passed_free": Term(
        "passed pawn that may safely advance, by rank",
        4,
        (
            (0, 0), (-5, 6), (1, 11), (-12, 17),
            (0, 43), (26, 50), (26, 77), (0, 0),
        ),
    ),
    "passed_own_king": Term(
        "per square of the own king's distance from the next square, by rank",
        4,
        (
            (0, 0), (0, -4), (-2, -5), (-2, -13),
            (-2, -16), (-2, -18), (1, -20), (0, -12),
        ),
    ),
    "passed_enemy_king": Term(
        "the same of the enemy king",
        4,
        (
            (0, 0), (2, 1), (1, 4), (2, 14),
            (4, 21), (2, 31), (9, 29), (0, 25),
        ),
    ),
    "bishop_pair": Term(
        "two bishops or more",
        6,
        (
            (21, 37),
        ),
    ),
    "bishop_pawns": Term(
        "own pawn on the colour of a bishop",
        6,
        (
            (-1, 3),
        ),
    ),
    "outpost": Term(
        "knight, bishop defended by a pawn where no pawn can attack it",
        6,
        (
            (26, 17), (34, -4),
        ),
    ),
    "behind_pawn": Term(
        "knight or bishop right behind a pawn",
        6,
        (
            (2, 22),
        ),
    ),
    "rook_file": Term(
        "rook on a file without own pawns: half open, open",
        6,
        (
            (10, 17), (49, -10),
        ),
    ),
    "rook_seventh": Term(
        "rook on the seventh rank with the enemy king behind or pawns there",
        6,
        (
            (-5, 27),
        ),
    ),
    "pawn_threat": Term(
        "enemy piece attacked by a pawn, pawn to queen",
        6,
        (
            (0, 0), (63, 23), (52, 26), (38, 22), (44, -1),
        ),
    ),
    "minor_threat": Term(
        "attacked by a knight or bishop; pawns only if not defended",
        6,
        (
            (18, 40), (17, 30), (25, 44), (68, 1), (46, 4),
        ),
    ),
    "rook_threat": Term(
        "attacked by a rook; pawns, knights and bishops only if not defended",
        6,
        (
            (15, 46), (21, 26), (15, 17), (-13, -6), (45, 24),
        ),
    ),
    "hanging": Term(
        "enemy piece attacked and not defended",
        6,
        (
            (22, 11),
        ),
    ),
    "push_threat": Term(
        "enemy piece that a safe advance of a pawn would attack",
        6,
        (
            (13, 22),
        ),
    ),
    "space": Term(
        "safe square behind or between the own pawns in the centre",
        6,
        (
            (1, -2),
        ),
    ),
    "shelter": Term(
        "by rank, 0 for none, the nearest own pawn before the king: on its file, on one beside",
        4,
        (
            (-23, 2), (18, 1), (13, -2), (-5, -5),
            (5, -1), (6, 19), (-2, 17), (0, 0),
            (-18, 3), (19, -4), (6, -1), (-6, -2),
            (2, 6), (1, 10), (10, 11), (0, 0),
        ),
    ),
    "storm": Term(
        "by rank, 0 for none, the nearest enemy pawn before the king: free, blocked by a pawn",
        4,
        (
            (-3, -3), (4, 60), (-13, 30), (-2, 3),
            (-3, 8), (6, 0), (3, -2), (0, 0),
            (0, 0), (0, 0), (-21, -17), (-1, -4),
            (0, -11), (1, -17), (-4, -18), (0, 0),
        ),
    ),
    "king_danger": Term(
        "by units of attack on the enemy king: without an own queen, with one",
        6,
        (
            (0, 0), (0, 0), (1, 0), (-1, 1), (1, 3), (3, 18),
            (10, -3), (25, -4), (30, 4), (45, -9), (32, -7), (39, -3),
            (48, -12), (79, -24), (73, -10), (94, -27), (99, -20), (118, -31),
            (135, -37), (146, -47), (174, -49), (188, -43), (203, -61), (223, -75),
            (235, -43), (256, -65), (283, -61), (303, -60), (325, -63), (347, -73),
            (380, -46), (379, -51), (385, -37), (389, -25), (389, -31), (391, -20),
            (395, -8), (393, -16), (398, -4), (414, 6), (397, 9), (400, 0),
            (400, 0), (396, 1), (400, 0), (396, 3), (400, 0), (400, 0),
            (0, 0), (0, 0), (1, 0), (0, 19), (3, 11), (6, -8),
            (12, 13), (13, 15), (40, -3), (22, 18), (30, 20), (44, 9),
            (38, 1), (56, 15), (68, 9), (59, 22), (65, 15), (92, 7),
            (99, -1), (117, -8), (140, 3), (150, -5), (166, -13), (185, -23),
            (218, -17), (221, -23), (235, -25), (271, -27), (301, -27), (324, -27),
            (355, -27), (360, -30), (358, -27), (372, -17), (382, -17), (378, -20),
            (384, -13), (390, -10), (393, -7), (396, -6), (393, -8), (369, -25),
            (392, -7), (403, 6), (398, -7), (403, -3), (416, 15), (392, -11),
        ),
    ),
}
# fmt: on
