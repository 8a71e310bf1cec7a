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
            (21, 11),
        ),
    ),
    "material": Term(
        "by kind, pawn to queen",
        6,
        (
            (69, 110), (317, 317), (339, 329), (462, 582), (1115, 984),
        ),
    ),
    "pawn_placement": Term(
        "files a to d, which e to h mirror, from the first rank up",
        4,
        (
            (0, 0), (0, 0), (0, 0), (0, 0),
            (-20, 14), (0, 18), (-4, 14), (-21, 20),
            (-13, 1), (5, 2), (-1, 0), (-5, 2),
            (-19, 10), (-7, 15), (5, 1), (19, -13),
            (-1, 26), (6, 15), (10, 3), (18, -4),
            (6, 30), (13, 29), (1, 23), (26, 17),
            (43, 64), (109, 72), (50, 75), (64, 75),
            (0, 0), (0, 0), (0, 0), (0, 0),
        ),
    ),
    "knight_placement": Term(
        "files a to d, which e to h mirror, from the first rank up",
        4,
        (
            (-100, 27), (-18, -16), (-33, -16), (-3, -25),
            (-20, -39), (-28, 1), (-5, -5), (-1, 3),
            (-12, -30), (4, -4), (6, 6), (25, 10),
            (-7, -14), (1, 22), (23, 15), (18, 18),
            (-4, 20), (20, 4), (35, 7), (35, 20),
            (-27, -7), (-11, 10), (18, 15), (29, 29),
            (-27, -16), (-33, 9), (9, 1), (14, 14),
            (-92, -29), (-34, -24), (-98, -12), (-44, 9),
        ),
    ),
    "bishop_placement": Term(
        "files a to d, which e to h mirror, from the first rank up",
        4,
        (
            (2, -31), (-8, 10), (-10, 3), (-11, -9),
            (42, -24), (16, -19), (19, 4), (7, 0),
            (8, -7), (24, 7), (10, -5), (11, 20),
            (-7, 4), (13, 2), (17, 13), (25, 27),
            (4, 10), (17, 13), (23, 5), (44, 11),
            (14, -7), (11, 11), (15, -4), (29, 15),
            (-40, 5), (-27, 25), (16, 21), (-33, 18),
            (12, -5), (-50, 21), (-31, 32), (-35, 18),
        ),
    ),
    "rook_placement": Term(
        "files a to d, which e to h mirror, from the first rank up",
        4,
        (
            (-24, 5), (-21, 14), (1, 5), (0, -1),
            (-48, 0), (-10, -3), (2, -25), (5, -8),
            (-39, 17), (-16, 10), (-10, 11), (-14, 7),
            (-32, 16), (-11, 27), (-5, 25), (-28, 21),
            (-31, 32), (-9, 29), (-5, 30), (0, 20),
            (-1, 30), (24, 10), (38, 5), (24, 15),
            (34, 6), (41, 0), (90, -16), (97, -21),
            (36, 19), (98, -10), (76, -18), (92, -12),
        ),
    ),
    "queen_placement": Term(
        "files a to d, which e to h mirror, from the first rank up",
        4,
        (
            (0, -23), (12, -90), (6, -56), (5, -40),
            (9, -36), (12, -36), (18, -43), (17, -13),
            (9, -29), (13, -1), (9, 15), (2, 30),
            (12, 4), (-3, 14), (11, 15), (-2, 51),
            (22, 4), (6, 28), (-3, 55), (5, 47),
            (15, 6), (-12, 75), (6, 45), (22, 41),
            (0, 13), (6, 14), (8, 33), (-2, 30),
            (-16, 5), (25, 5), (-20, 21), (20, 21),
        ),
    ),
    "king_placement": Term(
        "files a to d, which e to h mirror, from the first rank up",
        4,
        (
            (14, -69), (19, -42), (-9, -20), (-15, -27),
            (22, -37), (2, -12), (-12, 2), (-28, 5),
            (-12, -9), (20, 2), (3, 17), (-8, 17),
            (-58, -2), (-19, 28), (0, 24), (-55, 37),
            (-42, 23), (-2, 32), (-26, 36), (-68, 48),
            (-41, 12), (23, -6), (20, 6), (-40, 54),
            (-45, 12), (20, 17), (1, 24), (0, 22),
            (-19, -87), (-5, 38), (-41, 94), (-49, 127),
        ),
    ),
    "knight_mobility": Term(
        "by squares attacked, those of enemy pawns not counted",
        6,
        (
            (-26, -59), (-18, -14), (-12, 5), (-5, 8), (0, 15), (4, 19),
            (4, 20), (8, 11), (11, 3),
        ),
    ),
    "bishop_mobility": Term(
        "by squares attacked, those of enemy pawns not counted",
        6,
        (
            (-30, -58), (-18, -36), (-10, -19), (-9, 1), (-4, 2), (-2, 11),
            (-1, 20), (2, 19), (3, 25), (1, 28), (7, 23), (17, 18),
            (-3, 35), (-25, 8),
        ),
    ),
    "rook_mobility": Term(
        "by squares attacked, those of enemy pawns not counted",
        6,
        (
            (-36, -51), (-22, -33), (-17, -24), (-14, -9), (-14, 1), (-12, 8),
            (-10, 10), (-9, 15), (-5, 21), (-1, 23), (-5, 34), (-2, 37),
            (-6, 36), (-30, 53), (200, -57),
        ),
    ),
    "queen_mobility": Term(
        "by squares attacked, those of enemy pawns not counted",
        6,
        (
            (-4, -37), (-14, -39), (-11, -55), (-10, -28), (-12, -40), (-8, -28),
            (-11, 1), (-5, -14), (-6, 11), (-7, 17), (-6, 34), (-3, 41),
            (-2, 60), (-4, 59), (-4, 71), (-7, 82), (1, 75), (-2, 69),
            (12, 72), (33, 41), (57, -4), (86, -39), (97, -83), (142, -198),
            (38, -157), (32, -307), (-4, -96), (-60, -317),
        ),
    ),
    "doubled": Term(
        "pawn behind another",
        6,
        (
            (-2, -26),
        ),
    ),
    "isolated": Term(
        "pawn without neighbours: with an enemy pawn before it, without one",
        6,
        (
            (-5, -4), (-14, -9),
        ),
    ),
    "backward": Term(
        "pawn that cannot safely catch up: the same two",
        6,
        (
            (0, -10), (-15, -11),
        ),
    ),
    "supported": Term(
        "pawn defended by another, by rank",
        4,
        (
            (0, 0), (8, 4), (10, 7), (10, 10),
            (10, 14), (32, 30), (68, -4), (0, 0),
        ),
    ),
    "phalanx": Term(
        "pawn beside another, by rank",
        4,
        (
            (0, 0), (5, -5), (2, 5), (3, 8),
            (11, 21), (54, 32), (18, 49), (0, 0),
        ),
    ),
    "passed": Term(
        "passed pawn, by rank",
        4,
        (
            (0, 0), (0, 34), (4, 24), (7, 69),
            (14, 79), (66, 102), (110, 132), (0, 0),
        ),
    ),
    "passed_blocked": Term(
        "passed pawn with a piece before it, by rank",
        4,
        (
            (0, 0), (-27, 4), (-1, -3), (-6, -14),
            (-10, -10), (-19, -12), (-89, -27), (0, 0),
        ),
    ),
    "passed_free": Term(
        "passed pawn that may safely advance, by rank",
        4,
        (
            (0, 0), (1, -2), (10, 0), (-2, 5),
            (5, 25), (31, 34), (17, 93), (0, 0),
        ),
    ),
    "passed_own_king": Term(
        "per square of the own king's distance from the next square, by rank",
        4,
        (
            (0, 0), (-3, -4), (-2, -5), (0, -15),
            (2, -19), (-2, -22), (1, -27), (0, -12),
        ),
    ),
    "passed_enemy_king": Term(
        "the same of the enemy king",
        4,
        (
            (0, 0), (3, -4), (-1, 3), (0, 12),
            (-1, 24), (-4, 36), (2, 37), (0, 25),
        ),
    ),
    "bishop_pair": Term(
        "two bishops or more",
        6,
        (
            (15, 38),
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
            (26, 11), (26, 8),
        ),
    ),
    "behind_pawn": Term(
        "knight or bishop right behind a pawn",
        6,
        (
            (3, 13),
        ),
    ),
    "rook_file": Term(
        "rook on a file without own pawns: half open, open",
        6,
        (
            (12, 9), (44, -5),
        ),
    ),
    "rook_seventh": Term(
        "rook on the seventh rank with the enemy king behind or pawns there",
        6,
        (
            (-42, 38),
        ),
    ),
    "pawn_threat": Term(
        "enemy piece attacked by a pawn, pawn to queen",
        6,
        (
            (0, 0), (59, 37), (55, 35), (51, 26), (54, -9),
        ),
    ),
    "minor_threat": Term(
        "attacked by a knight or bishop; pawns only if not defended",
        6,
        (
            (19, 38), (13, 28), (23, 42), (66, 11), (47, 13),
        ),
    ),
    "rook_threat": Term(
        "attacked by a rook; pawns, knights and bishops only if not defended",
        6,
        (
            (18, 48), (22, 41), (13, 32), (-9, -8), (47, 36),
        ),
    ),
    "hanging": Term(
        "enemy piece attacked and not defended",
        6,
        (
            (18, 15),
        ),
    ),
    "push_threat": Term(
        "enemy piece that a safe advance of a pawn would attack",
        6,
        (
            (13, 21),
        ),
    ),
    "space": Term(
        "safe square behind or between the own pawns in the centre",
        6,
        (
            (-1, -1),
        ),
    ),
    "shelter": Term(
        "by rank, 0 for none, the nearest own pawn before the king: on its file, on one beside",
        4,
        (
            (-21, -1), (19, 0), (12, -1), (-6, -3),
            (6, -4), (1, 20), (-31, 34), (0, 0),
            (-17, 2), (19, -4), (6, -1), (-5, 0),
            (3, 4), (-2, 18), (-13, 31), (0, 0),
        ),
    ),
    "storm": Term(
        "by rank, 0 for none, the nearest enemy pawn before the king: free, blocked by a pawn",
        4,
        (
            (-3, -3), (0, 49), (-9, 23), (-1, 2),
            (-2, 7), (6, 0), (2, 0), (0, 0),
            (0, 0), (0, 0), (-22, -16), (0, -4),
            (1, -12), (1, -16), (-6, -20), (0, 0),
        ),
    ),
    "king_danger": Term(
        "by units of attack on the enemy king: without an own queen, with one",
        6,
        (
            (0, 0), (0, 0), (1, 0), (1, -1), (4, -2), (-9, 27),
            (12, -7), (34, -12), (39, -7), (51, -16), (26, -9), (27, -1),
            (32, -8), (77, -27), (57, -9), (83, -25), (84, -20), (80, -6),
            (107, -21), (107, -21), (142, -19), (172, -39), (168, -34), (186, -40),
            (195, -49), (225, -61), (263, -64), (275, -87), (297, -99), (307, -108),
            (349, -99), (350, -96), (355, -94), (355, -84), (370, -52), (397, -10),
            (403, 6), (399, -11), (376, -36), (390, 4), (382, 19), (403, 3),
            (395, -6), (387, 5), (400, 0), (393, 9), (400, 0), (400, 0),
            (0, 0), (0, 0), (1, 0), (-5, 40), (0, 9), (6, -21),
            (7, 14), (8, 19), (37, -20), (13, 25), (20, 28), (33, 10),
            (29, -9), (40, 24), (47, 24), (34, 52), (39, 34), (59, 31),
            (68, 7), (86, -10), (90, 38), (102, 22), (117, -5), (133, -42),
            (163, -23), (152, -32), (152, -39), (188, -52), (227, -59), (239, -58),
            (274, -64), (289, -73), (280, -62), (310, -43), (334, -54), (305, -72),
            (329, -54), (351, -41), (365, -21), (382, -22), (367, -26), (353, -30),
            (392, -7), (406, 10), (395, -8), (396, -8), (404, 5), (368, -28),
        ),
    ),
    "restricted": Term(
        "squares that the enemy's pieces attack, and the side too",
        4,
        (
            (2, 0),
        ),
    ),
    "king_wing": Term(
        "squares of the enemy king's wing: attacked, attacked and not defended, defended",
        3,
        (
            (-1, 1), (5, -6), (-2, 1),
        ),
    ),
    "rook_behind": Term(
        "passed pawns with a rook behind them, own and enemy",
        4,
        (
            (30, 3), (26, -57),
        ),
    ),
    "passed_safe": Term(
        "passed pawns whose way is neither blocked nor attacked, by ranks",
        4,
        (
            (0, 0), (-5, 31), (-9, 13), (-34, 26),
            (5, 26), (27, 25), (-7, 10), (0, 0),
        ),
    ),
    "minor_from_king": Term(
        "knights, then bishops, by their distance from the own king",
        4,
        (
            (0, 0), (-3, 5), (0, 6), (-1, 6),
            (-5, 5), (-5, -6), (-2, -9), (-13, -3),
            (0, 0), (0, 8), (1, 5), (-5, 6),
            (-7, 0), (-12, -3), (-15, -1), (-18, -6),
        ),
    ),
    "long_diagonal": Term(
        "bishops that see two squares of the centre past the pawns",
        4,
        (
            (12, 19),
        ),
    ),
    "rook_and_queen": Term(
        "rooks on the file of an enemy queen",
        4,
        (
            (10, -4),
        ),
    ),
}
# fmt: on
