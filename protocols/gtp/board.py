"""The game that a GTP session plays: moves in and out as text, by colour."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from inspect import signature
from typing import Any

from agent.game import CHANCE, NotatedGame, parse_move
from agent.games.catalogue import GameError, GameType
from agent.games.game_history import MAX_PLIES
from protocols.gtp.messages import COLOURS, GtpError

ILLEGAL_MOVE = "illegal move"
UNACCEPTABLE_SIZE = "unacceptable size"
# The largest board that GTP has coordinates for.
MAX_BOARD_SIZE = 25


class GtpBoard:
    """Any game, by its own rules of who is to move.

    Player 0 is black, 1 white; whatever colour is named, an event of chance may be played. texts:
    the moves so far, but of Go, as they are written.
    """

    # How many of the mover's own moves may still come, where it can be told.
    moves_left: int | None = None

    def __init__(self, kind: GameType, options: Mapping[str, Any]) -> None:
        """Begin a game with options of its class. Raises GameError if they cannot be."""
        self.game_type = kind
        self.name = kind.name
        self._options = dict(options)
        self.game: NotatedGame[Any] = self.create_game()
        self._movers: list[int] = []
        self.move_texts: list[str] = []

    def create_game(self) -> NotatedGame[Any]:
        """Return another game, at its start."""
        return self.game_type.new(**self._options)

    @property
    def options_text(self) -> str:
        """The options that the game began with, as text."""
        options = self.game_type.with_defaults(self._options)
        return " ".join(f"{name}={value}" for name, value in sorted(options.items()))

    @property
    def size(self) -> str:
        """The length of the board's edge, as text; GtpError in a game that has none."""
        if (edge := self._edge) is None:
            raise GtpError(f"{self.name} has no board size")
        return str(edge)

    @property
    def _edge(self) -> int | None:
        edge = getattr(self.game, "size", getattr(self.game, "width", None))
        return edge if isinstance(edge, int) else None

    @property
    def turn(self) -> int:
        """The player to move, 0 where chance is."""
        return 0 if self.game.turn == CHANCE else self.game.turn

    def resize(self, width: int, height: int | None = None) -> None:
        """Begin again on a board of another size; GtpError, changing nothing, if it cannot be.

        height: None for a board that has one size alone.
        """
        if max(width, height or 0) > MAX_BOARD_SIZE:
            raise GtpError(UNACCEPTABLE_SIZE)
        options = self._options
        self._options = {**options, **self._size_options(width, height)}
        try:
            self.clear()
        except GameError:
            self._options = options
            raise GtpError(UNACCEPTABLE_SIZE) from None

    def _size_options(self, width: int, height: int | None) -> dict[str, Any]:
        """Return the options of a game on a board of that size; GtpError if there are none."""
        known = signature(self.game_type.game_class).parameters
        if height is not None and {"width", "height"} <= known.keys():
            return {"width": width, "height": height}
        if height not in (None, width):
            raise GtpError(UNACCEPTABLE_SIZE)
        return {} if width == self._edge else {"size": width}

    def clear(self) -> None:
        """Begin again."""
        self.game = self.create_game()
        self._movers, self.move_texts = [], []

    def play(self, player: int, text: str) -> None:
        """Make a legal move."""
        try:
            move = parse_move(self.game, text)
        except ValueError:
            raise GtpError(ILLEGAL_MOVE) from None
        if self.game.turn not in (player, CHANCE):
            raise GtpError(ILLEGAL_MOVE)
        self.play_move(player, move)

    def play_move(self, player: int, move: Any) -> None:
        """Make a move that a search has found for a player."""
        self.require_game_length()
        self.move_texts.append(self.game.text(move))
        self.game.play(move)
        self._movers.append(player)

    def require_game_length(self) -> None:
        """Raise GtpError where no more moves are kept, as of a game that nobody ends."""
        if len(self._movers) >= MAX_PLIES:
            raise GtpError(f"a game has at most {MAX_PLIES} moves: clear_board begins another")

    def play_all(self, moves: Iterable[tuple[int, str]]) -> None:
        """Make moves in order, all of them or none."""
        made = 0
        try:
            for player, text in moves:
                self.play(player, text)
                made += 1
        except GtpError:
            for _ in range(made):
                self.undo()
            raise

    def undo_moves(self, number: int) -> None:
        """Take the last moves back, all of them or none."""
        if number > len(self._movers):
            raise GtpError("cannot undo")
        for _ in range(number):
            self.undo()

    def undo(self) -> None:
        """Take the last move back."""
        if not self._movers:
            raise GtpError("cannot undo")
        self._movers.pop()
        self.move_texts = self.move_texts[:-1]
        self.game.undo()

    @contextmanager
    def player_to_move(self, player: int) -> Iterator[None]:
        """Let a player think: it must be his turn, and the game must go on."""
        if self.game.outcome() is not None:
            raise GtpError("the game is over")
        if self.game.turn not in (player, CHANCE):
            raise GtpError(f"{COLOURS[player]} is not to move")
        yield

    def legal_moves(self) -> list[str]:
        """Return the legal moves; none when the game is over."""
        return [self.game.text(move) for move in self.game.moves()]

    def result(self) -> float:
        """Return black's utility; GtpError while the game goes on."""
        outcome = self.game.outcome()
        if outcome is None:
            raise GtpError("cannot score")
        return outcome


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
