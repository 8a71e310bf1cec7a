import json
from collections.abc import Hashable, Iterable
from copy import deepcopy
from dataclasses import replace
from typing import Any, Generic, TypeVar

from agent.game import ChanceGame, Game
from agent.io.message import Message
from agent.limits import Cp, Info

Position = TypeVar("Position")
Move = TypeVar("Move")

# Default minimum prediction error, as a fraction of a win: the difference between outcome and
# prediction.
SURPRISE_THRESHOLD = 0.01


class LearningAdapter(Generic[Position, Move]):
    """Converts the positions, moves and values of one game for storage in learning files.

    Positions are stored as keys, moves in the game's notation, and values as fractions of a win.
    A position is a `Game`; a subclass may use another class.

    - `game`: the name under which the game is stored.
    - `surprise_threshold`: the minimum difference between outcome and prediction to learn a move.
    - `win_value`: the value of a win, which is the greatest possible value.
    """

    win_value = 1.0

    def __init__(self, game: Game[Move], surprise: float = SURPRISE_THRESHOLD) -> None:
        """Raise ValueError for games of chance, and for keys that cannot be stored.

        Keys may contain numbers, strings, tuples and chess moves.
        """
        self.game = game_label(game)
        self.surprise_threshold = surprise
        if isinstance(game, ChanceGame):
            raise ValueError(Message("{}: learning is not supported in games of chance", self.game))
        self.position_key(game)

    def copy(self, position: Position) -> Position:
        """Return a copy of the position that later moves do not change."""
        return deepcopy(position)

    def position_key(self, position: Any) -> str:
        """Return a text that contains every part of the position that affects its value."""
        try:
            return json.dumps(position.key(), default=_to_json)
        except TypeError as error:
            raise ValueError(
                Message("{}: positions cannot be stored: {}", self.game, error)
            ) from None

    def key_after(self, position: Any, move: Move) -> str:
        """Return a text by which searches recognise the position after a move."""
        self._play(position, move)
        try:
            return self.position_key(position)
        finally:
            self._undo(position)

    def move_text(self, position: Any, move: Move) -> str:
        text: Any = getattr(position, "text", str)
        return str(text(move))

    def moves_by_text(self, position: Any) -> dict[str, Move]:
        """Return the legal moves, indexed by their texts."""
        return {self.move_text(position, move): move for move in list(self._moves(position))}

    def find_reply(self, earlier: Any, move: Move, later: Any) -> str | None:
        """Return the text of the reply to `move` that leads from `earlier` to `later`, or None."""
        if later.turn != earlier.turn:
            return None
        target = self._key(later)
        self._play(earlier, move)
        try:
            for text, reply in self.moves_by_text(earlier).items():
                if earlier.turn == later.turn:  # the same player moves again
                    break
                self._play(earlier, reply)
                is_reached = self._key(earlier) == target
                self._undo(earlier)
                if is_reached:
                    return text
            return None
        finally:
            self._undo(earlier)

    def search_value(self, info: Info[Move]) -> float:
        """Return the expected outcome if known, otherwise the score as a fraction of a win."""
        if info.expected_outcome is not None:
            return info.expected_outcome
        return info.score.value / 100 if isinstance(info.score, Cp) else 0.0

    def with_value(self, info: Info[Move], value: float) -> Info[Move]:
        """Return a copy of `info` with another value."""
        return replace(info, score=Cp(round(100 * value)), expected_outcome=value)

    def _key(self, position: Any) -> Hashable:
        key: Hashable = position.key()
        return key

    def _moves(self, position: Any) -> Iterable[Move]:
        moves: Iterable[Move] = position.moves()
        return moves

    def _play(self, position: Any, move: Move) -> None:
        position.play(move)

    def _undo(self, position: Any) -> None:
        position.undo()


def game_label(game: Game[Any]) -> str:
    """Return the name of the game, including its board size."""
    while hasattr(game, "game"):  # unwrap a game reduced by pruning or symmetry
        game = game.game
    rows = str(game).splitlines()
    shape = f" {len(rows)}x{max(map(len, rows))}" if len(rows) > 1 else ""
    return f"{type(game).__name__}{shape}"


def parse_key(text: str) -> Hashable:
    """Convert a key that was stored as text back to a Python value."""
    key: Hashable = _lists_to_tuples(json.loads(text, object_hook=_from_json))
    return key


def _to_json(value: Any) -> dict[str, str]:
    if hasattr(value, "uci"):
        return {"uci": value.uci()}
    raise TypeError(Message("{!r} is not a number, string or tuple", value))


def _from_json(value: dict[str, str]) -> Any:
    import chess

    return chess.Move.from_uci(value["uci"])


def _lists_to_tuples(value: Any) -> Any:
    return tuple(map(_lists_to_tuples, value)) if isinstance(value, list) else value
