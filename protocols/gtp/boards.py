"""The game that a GTP session plays: moves in and out as text, by colour."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from inspect import signature
from typing import Any

from agent.game import CHANCE, Written, find_move
from agent.games import catalogue
from protocols.gtp.values import COLOURS, GtpError

ILLEGAL = "illegal move"


class GameBoard:
    """Any game of the catalogue, by its own rules of who is to move.

    Player 0 is black, 1 white; whatever colour is named, an event of chance may be played.
    """

    # How many of the mover's own moves may still come, where it can be told.
    moves_left: int | None = None

    def __init__(
        self, name: str, size: int | None = None, options: Mapping[str, Any] | None = None
    ) -> None:
        self.name = name
        self._options: dict[str, Any] = dict(options or {})
        if size is not None:
            self._options["size"] = size
            if "size" not in signature(catalogue.find(name).game).parameters:
                raise ValueError(f"{name} has no board size")
        self.game: Written[Any] = self._new()
        self._played: list[int] = []

    @property
    def size(self) -> int:
        """The length of the board's edge; GtpError in a game that has none."""
        size = getattr(self.game, "size", None) or getattr(self.game, "width", None)
        if not isinstance(size, int):
            raise GtpError(f"{self.name} has no board size")
        return size

    @property
    def turn(self) -> int:
        """The player to move, 0 where chance is."""
        return 0 if self.game.turn == CHANCE else self.game.turn

    @property
    def evaluate(self) -> Callable[[Any], float]:
        """The game's own evaluation."""
        return catalogue.evaluation(self.name)

    def resize(self, size: int) -> None:
        """Begin again on a board of another size; GtpError, changing nothing, if it cannot be."""
        options = dict(self._options)
        try:
            if size != getattr(self.game, "size", getattr(self.game, "width", None)):
                self._options = {**self._options, "size": size}
            self.clear()
        except (TypeError, ValueError):
            self._options = options
            raise GtpError("unacceptable size") from None

    def clear(self) -> None:
        """Begin again."""
        self.game = self._new()
        self._played = []

    def play(self, player: int, text: str) -> None:
        """Make a legal move."""
        try:
            move = find_move(self.game, text)
        except ValueError:
            raise GtpError(ILLEGAL) from None
        if self.game.turn not in (player, CHANCE):
            raise GtpError(ILLEGAL)
        self.play_found(player, move)

    def play_found(self, player: int, move: Any) -> None:
        """Make a move that a search has found for a player."""
        self.game.play(move)
        self._played.append(player)

    def undo(self) -> None:
        """Take the last move back."""
        if not self._played:
            raise GtpError("cannot undo")
        self._played.pop()
        self.game.undo()

    @contextmanager
    def turned_to(self, player: int) -> Iterator[None]:
        """Let a player think: it must be his turn, and the game must go on."""
        if self.game.outcome() is not None:
            raise GtpError("the game is over")
        if self.game.turn not in (player, CHANCE):
            raise GtpError(f"{COLOURS[player]} is not to move")
        yield

    def legal(self) -> list[str]:
        """Return the legal moves; none when the game is over."""
        return [self.game.text(move) for move in self.game.moves()]

    def result(self) -> float:
        """Return black's utility; GtpError while the game goes on."""
        outcome = self.game.outcome()
        if outcome is None:
            raise GtpError("cannot score")
        return outcome

    def _new(self) -> Written[Any]:
        return catalogue.new_game(self.name, **self._options)


def score_text(points: float) -> str:
    """Return a result as GTP writes it."""
    if points == 0:
        return "0"
    return f"{'B' if points > 0 else 'W'}+{abs(points):g}"


def winner_text(points: float) -> str:
    """Return a result in words."""
    if points == 0:
        return "draw"
    name = COLOURS[points < 0].capitalize()
    margin = "" if abs(points) == 1 else f" by {abs(points):g}"
    return f"{name} wins{margin}"
