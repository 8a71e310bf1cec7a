"""What a code of the eight neighbours of an empty vertex says: a table of 65,536 bytes.

Two bits a neighbour, as in agent.go.records.Board. A byte has the flags below, and from FREE on
the number of empty vertices directly beside.

The 3x3 patterns are those of Gelly, Wang, Munos and Teytaud, 'Modification of UCT with patterns
in Monte-Carlo Go' (2006): hane, cuts, and moves at the edge.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np
import numpy.typing as npt

from agent.games.stones import BLACK, BORDER, EMPTY, WHITE

EYE_FLAGS = (0, 1, 2)  # by colour: the flag of what looks like its eye
PATTERN_FLAG = 4  # the flag of a pattern in which either side may well play
EMPTY_NEIGHBOUR = 16

# Rows from above. X, O: stones of both colours; x, o: what is no such stone; #: the edge; ?: any.
_PATTERNS = (
    "XOX/.*./???",  # hane that encloses
    "XO./.*./?.?",  # hane that does not cut
    "XO?/X*./x.?",  # magari
    ".O./X*./...",  # the shoulder
    "XO?/O*o/?o?",  # a cut that cannot be closed
    "?X?/O*O/ooo",  # a cut between two
    "X.?/O*?/###",  # the chase along the edge
    "OX?/X*O/###",  # a cut that is blocked at the edge
    "?X?/x*O/###",  # the descent under a stone
    "?XO/x*x/###",  # the hane at the edge
    "?OX/X*O/###",  # the throw-in at the edge
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
# Where the neighbours lie in the text of a pattern, without its slashes, in the order of the codes.
_NEIGHBOUR_POSITIONS = (1, 5, 7, 3, 2, 8, 6, 0)


def make_neighbourhood_table() -> npt.NDArray[np.uint8]:
    """Return the table."""
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
    """Generate the codes that fit a pattern, in all its symmetries and both colours."""
    for text in _PATTERNS:
        square = tuple(tuple(row) for row in text.split("/"))
        for turned in _symmetries(square):
            signs = [sign for row in turned for sign in row]
            choices = [_SYMBOL_COLOURS[signs[place]] for place in _NEIGHBOUR_POSITIONS]
            for colours in product(*choices):
                yield sum(colour << 2 * number for number, colour in enumerate(colours))
                yield sum(_SWAP[colour] << 2 * number for number, colour in enumerate(colours))


def _symmetries(square: tuple[tuple[str, ...], ...]) -> Iterator[tuple[tuple[str, ...], ...]]:
    for _ in range(4):
        square = tuple(zip(*square[::-1], strict=True))
        yield square
        yield square[::-1]
