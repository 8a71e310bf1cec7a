"""Gives an agent access to the positions of a `Game`."""

from collections.abc import Iterable
from copy import deepcopy
from typing import Generic, TypeVar

from agent.game import Game, SupportsPlayouts
from agent.limits import Cp, Score

Move = TypeVar("Move")


class GamePositionAdapter(Generic[Move]):
    """Position adapter for any `Game`."""

    def copy(self, position: Game[Move], /) -> Game[Move]:
        """Return a copy of the game that an interrupted search may leave in any position.

        If a user's class does not support copying, return the game itself. Searches then restore
        the position.
        """
        try:
            return deepcopy(position)
        except Exception:  # noqa: BLE001 - copying runs code of the user's class
            return position

    def moves(self, position: Game[Move], /) -> Iterable[Move]:
        """Return the legal moves, or the candidate moves if the game defines them."""
        return (
            position.candidate_moves()
            if isinstance(position, SupportsPlayouts)
            else position.moves()
        )

    def terminal_score(self, position: Game[Move], /) -> Score:
        """Return the outcome for the player to move, multiplied by 100."""
        outcome = position.outcome() or 0
        return Cp(round(100 * (-outcome if position.turn else outcome)))

    def follows(self, later: Game[Move], move: Move, earlier: Game[Move], /) -> bool:
        """Return False, because lag is not measured in these games."""
        return False
