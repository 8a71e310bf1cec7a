"""Table of the properties of an empty vertex, indexed by the code of its eight neighbours.

A code has two bits for each neighbour (see `agent.go.records.Board`). An entry is a byte that
combines the flags below with the number of empty adjacent vertices, in units of EMPTY_NEIGHBOUR.

Source of the 3x3 patterns: Gelly, Wang, Munos and Teytaud, 'Modification of UCT with patterns in
Monte-Carlo Go' (2006).
"""

from collections.abc import Iterator
from itertools import product

import numpy as np
import numpy.typing as npt

from agent.games.stones import BLACK, BORDER, EMPTY, WHITE

EYE_FLAGS = (0, 1, 2)  # by colour: the vertex looks like an eye of this colour
PATTERN_FLAG = 4  # the vertex matches a pattern
EMPTY_NEIGHBOUR = 16

# Rows from the top. X and O: stones of opposite colours. x and o: neither this stone nor the edge.
# #: the edge. ?: anything.
_PATTERNS = (
    "XOX/.*./???",  # enclosing hane
    "XO./.*./?.?",  # non-cutting hane
    "XO?/X*./x.?",  # magari
    ".O./X*./...",  # shoulder
    "XO?/O*o/?o?",  # uncloseable cut
    "?X?/O*O/ooo",  # cut between two stones
    "X.?/O*?/###",  # chase along the edge
    "OX?/X*O/###",  # blocked cut at the edge
    "?X?/x*O/###",  # descent under a stone
    "?XO/x*x/###",  # hane at the edge
    "?OX/X*O/###",  # throw-in at the edge
)
_SYMBOL_COLOURS = {
    "X": (BLACK,),
    "O": (WHITE,),
    ".": (EMPTY,),
    "x": (EMPTY, WHITE),
    "o": (EMPTY, BLACK),
    "#": (BORDER,),
    "?": (EMPTY, BLACK, WHITE, BORDER),
}
_SWAP = {EMPTY: EMPTY, BLACK: WHITE, WHITE: BLACK, BORDER: BORDER}
# For each neighbour of a code, its index in a pattern's text without slashes.
_NEIGHBOUR_POSITIONS = (1, 5, 7, 3, 2, 8, 6, 0)


def make_neighbourhood_table() -> npt.NDArray[np.uint8]:
    codes = np.arange(1 << 16)
    around = [codes >> 2 * number & 3 for number in range(8)]
    beside, across = around[:4], around[4:]
    table = sum((colour == EMPTY).astype(np.int64) for colour in beside) * EMPTY_NEIGHBOUR
    at_edge = sum((colour == BORDER).astype(np.int64) for colour in beside) > 0
    for colour in (BLACK, WHITE):
        closed = np.all([(met == colour) | (met == BORDER) for met in beside], axis=0)
        enemies = sum((met == 3 - colour).astype(np.int64) for met in across)
        table |= (closed & (enemies < np.where(at_edge, 1, 2))) * EYE_FLAGS[colour]
    patterns = np.zeros(1 << 16, bool)
    for code in _pattern_codes():
        patterns[code] = True
    table |= patterns * PATTERN_FLAG
    return np.asarray(table, np.uint8)


def _pattern_codes() -> Iterator[int]:
    for text in _PATTERNS:
        square = tuple(tuple(row) for row in text.split("/"))
        for rotated in _symmetries(square):
            signs = [sign for row in rotated for sign in row]
            choices = [_SYMBOL_COLOURS[signs[position]] for position in _NEIGHBOUR_POSITIONS]
            for colours in product(*choices):
                yield sum(colour << 2 * number for number, colour in enumerate(colours))
                yield sum(_SWAP[colour] << 2 * number for number, colour in enumerate(colours))


def _symmetries(square: tuple[tuple[str, ...], ...]) -> Iterator[tuple[tuple[str, ...], ...]]:
    for _ in range(4):
        square = tuple(zip(*square[::-1], strict=True))
        yield square
        yield square[::-1]
