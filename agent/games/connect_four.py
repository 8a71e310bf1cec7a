"""Connect Four: drop a disc into a column; four in a line win.

A set of squares is an integer with one bit a square. Each column takes one bit more than its
height, always 0, so that a line cannot run over from one column into the next.
"""

from collections.abc import Hashable
from functools import cache

# Complete four in a line, or keep the other from it; stop two that are open on both sides. They
# may be reflected, not turned.
PATTERNS = (
    *(
        pattern.replace("d", discs)
        for discs in "mt"
        for pattern in (
            "d d d *",
            "d d * d",
            "* \n d \n d \n d",
            "d???\n?d??\n??d?\n???*",
            "d???\n?d??\n??*?\n???d",
            "d???\n?*??\n??d?\n???d",
            "*???\n?d??\n??d?\n???d",
        )
    ),
    ". t t * .",
    ". t * t .",
)


class ConnectFour:
    """A position of Connect Four and its history. Moves are columns, from 0."""

    patterns = PATTERNS
    upright = True

    def __init__(self, width: int = 7, height: int = 6) -> None:
        if width < 1 or height < 1:
            raise ValueError(f"a board of {width} by {height} has no squares")
        self.width, self.height = width, height
        self._discs = [0, 0]
        self._heights = [0] * width
        self._played: list[int] = []
        self._won = False
        # From one square to the next along a column, a row and the two diagonals.
        self._directions = (1, height + 1, height + 2, height)

    @property
    def turn(self) -> int:
        """The player to move: 0 is X, 1 is O."""
        return len(self._played) % 2

    def moves(self) -> list[int]:
        """Return the columns with room; none when the game is over."""
        if self._won:
            return []
        return [column for column, height in enumerate(self._heights) if height < self.height]

    def play(self, move: int) -> None:
        """Drop a disc into a column."""
        self._discs[self.turn] |= self._square(move, self._heights[move])
        self._heights[move] += 1
        self._played.append(move)
        self._won = self._has_four(self._discs[1 - self.turn])

    def undo(self) -> None:
        """Take the last disc out."""
        move = self._played.pop()
        self._won = False
        self._heights[move] -= 1
        self._discs[self.turn] ^= self._square(move, self._heights[move])

    def outcome(self) -> float | None:
        """Return 1 if X has four in a line, -1 if O has, 0 if the board is full."""
        if self._won:
            return -1 if self.turn == 0 else 1
        return 0 if len(self._played) == self.width * self.height else None

    def key(self) -> Hashable:
        """Return the discs of both players."""
        return tuple(self._discs)

    def symmetric_key(self) -> Hashable:
        """Return the same key for a position and its mirror image."""
        column = (1 << self.height + 1) - 1
        mirrored = tuple(
            sum(
                (discs >> place * (self.height + 1) & column)
                << (self.width - 1 - place) * (self.height + 1)
                for place in range(self.width)
            )
            for discs in self._discs
        )
        return min(tuple(self._discs), mirrored)

    def move_rating(self, move: int) -> float:
        """Rate columns by how near the middle they are: more lines go through them."""
        return 1 - abs(2 * move - self.width + 1) / self.width

    def bounds(self) -> tuple[float, float]:
        """Return whether the other could still win, and whether the mover could."""
        mine, theirs = self._discs[self.turn], self._discs[1 - self.turn]
        lines = _lines(self.width, self.height)
        return -any(not line & mine for line in lines), +any(not line & theirs for line in lines)

    def named_features(self) -> dict[str, float]:
        """Return lines that one player alone has entered, by his discs, less the other's."""
        mine, theirs = self._discs[self.turn], self._discs[1 - self.turn]
        counts = [0, 0, 0, 0, 0]
        for line in _lines(self.width, self.height):
            if not line & theirs:
                counts[(line & mine).bit_count()] += 1
            elif not line & mine:
                counts[(line & theirs).bit_count()] -= 1
        return {f"lines of {discs}": counts[discs] / 8 for discs in (1, 2, 3)}

    def forced(self) -> bool:
        """Return False: whoever is to move may always do something quiet."""
        return False

    def noisy_moves(self) -> list[int]:
        """Return the moves that make four in a line, or keep the other from it."""
        mine, theirs = self._discs[self.turn], self._discs[1 - self.turn]
        return [
            move
            for move in self.moves()
            for square in [self._square(move, self._heights[move])]
            if self._has_four(mine | square) or self._has_four(theirs | square)
        ]

    def quick_outcome(self) -> float | None:
        """Return the outcome."""
        return self.outcome()

    def grid(self) -> list[str]:
        """Return the rows from the top: `m` the mover's, `t` the other's, `.` an empty square."""
        mine, theirs = self._discs[self.turn], self._discs[1 - self.turn]
        signs = "".join(
            "m" if mine & square else "t" if theirs & square else "."
            for square in _squares_in_reading_order(self.width, self.height)
        )
        return [signs[start : start + self.width] for start in range(0, len(signs), self.width)]

    def move_at(self, row: int, column: int) -> int | None:
        """Return the column, if a disc dropped there comes to rest on the square."""
        rests = self._heights[column] == self.height - 1 - row
        return column if rests and not self._won else None

    def discs(self, player: int) -> int:
        """Return the set of a player's squares."""
        return self._discs[player]

    def _square(self, column: int, row: int) -> int:
        return 1 << column * (self.height + 1) + row

    def _has_four(self, discs: int) -> bool:
        """Tell whether there are four in a line."""
        for step in self._directions:
            pairs = discs & discs >> step
            if pairs & pairs >> 2 * step:
                return True
        return False

    def text(self, move: int) -> str:
        """Return a column's number, from 1."""
        return str(move + 1)

    def __str__(self) -> str:
        def sign(column: int, row: int) -> str:
            square = self._square(column, row)
            return "X" if self._discs[0] & square else "O" if self._discs[1] & square else "."

        rows = [
            " ".join(sign(column, row) for column in range(self.width))
            for row in reversed(range(self.height))
        ]
        return "\n".join([*rows, " ".join(str((column + 1) % 10) for column in range(self.width))])


def evaluate(game: ConnectFour) -> float:
    """Return the mover's chances less the other's, as a share of all: below a win's utility.

    A line of four squares that only one player has entered is a chance, and counts as many as
    he has discs in it, squared.
    """
    mine, theirs = game.discs(game.turn), game.discs(1 - game.turn)
    chances = 0
    lines = _lines(game.width, game.height)
    for line in lines:
        if not line & theirs:
            chances += (line & mine).bit_count() ** 2
        elif not line & mine:
            chances -= (line & theirs).bit_count() ** 2
    return chances / (16 * len(lines) + 1)


@cache
def _squares_in_reading_order(width: int, height: int) -> list[int]:
    """Return all squares as sets of one, along the rows from the top left."""
    return [
        1 << column * (height + 1) + row
        for row in reversed(range(height))
        for column in range(width)
    ]


@cache
def _lines(width: int, height: int) -> list[int]:
    """Return all lines of four squares as sets of squares."""
    lines = []
    for column in range(width):
        for row in range(height):
            for right, up in ((0, 1), (1, 0), (1, 1), (1, -1)):
                squares = [(column + right * step, row + up * step) for step in range(4)]
                if squares[-1][0] < width and 0 <= squares[-1][1] < height:
                    lines.append(sum(1 << x * (height + 1) + y for x, y in squares))
    return lines


GAME = ConnectFour
