"""Symmetry reduction, which searches only one of several symmetric positions."""

from collections.abc import Hashable
from typing import Generic, Protocol, TypeVar

from agent.game import NotatedGame

Move = TypeVar("Move")


class SymmetricGame(NotatedGame[Move], Protocol[Move]):
    def symmetric_key(self) -> Hashable:
        """Return a key that is equal for symmetric positions."""


class SymmetryReducedGame(Generic[Move]):
    """A wrapper of a game that offers only one of several symmetric moves to a search.

    `key` returns the symmetric key of the game. A search passes this wrapper to its evaluation,
    which must return equal values for symmetric positions. The attribute `game` is the original
    game.
    """

    def __init__(self, game: SymmetricGame[Move]) -> None:
        self.game = game

    @property
    def turn(self) -> int:
        return self.game.turn

    def moves(self) -> list[Move]:
        """Return one move for each resulting position. Symmetric positions count as one."""
        moves: dict[Hashable, Move] = {}
        for move in list(self.game.moves()):
            self.game.play(move)
            moves.setdefault(self.game.symmetric_key(), move)
            self.game.undo()
        return list(moves.values())

    def play(self, move: Move) -> None:
        self.game.play(move)

    def undo(self) -> None:
        self.game.undo()

    def outcome(self) -> float | None:
        return self.game.outcome()

    def key(self) -> Hashable:
        return self.game.symmetric_key()

    def text(self, move: Move) -> str:
        return self.game.text(move)

    def __str__(self) -> str:
        return str(self.game)
