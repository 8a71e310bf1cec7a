"""Folding a game's tree: of positions that a symmetry maps to each other only one is searched.

'Búsqueda con adversario' draws its tree of tic-tac-toe so.
"""

from collections.abc import Hashable
from typing import Generic, Protocol, TypeVar

from agent.game import NotatedGame

Move = TypeVar("Move")


class SymmetricGame(NotatedGame[Move], Protocol[Move]):
    """A game that is also `Symmetric`."""

    def symmetric_key(self) -> Hashable:
        """Return a key that is equal also for positions that a symmetry maps to each other."""


class SymmetryReducedGame(Generic[Move]):
    """A symmetric game without the moves that only repeat another, so that any search profits.

    Its keys are the symmetric ones: tables then know a position in all its mirror images. The
    evaluation, which must not tell these apart, finds the game in `game`.
    """

    def __init__(self, game: SymmetricGame[Move]) -> None:
        self.game = game

    @property
    def turn(self) -> int:
        """The player to move."""
        return self.game.turn

    def moves(self) -> list[Move]:
        """Return the first of the moves to each of the different positions."""
        moves: dict[Hashable, Move] = {}
        for move in list(self.game.moves()):
            self.game.play(move)
            moves.setdefault(self.game.symmetric_key(), move)
            self.game.undo()
        return list(moves.values())

    def play(self, move: Move) -> None:
        """Make a legal move."""
        self.game.play(move)

    def undo(self) -> None:
        """Take the last move back."""
        self.game.undo()

    def outcome(self) -> float | None:
        """Return the game's own outcome."""
        return self.game.outcome()

    def key(self) -> Hashable:
        """Return the symmetric key."""
        return self.game.symmetric_key()

    def text(self, move: Move) -> str:
        """Write a move as the game does."""
        return self.game.text(move)

    def __str__(self) -> str:
        return str(self.game)
