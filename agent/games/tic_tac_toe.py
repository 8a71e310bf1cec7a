"""Tic-tac-toe on a square board of any size. A full row, column or diagonal wins.

Squares are numbered from 0 by row from the top left. Player 0 is X.
"""

from collections.abc import Hashable
from functools import cache

from agent.games.position_text import (
    format_position,
    parse_sized_position,
    piece_bits,
    require_alternate_turns,
)
from agent.io.message import Message

# Patterns: complete a line, block the opponent's line, take the centre, take a corner. On the 3x3
# board, play by these patterns is almost perfect.
PATTERNS = (
    "m m *",
    "m * m",
    "m??\n?m?\n??*",
    "m??\n?*?\n??m",
    "t t *",
    "t * t",
    "t??\n?t?\n??*",
    "t??\n?*?\n??t",
    "???\n?*?\n???",
    "*??\n???\n???",
)


class TicTacToe:
    """A tic-tac-toe position with its history. A move is the index of a square."""

    patterns = PATTERNS
    upright = False
    pieces = "X", "O"

    def __init__(self, size: int = 3, *, position: str = "") -> None:
        if size < 1:
            raise ValueError(Message("board size must be at least 1 (got {})", size))
        self.size = size
        self._lines, self._lines_through = _lines(size)
        self._full = (1 << size * size) - 1
        self._marks = [0, 0]
        self._played: list[int] = []
        self._won = False
        if position:
            rows, turn = parse_sized_position(position, self.pieces, size, size)
            require_alternate_turns(rows, turn, self.pieces)
            self._marks = [piece_bits(rows, sign) for sign in self.pieces]
            self._played = [square for square, sign in enumerate("".join(rows)) if sign != "."]
            complete = [any(marks & line == line for line in self._lines) for marks in self._marks]
            if complete[turn]:
                raise ValueError(Message("position: the side to move has already won"))
            self._won = complete[1 - turn]

    @property
    def turn(self) -> int:
        """The player to move: 0 is X, 1 is O."""
        return len(self._played) % 2

    def moves(self) -> list[int]:
        """Return the empty squares, or [] if the game is over."""
        if self._won:
            return []
        taken = self._marks[0] | self._marks[1]
        return [square for square in range(self.size**2) if not taken >> square & 1]

    def play(self, move: int) -> None:
        """Place a mark on a square."""
        marks = self._marks[self.turn] = self._marks[self.turn] | 1 << move
        self._played.append(move)
        for line in self._lines_through[move]:
            if marks & line == line:
                self._won = True

    def undo(self) -> None:
        """Undo the last move."""
        move = self._played.pop()
        self._marks[self.turn] ^= 1 << move
        self._won = False

    def outcome(self) -> float | None:
        """Return 1 if X won, -1 if O won, 0 if the board is full, None if the game is not over."""
        if self._won:
            return -1 if self.turn == 0 else 1
        return 0 if self._marks[0] | self._marks[1] == self._full else None

    def key(self) -> Hashable:
        """Return the bitboards of both players' marks."""
        return tuple(self._marks)

    def symmetric_key(self) -> Hashable:
        """Return a key that is the same for all rotations and reflections of a position."""
        return min(
            tuple(_transformed(marks, squares) for marks in self._marks)
            for squares in _symmetries(self.size)
        )

    def open_lines(self, player: int) -> int:
        """Return the number of lines that a player can still complete."""
        theirs = self._marks[1 - player]
        return sum(not line & theirs for line in self._lines)

    def named_features(self) -> dict[str, float]:
        """Return the mover's lead in open lines with 1, 2, ... marks, divided by 4."""
        mine, theirs = self._marks[self.turn], self._marks[1 - self.turn]
        counts = dict.fromkeys(range(1, self.size), 0)
        for line in self._lines:
            if not line & theirs and (line & mine).bit_count() in counts:
                counts[(line & mine).bit_count()] += 1
            elif not line & mine and (line & theirs).bit_count() in counts:
                counts[(line & theirs).bit_count()] -= 1
        return {f"lines of {marks}": count / 4 for marks, count in counts.items()}

    def bounds(self) -> tuple[float, float]:
        """Return bounds on the value: -1 (0 if a loss is impossible) and 1 (0 if a win is)."""
        return -bool(self.open_lines(1 - self.turn)), +bool(self.open_lines(self.turn))

    def grid(self) -> list[str]:
        """Return the rows from the top. The mover is `m`, the opponent `t`, an empty square `.`."""
        mine, theirs = self._marks[self.turn], self._marks[1 - self.turn]
        signs = "".join(
            "m" if mine >> square & 1 else "t" if theirs >> square & 1 else "."
            for square in range(self.size**2)
        )
        return [signs[start : start + self.size] for start in range(0, len(signs), self.size)]

    def move_at(self, row: int, column: int) -> int | None:
        """Return the square if it is a legal move, otherwise None."""
        square = row * self.size + column
        taken = self._marks[0] | self._marks[1]
        return None if self._won or taken >> square & 1 else square

    def text(self, move: int) -> str:
        """Return the notation of a square, such as "a1" for the bottom left square."""
        row, column = divmod(move, self.size)
        return f"{chr(ord('a') + column)}{self.size - row}"

    def position(self) -> str:
        """Return the position as text. See `agent.games.position_text`."""
        return format_position(self._rows(), self.turn, self.pieces)

    def __str__(self) -> str:
        return "\n".join(" ".join(row) for row in self._rows())

    def _rows(self) -> list[str]:
        """Return the rows from the top, with `.` for an empty square."""
        signs = str.maketrans("mt", "OX" if self.turn else "XO")
        return [row.translate(signs) for row in self.grid()]


def evaluate(game: TicTacToe) -> float:
    """Return the mover's open lines minus the opponent's, divided by the number of lines plus 1.

    Source: the lecture notes 'Juegos: minimax, método alfa-beta' and 'Búsqueda con adversario'.
    """
    mine, theirs = game.open_lines(game.turn), game.open_lines(1 - game.turn)
    return (mine - theirs) / (2 * game.size + 3)


@cache
def _lines(size: int) -> tuple[list[int], list[list[int]]]:
    rows = [[row * size + column for column in range(size)] for row in range(size)]
    columns = [list(column) for column in zip(*rows, strict=True)]
    diagonals = [
        [index * size + index for index in range(size)],
        [index * size + size - 1 - index for index in range(size)],
    ]
    lines = [sum(1 << square for square in line) for line in rows + columns + diagonals]
    through = [[line for line in lines if line >> square & 1] for square in range(size * size)]
    return lines, through


@cache
def _symmetries(size: int) -> list[tuple[int, ...]]:
    last = size - 1
    maps = []
    for turn in range(4):
        for reflect in (False, True):
            squares = []
            for square in range(size * size):
                row, column = divmod(square, size)
                for _ in range(turn):
                    row, column = column, last - row
                squares.append(row * size + (last - column if reflect else column))
            maps.append(tuple(squares))
    return maps


def _transformed(marks: int, squares: tuple[int, ...]) -> int:
    return sum(1 << target for square, target in enumerate(squares) if marks >> square & 1)


GAME = TicTacToe
