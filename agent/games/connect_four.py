"""Connect Four: players drop discs into columns. A line of four discs wins. Player 0 is X.

A set of squares is a bitboard. Each column has an extra bit, which is always 0, so that no line
wraps into the next column.
"""

from collections.abc import Hashable
from functools import cache

from agent.games.position_text import (
    format_position,
    parse_sized_position,
    require_alternate_turns,
)
from agent.io.message import Message

# Patterns: complete four in a line, block the opponent's four, and block an open three. Patterns
# may be mirrored but not rotated.
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
    """A Connect Four position with its history. A move is a column number, counted from 0."""

    patterns = PATTERNS
    upright = True
    pieces = "X", "O"

    def __init__(self, width: int = 7, height: int = 6, *, position: str = "") -> None:
        if width < 1 or height < 1:
            raise ValueError(
                Message("width and height must be at least 1 (got {} and {})", width, height)
            )
        self.width, self.height = width, height
        self._discs = [0, 0]
        self._heights = [0] * width
        self._played: list[int] = []
        self._won = False
        # Bit offsets along a column, a row and the two diagonals.
        self._directions = (1, height + 1, height + 2, height)
        if position:
            self._set_up(position)

    def _set_up(self, text: str) -> None:
        rows, turn = parse_sized_position(text, self.pieces, self.width, self.height)
        for column, signs in enumerate(zip(*reversed(rows), strict=True)):  # from the bottom
            discs = "".join(signs).rstrip(".")
            if "." in discs:
                raise ValueError(
                    Message("position: empty square below a disc in column {}", column + 1)
                )
            for row, sign in enumerate(discs):
                self._discs[self.pieces.index(sign)] |= self._square(column, row)
            self._heights[column] = len(discs)
            self._played += [column] * len(discs)
        require_alternate_turns(rows, turn, self.pieces)
        if self._has_four(self._discs[turn]):
            raise ValueError(Message("position: the side to move has already won"))
        self._won = self._has_four(self._discs[1 - turn])

    @property
    def turn(self) -> int:
        """The player to move: 0 is X, 1 is O."""
        return len(self._played) % 2

    def moves(self) -> list[int]:
        """Return the columns that are not full, or [] if the game is over."""
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
        """Undo the last move."""
        move = self._played.pop()
        self._won = False
        self._heights[move] -= 1
        self._discs[self.turn] ^= self._square(move, self._heights[move])

    def outcome(self) -> float | None:
        """Return 1 if X won, -1 if O won, 0 if the board is full, None if the game is not over."""
        if self._won:
            return -1 if self.turn == 0 else 1
        return 0 if len(self._played) == self.width * self.height else None

    def key(self) -> Hashable:
        """Return the bitboards of both players' discs."""
        return tuple(self._discs)

    def symmetric_key(self) -> Hashable:
        """Return a key that is the same for a position and its mirror image."""
        column = (1 << self.height + 1) - 1
        mirrored = tuple(
            sum(
                (discs >> index * (self.height + 1) & column)
                << (self.width - 1 - index) * (self.height + 1)
                for index in range(self.width)
            )
            for discs in self._discs
        )
        return min(tuple(self._discs), mirrored)

    def move_rating(self, move: int) -> float:
        """Return a rating that is higher for columns closer to the middle."""
        return 1 - abs(2 * move - self.width + 1) / self.width

    def bounds(self) -> tuple[float, float]:
        """Return bounds on the value: -1 (0 if a loss is impossible) and 1 (0 if a win is)."""
        mine, theirs = self._discs[self.turn], self._discs[1 - self.turn]
        lines = _lines(self.width, self.height)
        return -any(not line & mine for line in lines), +any(not line & theirs for line in lines)

    def named_features(self) -> dict[str, float]:
        """Return the mover's lead in open lines with 1, 2 and 3 discs, divided by 8."""
        mine, theirs = self._discs[self.turn], self._discs[1 - self.turn]
        counts = [0, 0, 0, 0, 0]
        for line in _lines(self.width, self.height):
            if not line & theirs:
                counts[(line & mine).bit_count()] += 1
            elif not line & mine:
                counts[(line & theirs).bit_count()] -= 1
        return {f"lines of {discs}": counts[discs] / 8 for discs in (1, 2, 3)}

    def forced(self) -> bool:
        """Return False, because the player to move may always stand pat."""
        return False

    def noisy_moves(self) -> list[int]:
        """Return the moves that complete a line of four or block one."""
        mine, theirs = self._discs[self.turn], self._discs[1 - self.turn]
        return [
            move
            for move in self.moves()
            for square in [self._square(move, self._heights[move])]
            if self._has_four(mine | square) or self._has_four(theirs | square)
        ]

    def quick_outcome(self) -> float | None:
        """Return the same result as `outcome`."""
        return self.outcome()

    def grid(self) -> list[str]:
        """Return the rows from the top. The mover is `m`, the opponent `t`, an empty square `.`."""
        mine, theirs = self._discs[self.turn], self._discs[1 - self.turn]
        signs = "".join(
            "m" if mine & square else "t" if theirs & square else "."
            for square in _squares_in_reading_order(self.width, self.height)
        )
        return [signs[start : start + self.width] for start in range(0, len(signs), self.width)]

    def move_at(self, row: int, column: int) -> int | None:
        """Return `column` if a disc dropped there lands in `row`, otherwise None."""
        rests = self._heights[column] == self.height - 1 - row
        return column if rests and not self._won else None

    def discs(self, player: int) -> int:
        """Return a player's discs as a bitboard."""
        return self._discs[player]

    def _square(self, column: int, row: int) -> int:
        return 1 << column * (self.height + 1) + row

    def _has_four(self, discs: int) -> bool:
        for step in self._directions:
            pairs = discs & discs >> step
            if pairs & pairs >> 2 * step:
                return True
        return False

    def text(self, move: int) -> str:
        """Return the column number, counted from 1."""
        return str(move + 1)

    def position(self) -> str:
        """Return the position as text. See `agent.games.position_text`."""
        return format_position(self._rows(), self.turn, self.pieces)

    def __str__(self) -> str:
        numbers = " ".join(str((column + 1) % 10) for column in range(self.width))
        return "\n".join([*(" ".join(row) for row in self._rows()), numbers])

    def _rows(self) -> list[str]:
        """Return the rows from the top, with `.` for an empty square."""
        signs = str.maketrans("mt", "OX" if self.turn else "XO")
        return [row.translate(signs) for row in self.grid()]


def evaluate(game: ConnectFour) -> float:
    """Return the lead of the player to move in possible lines, between -1 and 1.

    A line of four squares without opposing discs counts as the square of its number of discs.
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
    return [
        1 << column * (height + 1) + row
        for row in reversed(range(height))
        for column in range(width)
    ]


@cache
def _lines(width: int, height: int) -> list[int]:
    lines = []
    for column in range(width):
        for row in range(height):
            for right, up in ((0, 1), (1, 0), (1, 1), (1, -1)):
                squares = [(column + right * step, row + up * step) for step in range(4)]
                if squares[-1][0] < width and 0 <= squares[-1][1] < height:
                    lines.append(sum(1 << x * (height + 1) + y for x, y in squares))
    return lines


GAME = ConnectFour
