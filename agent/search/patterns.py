"""Board patterns with the moves that go with them, for games of filling squares.

Source: 'Búsqueda con adversario', among what games need besides search.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from agent.game import GridGame

# m the mover's, t the other's, . empty, ? anything on the board, * empty and to be filled.
SYMBOLS = "mt.?*"


class Patterns:
    """Patterns, the most urgent first.

    Each is a text of one or more rows of equal length (blanks do not count) with one `*`, the
    square to fill; SIGNS says what the others ask for. It is found anywhere on the board, and
    also turned and reflected; turned is False for boards on which up and down differ: patterns
    are then only reflected from left to right.

    Raises ValueError, with the pattern, if one is wrong.
    """

    def __init__(self, patterns: Iterable[str], turned: bool = True) -> None:
        self._shapes = [
            shape for pattern in patterns for shape in _symmetric_shapes(_parse(pattern), turned)
        ]

    def moves(self, game: GridGame[Any]) -> list[Any]:
        """Return the legal moves that patterns ask for, the most urgent first."""
        grid = game.grid()
        found: dict[Any, None] = {}
        for shape in self._shapes:
            for row, column in _matches(shape, grid):
                move = game.move_at(row, column)
                if move is not None:
                    found.setdefault(move)
        return list(found)


def _parse(pattern: str) -> tuple[str, ...]:
    rows = tuple("".join(line.split()) for line in pattern.split("\n") if line.strip())
    text = "".join(rows)
    if len({len(row) for row in rows}) != 1 or set(text) - set(SYMBOLS) or text.count("*") != 1:
        raise ValueError(
            f"{pattern!r} is no pattern: rows of equal length of {SYMBOLS}, with one *"
        )
    return rows


def _symmetric_shapes(rows: tuple[str, ...], turned: bool) -> list[tuple[str, ...]]:
    """Return the different shapes that a pattern may take."""
    shapes = []
    for _ in range(4 if turned else 1):
        shapes += [rows, tuple(row[::-1] for row in rows)]
        rows = tuple("".join(column) for column in zip(*reversed(rows), strict=True))
    return list(dict.fromkeys(shapes))


def _matches(shape: tuple[str, ...], grid: list[str]) -> Iterator[tuple[int, int]]:
    """Generate the squares to fill wherever the shape lies on the board."""
    for top in range(len(grid) - len(shape) + 1):
        for left in range(len(grid[0]) - len(shape[0]) + 1):
            if all(
                _fits(sign, grid[top + down][left + right])
                for down, row in enumerate(shape)
                for right, sign in enumerate(row)
            ):
                down = next(down for down, row in enumerate(shape) if "*" in row)
                yield top + down, left + shape[down].index("*")


def _fits(sign: str, square: str) -> bool:
    return sign == "?" or square == ("." if sign == "*" else sign)
