"""How a player reads the positions of any game."""

from collections.abc import Iterable
from copy import deepcopy
from typing import Generic, TypeVar

from agent.game import Game, SupportsPlayouts
from agent.limits import Cp, Score

Move = TypeVar("Move")


class GamePositionAdapter(Generic[Move]):
    """Reads a `Game`, which is one mutable position with its history."""

    def copy(self, position: Game[Move], /) -> Game[Move]:
        """Return a copy, which a search that is given up may leave anywhere.

        A user's game that cannot be copied is lent itself: a search leaves it as it was.
        """
        try:
            return deepcopy(position)
        except Exception:  # noqa: BLE001 - whatever the user's class holds
            return position

    def moves(self, position: Game[Move], /) -> Iterable[Move]:
        """Generate the legal moves, but those that make no sense in a game that knows them."""
        return (
            position.candidate_moves()
            if isinstance(position, SupportsPlayouts)
            else position.moves()
        )

    def terminal_score(self, position: Game[Move], /) -> Score:
        """Return the outcome for the mover, in hundredths."""
        outcome = position.outcome() or 0
        return Cp(round(100 * (-outcome if position.turn else outcome)))

    def follows(self, later: Game[Move], move: Move, earlier: Game[Move], /) -> bool:
        """Tell nothing: what the clock shows is told by other means than the next position."""
        return False
