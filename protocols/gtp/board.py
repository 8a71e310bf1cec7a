"""The board of a GTP session for all games but Go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from inspect import signature
from typing import Any

from agent.game import CHANCE, NotatedGame
from agent.games.catalogue import GameError, GameType
from agent.games.game_state import MAX_PLIES, GameState
from agent.games.position_text import complete_options
from protocols.current_line import yield_turn
from protocols.gtp.messages import COLOURS, GtpError

ILLEGAL_MOVE = "illegal move"
UNACCEPTABLE_SIZE = "unacceptable size"
MAX_BOARD_SIZE = 25  # the maximum board size in GTP coordinates


class GtpBoard(GameState):
    """The board of a game in which the rules determine the side to move.

    Player 0 is Black and player 1 is White. Chance events may be played with either colour.
    """

    # The estimated number of remaining moves of the side to move, or None if unknown.
    moves_left: int | None = None

    def __init__(self, game_type: GameType, options: Mapping[str, Any]) -> None:
        """Start a game with the given options. Raise `GameError` if they are invalid."""
        self.game_type = game_type
        self.name = game_type.name
        self._options = dict(options)
        super().__init__(self.create_game())

    def create_game(self) -> NotatedGame[Any]:
        return self.game_type.new(**self._options)

    @property
    def options_text(self) -> str:
        options = complete_options(self.game_type, self._options)
        return " ".join(f"{name}={value}" for name, value in sorted(options.items()))

    @property
    def size(self) -> str:
        """Return the board size as text, or raise `GtpError` if the game has no board size."""
        if (edge := self._edge) is None:
            raise GtpError(f"{self.name} has no board size")
        return str(edge)

    @property
    def _edge(self) -> int | None:
        edge = getattr(self.game, "size", getattr(self.game, "width", None))
        return edge if isinstance(edge, int) else None

    @property
    def turn(self) -> int:
        """Return the player to move, or 0 if a chance event is next."""
        return 0 if self.mover == CHANCE else self.mover

    def resize(self, width: int, height: int | None = None) -> None:
        """Clear the board and change its size, or raise `GtpError` if the size is invalid."""
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
        parameters = signature(self.game_type.game_class).parameters
        if height is not None and {"width", "height"} <= parameters.keys():
            return {"width": width, "height": height}
        if height not in (None, width):
            raise GtpError(UNACCEPTABLE_SIZE)
        return {} if width == self._edge else {"size": width}

    def clear(self) -> None:
        self.restart(self.create_game())

    def play_text(self, player: int, text: str) -> None:
        """Play a player's move, or raise `GtpError` if the move is illegal."""
        self.play_move(player, self._find_move(player, text))

    def _find_move(self, player: int, text: str) -> Any:
        try:
            move = self.parse(text)
        except ValueError:
            raise GtpError(ILLEGAL_MOVE) from None
        if self.mover not in (player, CHANCE):
            raise GtpError(ILLEGAL_MOVE)
        return move

    def is_legal(self, player: int, text: str) -> bool:
        try:
            self._find_move(player, text)
        except GtpError:
            return False
        return True

    def legal_moves_of(self, player: int) -> list[str]:
        """Return the legal moves of a player, or [] if it is not the player's turn."""
        return self.legal_moves() if self.mover in (player, CHANCE) else []

    def play_move(self, player: int, move: Any) -> None:
        """Play a move without checking that it is legal."""
        self.require_game_length()
        self.push(move, player)

    def require_game_length(self) -> None:
        """Raise `GtpError` if the game has reached its maximum length."""
        if self.too_long:
            raise GtpError(
                f"too many moves (maximum {MAX_PLIES}); start a new game with clear_board"
            )

    def play_all(self, moves: Iterable[tuple[int, str]]) -> None:
        """Play moves in order. If any move is illegal, play no move and raise `GtpError`."""
        before = len(self.moves)
        try:
            for player, text in moves:
                yield_turn()
                self.play_text(player, text)
        except GtpError:
            self.undo_moves(len(self.moves) - before)
            raise

    def undo_moves(self, count: int) -> None:
        """Take back the last `count` moves, or raise `GtpError` if fewer have been played."""
        if count > len(self.moves):
            raise GtpError("cannot undo")
        for _ in range(count):
            self.undo()

    @contextmanager
    def player_to_move(self, player: int) -> Iterator[None]:
        """Allow a search inside the block, or raise `GtpError` if it is not the player's turn."""
        if self.game.outcome() is not None:
            raise GtpError("the game is over")
        if self.mover not in (player, CHANCE):
            raise GtpError(f"it is not {COLOURS[player]}'s turn")
        yield

    def result(self) -> float:
        """Return the outcome for Black, or raise `GtpError` if the game is not over."""
        outcome = self.game.outcome()
        if outcome is None:
            raise GtpError("cannot score")
        return outcome


def score_text(points: float) -> str:
    """Return a result such as `B+3.5` or `0`, given the outcome for Black."""
    if points == 0:
        return "0"
    return f"{'B' if points > 0 else 'W'}+{abs(points):g}"


def winner_text(points: float) -> str:
    """Return a result such as `White wins by 2`, given the outcome for Black."""
    if points == 0:
        return "draw"
    name = COLOURS[points < 0].capitalize()
    margin = "" if abs(points) == 1 else f" by {abs(points):g}"
    return f"{name} wins{margin}"
