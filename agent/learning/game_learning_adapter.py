import json
from collections.abc import Hashable
from copy import deepcopy
from dataclasses import replace
from typing import Any, Generic, TypeVar

from agent.game import ChanceGame, Game
from agent.limits import Cp, Info

Move = TypeVar("Move")

# Default minimum prediction error, as a fraction of a win: the difference between outcome and
# prediction.
SURPRISE_THRESHOLD = 0.01


class GameLearningAdapter(Generic[Move]):
    """Converts positions, moves and values of a `Game` for storage in learning files.

    Positions are stored as keys, moves in the game's notation, and values as fractions of a win.
    `surprise` is the minimum prediction error to learn from. Raise ValueError for games of chance,
    and for keys with values other than numbers, strings, tuples and chess moves.
    """

    win_value = 1.0

    def __init__(self, game: Game[Move], surprise: float = SURPRISE_THRESHOLD) -> None:
        self.game = game_label(game)
        self.surprise_threshold = surprise
        if isinstance(game, ChanceGame):
            raise ValueError(f"{self.game}: learning is not supported in games of chance")
        self.position_key(game)

    def copy(self, position: Game[Move], /) -> Game[Move]:
        return deepcopy(position)

    def position_key(self, position: Game[Move], /) -> str:
        try:
            return json.dumps(position.key(), default=_to_json)
        except TypeError as error:
            raise ValueError(f"{self.game}: positions cannot be stored: {error}") from None

    def key_after(self, position: Game[Move], move: Move, /) -> str:
        position.play(move)
        try:
            return self.position_key(position)
        finally:
            position.undo()

    def move_text(self, position: Game[Move], move: Move, /) -> str:
        text: Any = getattr(position, "text", str)
        return str(text(move))

    def moves_by_text(self, position: Game[Move], /) -> dict[str, Move]:
        return {self.move_text(position, move): move for move in list(position.moves())}

    def find_reply(self, earlier: Game[Move], move: Move, later: Game[Move], /) -> str | None:
        if later.turn != earlier.turn:
            return None
        earlier.play(move)
        try:
            if earlier.outcome() is not None or earlier.turn == later.turn:
                return None
            target = later.key()
            for text, reply in self.moves_by_text(earlier).items():
                earlier.play(reply)
                reached = earlier.key()
                earlier.undo()
                if reached == target:
                    return text
            return None
        finally:
            earlier.undo()

    def search_value(self, info: Info[Move], /) -> float:
        """Return the expected outcome, or else the centipawn score / 100, or 0 for a mate score."""
        if info.expected_outcome is not None:
            return info.expected_outcome
        return info.score.value / 100 if isinstance(info.score, Cp) else 0.0

    def with_value(self, info: Info[Move], value: float, /) -> Info[Move]:
        return replace(info, score=Cp(round(100 * value)), expected_outcome=value)


def game_label(game: Game[Any]) -> str:
    """Return the name of the game's class, followed by the size of its printed board."""
    while hasattr(game, "game"):  # unwrap a game reduced by pruning or symmetry
        game = game.game
    rows = str(game).splitlines()
    shape = f" {len(rows)}x{max(map(len, rows))}" if len(rows) > 1 else ""
    return f"{type(game).__name__}{shape}"


def parse_key(text: str) -> Hashable:
    """Convert a stored position key back to a Python value."""
    key: Hashable = _lists_to_tuples(json.loads(text, object_hook=_from_json))
    return key


def _to_json(value: Any) -> dict[str, str]:
    if hasattr(value, "uci"):
        return {"uci": value.uci()}
    raise TypeError(f"{value!r} is not a number, string or tuple")


def _from_json(value: dict[str, str]) -> Any:
    import chess

    return chess.Move.from_uci(value["uci"])


def _lists_to_tuples(value: Any) -> Any:
    return tuple(map(_lists_to_tuples, value)) if isinstance(value, list) else value
