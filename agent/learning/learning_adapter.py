from typing import Protocol, TypeVar

from agent.limits import Info

Position = TypeVar("Position")
Move = TypeVar("Move")


class LearningAdapter(Protocol[Position, Move]):
    """Converts the positions, moves and values of one game for storage in learning files.

    - `game`: the name under which the game is stored.
    - `surprise_threshold`: the minimum difference between outcome and prediction to learn a move.
    - `win_value`: the value of a win, which is the greatest possible value.
    """

    game: str
    surprise_threshold: float
    win_value: float

    def copy(self, position: Position, /) -> Position:
        """Return a copy of the position that later moves do not change."""

    def position_key(self, position: Position, /) -> str:
        """Return a text that contains every part of the position that affects its value."""

    def key_after(self, position: Position, move: Move, /) -> str:
        """Return the `position_key` of the position after `move`."""

    def move_text(self, position: Position, move: Move, /) -> str:
        """Return the text of a move for storage."""

    def moves_by_text(self, position: Position, /) -> dict[str, Move]:
        """Return the legal moves, indexed by their texts."""

    def find_reply(self, earlier: Position, move: Move, later: Position, /) -> str | None:
        """Return the text of the reply to `move` that leads from `earlier` to `later`, or None."""

    def search_value(self, info: Info[Move], /) -> float:
        """Return the value of a search result for the side to move."""

    def with_value(self, info: Info[Move], value: float, /) -> Info[Move]:
        """Return a copy of `info` with another value."""
