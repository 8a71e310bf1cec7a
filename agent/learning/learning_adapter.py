"""How the positions, moves and values of a game are written down, so that they outlive it."""

from typing import Protocol, TypeVar

from agent.limits import Info

Position = TypeVar("Position")
Move = TypeVar("Move")


class LearningAdapter(Protocol[Position, Move]):
    """What is to be known of a game to learn from its outcomes.

    game: its name in the file. surprise: by how much an outcome must differ from the prediction.
    win: the value of a won game; no other is above it.
    """

    game: str
    surprise_threshold: float
    win_value: float

    def copy(self, position: Position, /) -> Position:
        """Return the position, to be looked at later."""

    def position_key(self, position: Position, /) -> str:
        """Write a position, with all that matters for its value."""

    def key_after(self, position: Position, move: Move, /) -> str:
        """Write the position that a move leads to, such as a search in the tree meets it."""

    def move_text(self, position: Position, move: Move, /) -> str:
        """Write a move."""

    def moves_by_text(self, position: Position, /) -> dict[str, Move]:
        """Return the moves that may be played, by how they are written."""

    def find_reply(self, earlier: Position, move: Move, later: Position, /) -> str | None:
        """Return the reply by which a position comes from an earlier one after a move of ours.

        None if it does not.
        """

    def search_value(self, info: Info[Move], /) -> float:
        """Return what a search found, for the mover."""

    def with_value(self, info: Info[Move], value: float, /) -> Info[Move]:
        """Return what a search tells, with another value."""
