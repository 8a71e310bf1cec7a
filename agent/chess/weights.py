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
            (18, 13),
        ),
    ),
    "material": Term(
        "by kind, pawn to queen",
        6,
        (
            (71, 110), (322, 333), (340, 356), (465, 617), (1161, 941),
        ),
    ),
    "pawn_placement": Term(
        "files a to d, which e to h mirror, from the first rank up",
        4,
        (
            (0, 0), (0, 0), (0, 0), (0, 0),
            (-13, 12), (2, 15), (-3, 19), (-24, 22),
            (-6, 9), (-1, -2), (-6, 9), (-11, -1),
            (-12, 8), (-4, 10), (7, 1), (14, -14),
            (5, 20), (10, 13), (2, 9), (15, -5),
            (10, 17), (-12, 32), (14, 20), (20, 21),
            (63, 66), (91, 70), (41, 60), (71, 94),
            (0, 0), (0, 0), (0, 0), (0, 0),
        ),
    ),
    "knight_placement": Term(
        "files a to d, which e to h mirror, from the first rank up",
        4,
        (
            (-105, 30), (-27, -7), (-28, -7), (-20, -1),
            (-9, -53), (-20, 25), (-8, -6), (-6, 7),
            (-15, -13), (5, -19), (3, 3), (26, 14),
            (2, -11), (14, 1), (24, 13), (16, 31),
            (25, -14), (25, 17), (30, 13), (32, 30),
            (-19, -34), (10, 11), (31, 30), (63, 15),
            (-12, 21), (-19, 23), (4, 22), (22, 25),
            (-77, -25), (-39, -25), (-97, 14), (-38, 6),
        ),
    ),
    "bishop_placement": Term(
        "files a to d, which e to h mirror, from the first rank up",
        4,
        (
            (9, -29), (21, 32), (-7, 8), (2, 2),
            (34, -18), (20, -13), (19, -10), (16, -2),
            (2, 13), (31, -4), (10, 16), (13, 22),
            (9, -25), (9, 9), (22, 23), (32, 10),
            (15, 14), (19, 20), (30, 11), (24, 29),
            (-6, 12), (-6, 31), (-7, 15), (-1, 24),
            (-33, 25), (-26, 28), (-9, 24), (-35, 40),
            (-8, 8), (-49, 18), (-46, 35), (-56, 43),
        ),
    ),
    "rook_placement": Term(
        "files a to d, which e to h mirror, from the first rank up",
        4,
        (
            (-18, 6), (-10, 1), (-2, 7), (6, -11),
            (-52, 11), (-9, -10), (-1, -12), (14, -8),
            (-29, 0), (-32, 18), (1, 10), (-1, 2),
            (-46, 29), (-15, 41), (-2, 27), (-6, 20),
            (-21, 29), (-27, 42), (17, 17), (13, 18),
            (-16, 36), (9, 36), (52, 18), (25, 29),
            (48, 14), (28, 18), (90, 10), (85, 2),
            (-1, 49), (59, 20), (43, 14), (41, 17),
        ),
    ),
    "queen_placement": Term(
        "files a to d, which e to h mirror, from the first rank up",
        4,
        (
            (6, -37), (-9, -105), (9, -25), (3, -51),
            (-9, -43), (-8, -30), (13, -27), (11, -31),
            (0, 12), (7, -7), (1, 28), (-6, 31),
            (14, -8), (4, 17), (-4, 54), (-4, 63),
            (14, -14), (7, 27), (7, 51), (4, 73),
            (21, -31), (-11, 40), (14, 92), (11, 67),
            (33, -10), (7, 21), (29, 60), (22, 44),
            (25, -33), (20, -37), (0, 16), (37, 17),
        ),
    ),
    "king_placement": Term(
        "files a to d, which e to h mirror, from the first rank up",
        4,
        (
            (10, -40), (30, -27), (-7, -19), (-8, -32),
            (22, -21), (23, -21), (-8, 5), (-44, 13),
            (-23, 5), (9, 2), (-16, 13), (-37, 17),
            (-10, 6), (3, 18), (-29, 33), (-62, 38),
            (-33, 32), (6, 22), (-35, 48), (-82, 54),
            (-22, 33), (26, 24), (10, 29), (-36, 35),
            (-33, 31), (5, 31), (13, 35), (7, 43),
            (-20, -69), (-14, 6), (-46, -9), (-64, -66),
        ),
    ),
    "knight_mobility": Term(
        "by squares attacked, those of enemy pawns not counted",
        6,
        (
            (-25, -48), (-11, -26), (-7, 2), (0, 15), (2, 22), (2, 26),
            (3, 27), (5, 20), (4, 18),
        ),
    ),
    "bishop_mobility": Term(
        "by squares attacked, those of enemy pawns not counted",
        6,
        (
            (-26, -60), (-19, -19), (-11, -17), (-11, 10), (-5, 18), (-3, 21),
            (3, 22), (4, 24), (2, 28), (3, 23), (2, 22), (2, 31),
            (12, 29), (-14, 3),
        ),
    ),
    "rook_mobility": Term(
        "by squares attacked, those of enemy pawns not counted",
        6,
        (
            (-27, -40), (-19, -29), (-15, -19), (-17, -5), (-15, 10), (-10, 10),
            (-11, 19), (-10, 18), (-5, 24), (0, 21), (2, 26), (-2, 31),
            (5, 31), (20, 18), (117, -14),
        ),
    ),
    "queen_mobility": Term(
        "by squares attacked, those of enemy pawns not counted",
        6,
        (
            (-17, -35), (-12, -34), (-11, -50), (-12, -42), (-11, -27), (-7, -31),
            (-5, 3), (-2, -1), (-2, 22), (-1, 22), (-8, 54), (-4, 53),
            (-8, 71), (-8, 69), (-7, 77), (-1, 60), (-6, 70), (-4, 65),
            (-2, 46), (26, 18), (70, -28), (102, -146), (99, -92), (158, -215),
            (51, -158), (38, -310), (-8, -109), (-60, -319),
        ),
    ),
    "doubled": Term(
        "pawn behind another",
        6,
        (
            (-9, -25),
        ),
    ),
    "isolated": Term(
        "pawn without neighbours: with an enemy pawn before it, without one",
        6,
        (
            (1, -5), (-12, -8),
        ),
    ),
    "backward": Term(
        "pawn that cannot safely catch up: the same two",
        6,
        (
            (4, -11), (-20, -15),
        ),
    ),
    "supported": Term(
        "pawn defended by another, by rank",
        4,
        (
            (0, 0), (8, 4), (15, 13), (13, 18),
            (16, 23), (54, 34), (73, 2), (0, 0),
        ),
    ),
    "phalanx": Term(
        "pawn beside another, by rank",
        4,
        (
            (0, 0), (5, 0), (7, 6), (9, 15),
            (2, 37), (111, 47), (23, 66), (0, 0),
        ),
    ),
    "passed": Term(
        "passed pawn, by rank",
        4,
        (
            (0, 0), (-2, 41), (-5, 29), (-1, 55),
            (5, 67), (67, 88), (109, 131), (0, 0),
        ),
    ),
    "passed_blocked": Term(
        "passed pawn with a piece before it, by rank",
        4,
        (
            (0, 0), (-21, 23), (-1, 5), (5, -4),
            (-4, -4), (-30, -6), (-84, -42), (0, 0),
        ),
    ),
    "passed_free": Term(
        "passed pawn that may safely advance, by rank",
        4,
        (
            (0, 0), (-11, 13), (13, -5), (0, -1),
            (2, 9), (22, 37), (-1, 97), (0, 0),
        ),
    ),
    "passed_own_king": Term(
        "per square of the own king's distance from the next square, by rank",
        4,
        (
            (0, 0), (0, -7), (-1, -3), (1, -12),
            (0, -16), (-5, -21), (-2, -31), (0, -12),
        ),
    ),
    "passed_enemy_king": Term(
        "the same of the enemy king",
        4,
        (
            (0, 0), (2, -6), (-3, 1), (0, 12),
            (0, 28), (-2, 39), (2, 45), (0, 25),
        ),
    ),
    "bishop_pair": Term(
        "two bishops or more",
        6,
        (
            (20, 46),
        ),
    ),
    "bishop_pawns": Term(
        "own pawn on the colour of a bishop",
        6,
        (
            (-2, 1),
        ),
    ),
    "outpost": Term(
        "knight, bishop defended by a pawn where no pawn can attack it",
        6,
        (
            (15, 9), (14, 22),
        ),
    ),
    "behind_pawn": Term(
        "knight or bishop right behind a pawn",
        6,
        (
            (2, 18),
        ),
    ),
    "rook_file": Term(
        "rook on a file without own pawns: half open, open",
        6,
        (
            (12, 16), (32, 3),
        ),
    ),
    "rook_seventh": Term(
        "rook on the seventh rank with the enemy king behind or pawns there",
        6,
        (
            (-48, 30),
        ),
    ),
    "pawn_threat": Term(
        "enemy piece attacked by a pawn, pawn to queen",
        6,
        (
            (0, 0), (60, 39), (61, 55), (61, 33), (54, 7),
        ),
    ),
    "minor_threat": Term(
        "attacked by a knight or bishop; pawns only if not defended",
        6,
        (
            (19, 37), (18, 30), (27, 39), (66, 28), (51, 24),
        ),
    ),
    "rook_threat": Term(
        "attacked by a rook; pawns, knights and bishops only if not defended",
        6,
        (
            (22, 42), (12, 49), (24, 49), (-21, -12), (48, 34),
        ),
    ),
    "hanging": Term(
        "enemy piece attacked and not defended",
        6,
        (
            (19, -12),
        ),
    ),
    "push_threat": Term(
        "enemy piece that a safe advance of a pawn would attack",
        6,
        (
            (19, 17),
        ),
    ),
    "space": Term(
        "safe square behind or between the own pawns in the centre",
        6,
        (
            (-1, 0),
        ),
    ),
    "shelter": Term(
        "by rank, 0 for none, the nearest own pawn before the king: on its file, on one beside",
        4,
        (
            (-20, 5), (20, -9), (12, -2), (-6, 1),
            (3, 1), (-24, 14), (-12, 35), (0, 0),
            (-13, 5), (17, -5), (3, -5), (-8, 2),
            (5, 9), (2, 11), (10, 9), (0, 0),
        ),
    ),
    "storm": Term(
        "by rank, 0 for none, the nearest enemy pawn before the king: free, blocked by a pawn",
        4,
        (
            (-3, 1), (6, 23), (-25, 41), (1, 11),
            (-1, 4), (5, 3), (2, -4), (0, 0),
            (0, 0), (0, 0), (-24, -37), (8, -4),
            (3, -23), (-9, -23), (-8, -24), (0, 0),
        ),
    ),
    "king_danger": Term(
        "by units of attack on the enemy king: without an own queen, with one",
        6,
        (
            (-6, -1), (0, 0), (1, 0), (21, 6), (16, 7), (2, 7),
            (8, 0), (14, -14), (42, -7), (25, -7), (27, 1), (25, -5),
            (19, -5), (58, -15), (51, -16), (54, -15), (77, -17), (64, -18),
            (101, -26), (114, -29), (126, -33), (159, -31), (158, -44), (173, -44),
            (192, -56), (221, -58), (249, -87), (275, -86), (294, -99), (298, -123),
            (342, -111), (342, -107), (350, -102), (352, -89), (370, -57), (389, -22),
            (401, -2), (401, -5), (374, -42), (389, 2), (383, 20), (403, 3),
            (396, -4), (388, 6), (400, 0), (393, 10), (400, 0), (400, 0),
            (4, -9), (0, 0), (1, 0), (11, 53), (4, 60), (7, 9),
            (6, 12), (6, 27), (27, 22), (17, 13), (14, 18), (34, -8),
            (36, 2), (31, 23), (50, 15), (28, 50), (51, -4), (47, 33),
            (68, 1), (85, 1), (72, 1), (93, 24), (102, 0), (118, -30),
            (153, -48), (147, -22), (155, -35), (183, -55), (210, -72), (216, -67),
            (251, -70), (278, -79), (269, -64), (306, -45), (334, -58), (307, -72),
            (325, -51), (352, -41), (354, -31), (370, -33), (374, -25), (350, -34),
            (386, -14), (389, -1), (397, -6), (401, -8), (406, 10), (370, -28),
        ),
    ),
    "restricted": Term(
        "squares that the enemy's pieces attack, and the side too",
        4,
        (
            (1, 2),
        ),
    ),
    "king_wing": Term(
        "squares of the enemy king's wing: attacked, attacked and not defended, defended",
        3,
        (
            (-1, 1), (3, -4), (-3, 0),
        ),
    ),
    "rook_behind": Term(
        "passed pawns with a rook behind them, own and enemy",
        4,
        (
            (6, 20), (8, -31),
        ),
    ),
    "passed_safe": Term(
        "passed pawns whose way is neither blocked nor attacked, by ranks",
        4,
        (
            (0, 0), (-21, 39), (-52, 31), (-52, 46),
            (-6, 26), (26, 48), (-25, 14), (0, 0),
        ),
    ),
    "minor_from_king": Term(
        "knights, then bishops, by their distance from the own king",
        4,
        (
            (0, 0), (10, 12), (2, 15), (3, 10),
            (-6, 8), (-9, 0), (-17, -6), (-21, -17),
            (0, 0), (-2, 16), (-1, 11), (-8, 10),
            (-6, 11), (0, 5), (-4, 12), (-11, 18),
        ),
    ),
    "long_diagonal": Term(
        "bishops that see two squares of the centre past the pawns",
        4,
        (
            (6, 8),
        ),
    ),
    "rook_and_queen": Term(
        "rooks on the file of an enemy queen",
        4,
        (
            (12, -28),
        ),
    ),
    "king_threat": Term(
        "the king attacks what is not defended",
        4,
        (
            (46, 35),
        ),
    ),
    "double_attack": Term(
        "enemy pieces that two kinds of pieces attack and no pawn defends",
        4,
        (
            (8, 35),
        ),
    ),
    "outpost_reachable": Term(
        "a hole in the enemy's pawns that a knight, a bishop attacks",
        4,
        (
            (9, 15), (9, 4),
        ),
    ),
    "pawnless_wing": Term(
        "the king's wing is without pawns",
        4,
        (
            (-31, -65),
        ),
    ),
    "king_pawn_distance": Term(
        "squares from the king to its nearest pawn",
        4,
        (
            (3, -10),
        ),
    ),
}
# fmt: on
