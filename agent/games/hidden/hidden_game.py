"""The interface of games with hidden information."""

from typing import Protocol, TypeVar, runtime_checkable

from agent.game import ChanceGame

Move = TypeVar("Move")


@runtime_checkable
class HiddenInformationGame(ChanceGame[Move], Protocol[Move]):
    """A two-player zero-sum game in which players do not know all chance events or moves.

    Positions that the player to move cannot tell apart form an information set. They have the same
    legal moves in the same order. A player remembers all that they knew and did (perfect recall).
    """

    def information(self) -> str:
        """Return what the player to move knows: the name of the information set."""

    def text(self, move: Move) -> str:
        """Return the notation of a legal move."""
