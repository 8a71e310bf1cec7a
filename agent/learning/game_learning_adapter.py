"""How experience writes down the games of agent.games, and a user's."""

import json
from collections.abc import Hashable
from copy import deepcopy
from dataclasses import replace
from typing import Any, Generic, TypeVar

from agent.game import ChanceGame, Game
from agent.limits import Cp, Info

Move = TypeVar("Move")

# By how much of a win an outcome must differ from the prediction to surprise, unless it is said.
SURPRISE_THRESHOLD = 0.01


class GameLearningAdapter(Generic[Move]):
    """Positions by their keys, moves as the game writes them, values as parts of a win.

    game: an example, which is named by its class and the size of its board, since the keys of
    boards of other sizes may be the same. Keys can be written where they are made of numbers,
    words and tuples, or hold chess moves. Raises ValueError for a game of chance, whose outcomes
    are luck, and for keys that cannot be written.
    """

    win_value = 1.0

    def __init__(self, game: Game[Move], surprise: float = SURPRISE_THRESHOLD) -> None:
        self.game = game_label(game)
        self.surprise_threshold = surprise
        if isinstance(game, ChanceGame):
            raise ValueError(f"{self.game}: in a game of chance outcomes are luck, not experience")
        self.position_key(game)

    def copy(self, position: Game[Move], /) -> Game[Move]:
        """Return a copy of the position."""
        return deepcopy(position)

    def position_key(self, position: Game[Move], /) -> str:
        """Write the position's key."""
        try:
            return json.dumps(position.key(), default=_to_json)
        except TypeError as error:
            raise ValueError(f"{self.game}: its positions cannot be kept: {error}") from None

    def key_after(self, position: Game[Move], move: Move, /) -> str:
        """Write the key of the position that a move leads to."""
        position.play(move)
        try:
            return self.position_key(position)
        finally:
            position.undo()

    def move_text(self, position: Game[Move], move: Move, /) -> str:
        """Write a move as the game does."""
        text: Any = getattr(position, "text", str)
        return str(text(move))

    def moves_by_text(self, position: Game[Move], /) -> dict[str, Move]:
        """Return the legal moves."""
        return {self.move_text(position, move): move for move in list(position.moves())}

    def find_reply(self, earlier: Game[Move], move: Move, later: Game[Move], /) -> str | None:
        """Return the reply by which a position comes from an earlier one after a move of ours."""
        if later.turn != earlier.turn:
            return None
        earlier.play(move)
        try:
            if earlier.outcome() is not None or earlier.turn == later.turn:
                return None
            wanted = later.key()
            for text, reply in self.moves_by_text(earlier).items():
                earlier.play(reply)
                reached = earlier.key()
                earlier.undo()
                if reached == wanted:
                    return text
            return None
        finally:
            earlier.undo()

    def search_value(self, info: Info[Move], /) -> float:
        """Return the outcome that is expected, or the score as a part of a win."""
        if info.expected_outcome is not None:
            return info.expected_outcome
        return info.score.value / 100 if isinstance(info.score, Cp) else 0.0

    def with_value(self, info: Info[Move], value: float, /) -> Info[Move]:
        """Return what a search tells, with another outcome expected."""
        return replace(info, score=Cp(round(100 * value)), expected_outcome=value)


def game_label(game: Game[Any]) -> str:
    """Return the name of a game and the size of its board."""
    while hasattr(game, "game"):  # a smaller game of it, by pruning or symmetry
        game = game.game
    rows = str(game).splitlines()
    shape = f" {len(rows)}x{max(map(len, rows))}" if len(rows) > 1 else ""
    return f"{type(game).__name__}{shape}"


def parse_key(text: str) -> Hashable:
    """Return the key that was written so."""
    key: Hashable = _lists_to_tuples(json.loads(text, object_hook=_from_json))
    return key


def _to_json(value: Any) -> dict[str, str]:
    if hasattr(value, "uci"):
        return {"uci": value.uci()}
    raise TypeError(f"{value!r} is neither number, word nor tuple")


def _from_json(value: dict[str, str]) -> Any:
    import chess

    return chess.Move.from_uci(value["uci"])


def _lists_to_tuples(value: Any) -> Any:
    """Make the tuples of a key again, which JSON wrote as lists."""
    return tuple(map(_lists_to_tuples, value)) if isinstance(value, list) else value
