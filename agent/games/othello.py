"""Othello on a square board with an even number of rows. Player 0 is Black.

A player who cannot flip a disc must pass. The game is over when neither player can move. The
utility is the number of Black's discs minus White's. Squares are numbered from 0 by row from the
top left.
"""

from collections.abc import Callable, Hashable
from functools import cache

from agent.games.position_text import format_position, parse_sized_position, piece_bits
from agent.io.message import Message

PASS = -1


class Othello:
    """An Othello position with its history. A move is a square or PASS."""

    pieces = "X", "O"

    def __init__(self, size: int = 8, *, position: str = "") -> None:
        if size < 4 or size % 2:
            raise ValueError(Message("board size must be even and at least 4 (got {})", size))
        self.size = size
        self._squares = (1 << size * size) - 1
        self._directions = _directions(size)
        middle = size // 2
        white = self._bit(middle - 1, middle - 1) | self._bit(middle, middle)
        black = self._bit(middle - 1, middle) | self._bit(middle, middle - 1)
        self._turn = 0
        if position:
            rows, self._turn = parse_sized_position(position, self.pieces, size, size)
            black, white = (piece_bits(rows, sign) for sign in self.pieces)
        mine, theirs = (white, black) if self._turn else (black, white)
        # Stack of positions: the mover's discs, the opponent's discs, the legal squares.
        self._states = [(mine, theirs, self._targets(mine, theirs))]

    @property
    def turn(self) -> int:
        """The player to move: 0 is Black, 1 is White."""
        return self._turn

    def moves(self) -> list[int]:
        """Return the legal squares, [PASS] if the player must pass, or [] if the game is over."""
        mine, theirs, targets = self._states[-1]
        if targets:
            return [square for square in range(self.size**2) if targets >> square & 1]
        return [PASS] if self._targets(theirs, mine) else []

    def play(self, move: int) -> None:
        """Place a disc and flip the enclosed discs, or pass."""
        mine, theirs, _ = self._states[-1]
        if move != PASS:
            turned = self._flipped(1 << move, mine, theirs)
            mine |= turned | 1 << move
            theirs &= ~turned
        self._states.append((theirs, mine, self._targets(theirs, mine)))
        self._turn = 1 - self._turn

    def undo(self) -> None:
        """Undo the last move."""
        self._states.pop()
        self._turn = 1 - self._turn

    def outcome(self) -> float | None:
        """Return the number of Black's discs minus White's, or None if the game is not over."""
        mine, theirs, targets = self._states[-1]
        if targets or self._targets(theirs, mine):
            return None
        return self.discs(0).bit_count() - self.discs(1).bit_count()

    def key(self) -> Hashable:
        """Return the player to move and the discs of both players."""
        return self._turn, *self._states[-1][:2]

    def discs(self, player: int) -> int:
        """Return a player's discs as a bitboard."""
        return self._states[-1][player != self._turn]

    def mobility(self, player: int) -> int:
        """Return the number of legal squares of a player, regardless of whose turn it is."""
        mine, theirs, targets = self._states[-1]
        if player != self._turn:
            targets = self._targets(theirs, mine)
        return targets.bit_count()

    def corners(self, player: int) -> int:
        """Return the number of corners with a disc of the player."""
        last = self.size - 1
        corners = sum(self._bit(row, column) for row in (0, last) for column in (0, last))
        return (self.discs(player) & corners).bit_count()

    def named_features(self) -> dict[str, float]:
        """Return the lead of the player to move in discs, mobility and corners.

        Discs and mobility are fractions of the number of squares, and corners of 4.
        """
        mover, other, squares = self._turn, 1 - self._turn, self.size**2
        return {
            "discs": (self.discs(mover).bit_count() - self.discs(other).bit_count()) / squares,
            "mobility": (self.mobility(mover) - self.mobility(other)) / squares,
            "corners": (self.corners(mover) - self.corners(other)) / 4,
        }

    def _bit(self, row: int, column: int) -> int:
        return 1 << row * self.size + column

    def _targets(self, mine: int, theirs: int) -> int:
        empty = self._squares & ~(mine | theirs)
        targets = 0
        for step in self._directions:
            run = step(mine) & theirs
            enclosed = run
            while run:
                run = step(run) & theirs
                enclosed |= run
            targets |= step(enclosed) & empty
        return targets

    def _flipped(self, disc: int, mine: int, theirs: int) -> int:
        turned = 0
        for step in self._directions:
            square = step(disc)
            run = 0
            while square & theirs:
                run |= square
                square = step(square)
            if square & mine:
                turned |= run
        return turned

    def grid(self) -> list[str]:
        """Return the rows from the top. The mover is `m`, the opponent `t`, an empty square `.`."""
        mine, theirs, _ = self._states[-1]
        signs = "".join(
            "m" if mine >> square & 1 else "t" if theirs >> square & 1 else "."
            for square in range(self.size**2)
        )
        return [signs[start : start + self.size] for start in range(0, len(signs), self.size)]

    def move_at(self, row: int, column: int) -> int | None:
        """Return the square if it is a legal move, otherwise None."""
        square = row * self.size + column
        return square if self._states[-1][2] >> square & 1 else None

    def text(self, move: int) -> str:
        """Return the notation of a move, such as "a1" for the top left square, or "pass"."""
        if move == PASS:
            return "pass"
        row, column = divmod(move, self.size)
        return f"{chr(ord('a') + column)}{row + 1}"

    def position(self) -> str:
        """Return the position as text. See `agent.games.position_text`."""
        return format_position(self._rows(), self._turn, self.pieces)

    def __str__(self) -> str:
        return "\n".join(" ".join(row) for row in self._rows())

    def _rows(self) -> list[str]:
        """Return the rows from the top. Black is `X`, White `O`, an empty square `.`."""
        signs = str.maketrans("mt", "OX" if self._turn else "XO")
        return [row.translate(signs) for row in self.grid()]


def evaluate(game: Othello) -> float:
    """Return the lead of the player to move in mobility, plus 8 times the lead in corners."""
    mover, other = game.turn, 1 - game.turn
    corners = game.corners(mover) - game.corners(other)
    return 8 * corners + game.mobility(mover) - game.mobility(other)


# Half a win is expected with a lead of two corners.
evaluate.outcome_scale = 16  # type: ignore[attr-defined]


@cache
def _directions(size: int) -> tuple[Callable[[int], int], ...]:
    squares = (1 << size * size) - 1
    left_edge = sum(1 << row * size for row in range(size))
    not_left = squares & ~left_edge
    not_right = squares & ~(left_edge << size - 1)
    return (
        lambda set_: (set_ & not_right) << 1,
        lambda set_: (set_ & not_left) >> 1,
        lambda set_: set_ << size & squares,
        lambda set_: set_ >> size,
        lambda set_: (set_ & not_right) << size + 1 & squares,
        lambda set_: (set_ & not_left) << size - 1 & squares,
        lambda set_: (set_ & not_right) >> size - 1,
        lambda set_: (set_ & not_left) >> size + 1,
    )


GAME = Othello
