"""Access to the positions of any `Game`, for the agent."""

from collections.abc import Iterable
from copy import deepcopy
from typing import Generic, TypeVar

from agent.game import Game, SupportsPlayouts
from agent.limits import Cp, Score

Move = TypeVar("Move")


class GamePositionAdapter(Generic[Move]):
    """The agent's `PositionAdapter` for any `Game`."""

    def copy(self, position: Game[Move], /) -> Game[Move]:
        """Return a deep copy, or the game itself if its class does not support copying."""
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
        """Return 100 times the outcome for the player to move."""
        outcome = position.outcome() or 0
        return Cp(round(100 * (-outcome if position.turn else outcome)))

    def follows(self, later: Game[Move], move: Move, earlier: Game[Move], /) -> bool:
        """Return False, which disables the measurement of lag."""
        return False
