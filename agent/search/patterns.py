"""Board patterns that recommend a move, as in the lecture notes 'Búsqueda con adversario'."""

from collections.abc import Iterable, Iterator
from typing import Any

from agent.game import GridGame
from agent.io.message import Message

# m: mover's square. t: opponent's square. .: empty. ?: any square. *: empty, the move to play.
SYMBOLS = "mt.?*"


class Patterns:
    """Board patterns, sorted by decreasing urgency. Raise ValueError if a pattern is invalid.

    A pattern has one or more rows of equal length, with one `*` (the square to fill) and other
    characters from SYMBOLS. Spaces are ignored. A pattern matches anywhere on the board, also
    mirrored left to right. If `turned` is true, it also matches in all rotations and reflections.
    """

    def __init__(self, patterns: Iterable[str], turned: bool = True) -> None:
        self._shapes = [
            shape for pattern in patterns for shape in _symmetric_shapes(_parse(pattern), turned)
        ]

    def moves(self, game: GridGame[Any]) -> list[Any]:
        """Return the legal moves that matching patterns recommend, sorted by decreasing urgency."""
        grid = game.grid()
        moves: dict[Any, None] = {}
        for shape in self._shapes:
            for row, column in _matches(shape, grid):
                move = game.move_at(row, column)
                if move is not None:
                    moves.setdefault(move)
        return list(moves)


def _parse(pattern: str) -> tuple[str, ...]:
    rows = tuple("".join(line.split()) for line in pattern.split("\n") if line.strip())
    text = "".join(rows)
    if len({len(row) for row in rows}) != 1 or set(text) - set(SYMBOLS) or text.count("*") != 1:
        raise ValueError(
            Message(
                "invalid pattern {!r} (expected rows of equal length of {}, with one *)",
                pattern,
                SYMBOLS,
            )
        )
    return rows


def _symmetric_shapes(rows: tuple[str, ...], turned: bool) -> list[tuple[str, ...]]:
    shapes = []
    for _ in range(4 if turned else 1):
        shapes += [rows, tuple(row[::-1] for row in rows)]
        rows = tuple("".join(column) for column in zip(*reversed(rows), strict=True))
    return list(dict.fromkeys(shapes))


def _matches(shape: tuple[str, ...], grid: list[str]) -> Iterator[tuple[int, int]]:
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
