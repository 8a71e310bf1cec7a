"""The Game interface: all that a search needs to know of a game.

It is the formalisation of 'Técnicas de IA, Tema 3.2' (initial state, player, actions, result,
terminal test, utility), spelled for searches that play a move, look, and take it back. A game
object is one mutable position with its history. A game whose states are cheap to copy may keep
a stack of them behind `play` and `undo`.
"""

from collections.abc import Hashable, Iterable
from typing import Protocol, TypeVar

Move = TypeVar("Move")


class Game(Protocol[Move]):
    """One position of a two-player zero-sum game of perfect information, and the way back."""

    @property
    def turn(self) -> int:
        """The player to move: 0 moves first, 1 second."""

    def moves(self) -> Iterable[Move]:
        """All legal moves, in an order of the game's choice; none when the game is over."""

    def play(self, move: Move) -> None:
        """Make a legal move."""

    def undo(self) -> None:
        """Take the last move back."""

    def outcome(self) -> float | None:
        """Player 0's utility if the game is over (1 win, 0 draw, -1 loss, or a score), else None."""

    def key(self) -> Hashable:
        """Equal for positions with the same future, for tables and repetition."""
