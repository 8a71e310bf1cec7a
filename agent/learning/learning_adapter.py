"""Protocol for converting the positions, moves and values of a game for storage."""

from typing import Protocol, TypeVar

from agent.limits import Info

Position = TypeVar("Position")
Move = TypeVar("Move")


class LearningAdapter(Protocol[Position, Move]):
    """Operations on a game's positions that learning needs.

    `game` is the name under which the game is stored.
    `surprise_threshold` is the minimum difference between the outcome and the prediction for a move
    to be learned.
    `win_value` is the value of a win, which is the greatest possible value.
    """

    game: str
    surprise_threshold: float
    win_value: float

    def copy(self, position: Position, /) -> Position:
        """Return a copy of the position that is unaffected by later moves."""

    def position_key(self, position: Position, /) -> str:
        """Return a text for the position that contains everything that affects its value."""

    def key_after(self, position: Position, move: Move, /) -> str:
        """Return the text for the position after a move.

        Searches recognise the position in their trees by this text.
        """

    def move_text(self, position: Position, move: Move, /) -> str:
        """Return a move as text."""

    def moves_by_text(self, position: Position, /) -> dict[str, Move]:
        """Return a mapping from text to legal move."""

    def find_reply(self, earlier: Position, move: Move, later: Position, /) -> str | None:
        """Return the reply to our `move` that leads from `earlier` to `later`, as text.

        Return None if there is no such reply.
        """

    def search_value(self, info: Info[Move], /) -> float:
        """Return the value of a search result for the player to move."""

    def with_value(self, info: Info[Move], value: float, /) -> Info[Move]:
        """Return a copy of `info` with another value."""
