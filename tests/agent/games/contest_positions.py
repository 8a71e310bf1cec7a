"""Finished positions with seki, bent four and nakade. Dead stones are written as x and o."""

from collections.abc import Sequence

from agent.games.go import Go
from tests.agent.go.positions import from_diagram

# A group with two obvious eyes takes part, so that there is no contest to search.
OBVIOUS = {"three stones in a row, with another eye", "an eye against no eye"}
CONTESTS = {
    "a chain between two groups": (
        "..OX.O",
        ".OOX.O",
        ".OXOOO",
        ".OXXXX",
        ".OX.X.",
        ".OX.X.",
    ),
    "three stones in a row": (
        ".X.X.X.X.",
        "XXXXXXXXX",
        "XXXXXXX.X",
        "OOOOOOXXX",
        ".XXX.OXXX",
    ),
    "three stones in a row, with a liberty outside": (
        ".X.X.X.X.",
        "XXXXXXXXX",
        "X.XXXXX.X",
        "OOOOOOXXX",
        ".XXX.OXXX",
    ),
    "three stones in a row, with another eye": (
        ".X.X.X.X.",
        "XXXXXXXXX",
        "XXXXXXXXX",
        "OOOOOOOOX",
        ".xxx.O.OX",
    ),
    "three stones that become a pyramid": (
        ".X.X.X.X.",
        "XXXXXXXXX",
        "XoooXX.XX",
        "oo.ooXXXX",
        ".XXXoXXXX",
    ),
    "four stones in a row": (
        ".X.X.X.X.",
        "XXXXXXXXX",
        "XXXXXXX.X",
        "OOOOOOOXX",
        ".XXXX.OXX",
    ),
    "four stones that become a bulky five": (
        ".X.X.X.X.",
        "XXXXXXXXX",
        "ooooXX.XX",
        "oXXooXXXX",
        ".XX.oXXXX",
    ),
    "one eye each": (
        "O.OOX.XXX",
        "OOOOXXXX.",
        "O.OOX.XXX",
        "OOOOXXXXX",
        "XXXXOOOOX",
        ".XX.OO.OX",
    ),
    "an eye against no eye": (
        "O.OOX.XXX",
        "OOOOXXXX.",
        "O.OOX.XXX",
        "OOOOXXXXX",
        "xxxxOOOOX",
        "xxx.OO.OX",
    ),
    "a bent four in the corner": (
        ".X.X.X.X.",
        "XXXXXXXXX",
        "ooXXX.XXX",
        ".oXXXXXXX",
        "XoooXX.XX",
        "XX.oXXXXX",
    ),
    "a bent four outside the corner": (
        ".X.X.X.X.",
        "XXXXXXXXX",
        "XXOOOXXXX",
        "XXO.OXX.X",
        "XXOXOXXXX",
        "XXOXOOXX.",
        "XXOX.OXXX",
    ),
    "three stones that become a square": (
        ".X.X.X.X.",
        "XXXXXXXXX",
        "oooXXX.XX",
        "X.ooXXXXX",
        "XX.oXXXXX",
    ),
}
# White's stone A2 is in a ko, which neither side can afford to start.
TEN_THOUSAND_YEAR_KO = (
    "XXXXXXXXX",
    ".XXX.X.X.",
    "XXXXXXXXX",
    "OOOOOOOOO",
    ".OOO.O.O.",
    "OOOOOOOOO",
    "XXXXXXOOO",
    "OX..OXO.O",
    ".OOOOXOOO",
)


def contest(rows: Sequence[str], turn: int = 0) -> tuple[Go, set[int]]:
    """Return a position at komi 0, and the vertices of its dead stones."""
    game = from_diagram(*(row.upper() for row in rows), komi=0, turn=turn)
    dead = {
        game.stones.shape.vertex(column, len(rows) - 1 - line)
        for line, row in enumerate(rows)
        for column, sign in enumerate(row)
        if sign in "xo"
    }
    return game, dead
