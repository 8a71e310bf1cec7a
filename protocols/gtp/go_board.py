"""The Go position of a GTP session: colours may move out of turn, stones may be set up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agent.games.catalogue import Kind
from agent.games.go import COLUMNS, LARGEST, Go
from agent.games.life import Status, dead_stones, statuses
from agent.games.stones import EMPTY, PASS
from protocols.gtp.boards import ILLEGAL, GameBoard
from protocols.gtp.values import GtpError

DEFAULT_SIZE = 19
# So many of the player's own moves may still come: this share of the empty vertices, but never
# fewer than the least.
SHARE_OF_EMPTY, LEAST_MOVES = 0.4, 8
INVALID_NUMBER = "invalid number of stones"


class GoBoard(GameBoard):
    """A game of Go. Passing twice ends it for the score, not for the session."""

    game: Go

    def __init__(self, kind: Kind, options: Mapping[str, Any]) -> None:
        super().__init__(kind, {"size": DEFAULT_SIZE, **options})

    @property
    def moves_left(self) -> int:  # type: ignore[override]
        """How many moves of his own a player may still have to make."""
        empty = self.game.stones.sets[EMPTY].bit_count()
        return max(LEAST_MOVES, int(empty * SHARE_OF_EMPTY))

    def set_komi(self, komi: float) -> None:
        """Change the komi, of this game too."""
        self._options["komi"] = self.game.komi = komi

    def vertex(self, text: str) -> int:
        """Return the vertex that is written so, or PASS; GtpError if it is not on the board."""
        text = text.upper()
        if text == "PASS":
            return PASS
        column, row = COLUMNS.find(text[:1]), text[1:]
        if not (row.isascii() and row.isdecimal() and len(row) < 3 and 0 <= column < self.size):
            raise GtpError("syntax error")
        if not 1 <= int(row) <= self.size:
            raise GtpError("syntax error")
        return self.game.stones.shape.vertex(column, int(row) - 1)

    def play(self, player: int, text: str) -> None:
        """Let a player move, whoever's turn it is."""
        try:
            move = self.vertex(text)
        except GtpError:
            raise GtpError(ILLEGAL) from None
        if not self.game.allows(player, move):
            raise GtpError(ILLEGAL)
        self.play_found(player, move)

    def play_found(self, player: int, move: int) -> None:
        """Make a legal move for a player."""
        self.game.play_as(player, move)
        self._played.append(player)

    @contextmanager
    def turned_to(self, player: int) -> Iterator[None]:
        """Let a player think, whoever's turn it is, and after the end too."""
        if self.game.turn == player and not self.game.over():
            yield
            return
        self.game.hand_to(player)
        try:
            yield
        finally:
            self.game.undo()

    def result(self) -> float:
        """Return Black's area less White's and komi, without the stones that look dead."""
        return self.game.score(dead_stones(self.game))

    def chains(self, status: Status) -> str:
        """Return the chains of that status, one a line."""
        found = statuses(self.game)
        return "\n".join(
            " ".join(self.game.text(vertex) for vertex in chain)
            for chain, its in found.items()
            if its == status
        )

    def fixed_handicap(self, number: int) -> str:
        """Put handicap stones on the star points; return them."""
        points = star_points(self.size, number)
        return self._set_handicap(
            [self.game.stones.shape.vertex(column, row) for column, row in points]
        )

    def place_free_handicap(self, number: int) -> str:
        """Put handicap stones, on star points as far as there are any; return them."""
        if not 2 <= number < self.size**2:
            raise GtpError(INVALID_NUMBER)
        most = max((count for count in range(2, 10) if _fits(self.size, count)), default=0)
        points = star_points(self.size, min(number, most)) if most else []
        return self._set_handicap(self._spread(points, number))

    def set_free_handicap(self, words: list[str]) -> None:
        """Put handicap stones where the front end wants them."""
        try:
            vertices = [self.vertex(word) for word in words]
        except GtpError:
            raise GtpError("bad vertex list") from None
        if len(set(vertices)) != len(vertices) or len(vertices) < 2 or PASS in vertices:
            raise GtpError("bad vertex list")
        self._set_handicap(vertices)

    def _spread(self, points: list[tuple[int, int]], number: int) -> list[int]:
        """Add to points those farthest from all, not on the edge, as long as there are any."""
        shape = self.game.stones.shape
        inner = range(1, self.size - 1) if self.size > 4 else range(self.size)
        rest = [(column, row) for column in inner for row in inner]
        points = list(points)
        while len(points) < min(number, len(rest)):
            free = [point for point in rest if point not in points]
            points.append(max(free, key=lambda point: _distance(point, points)))
        return [shape.vertex(column, row) for column, row in points]

    def _set_handicap(self, vertices: list[int]) -> str:
        if self._played or self.game.stones.sets[1] | self.game.stones.sets[2]:
            raise GtpError("board not empty")
        try:
            self.game.set_up(0, vertices)
        except ValueError:
            raise GtpError("bad vertex list") from None
        self.game.hand_to(1)
        return " ".join(self.game.text(vertex) for vertex in vertices)

    def load(self, file: str, move_number: int | None) -> int:
        """Go to a position of an SGF file, before a move or at its end; return who is to move."""
        from protocols.gtp.sgf import SgfError, read

        try:
            record = read(Path(file))
        except SgfError as error:
            raise GtpError(f"cannot load file: {error}") from None
        if not 1 <= record.size <= LARGEST:
            raise GtpError(f"cannot load file: a board of size {record.size}")
        moves = record.moves if move_number is None else record.moves[: max(move_number - 1, 0)]
        game = Go(record.size, self.game.komi if record.komi is None else record.komi)
        shape = game.stones.shape
        try:
            for player, stones in enumerate(record.stones):
                if stones:
                    game.set_up(player, [shape.vertex(*point) for point in stones])
        except ValueError as error:
            raise GtpError(f"cannot load file: {error}") from None
        game.hand_to(record.first)
        for number, (player, point) in enumerate(moves, 1):
            move = PASS if point is None else shape.vertex(*point)
            if not game.allows(player, move):
                raise GtpError(f"cannot load file: move {number} is illegal")
            game.play_as(player, move)
        self.game = game
        self._options |= {"size": record.size, "komi": game.komi}
        self._played = [player for player, _ in moves]
        return game.turn


def star_points(size: int, number: int) -> list[tuple[int, int]]:
    """Return the columns and rows of handicap stones, in GTP's order; GtpError if they don't fit.

    Boards of odd size from 9 take 2 to 9 stones, others from 7 take 2 to 4.
    """
    if not _fits(size, number):
        raise GtpError(INVALID_NUMBER)
    near = 3 if size > 12 else 2
    far, middle = size - 1 - near, size // 2
    points = [(near, near), (far, far), (near, far), (far, near)][: min(number, 4)]
    if number > 5:
        points += [(near, middle), (far, middle)]
    if number > 7:
        points += [(middle, near), (middle, far)]
    if number in (5, 7, 9):
        points.append((middle, middle))
    return points


def _fits(size: int, number: int) -> bool:
    return 2 <= number <= (9 if size >= 9 and size % 2 else 4) and size >= 7


def _distance(point: tuple[int, int], points: list[tuple[int, int]]) -> int:
    return min((abs(point[0] - x) + abs(point[1] - y) for x, y in points), default=0)
