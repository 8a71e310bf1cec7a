"""A user's evaluation of a game that judges many positions at once, as a search asks it.

This module imports no NumPy: a search that has none of these needs none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from agent.game import Game

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Numbers = npt.NDArray[np.float64]

# What is kept of a position until the batch is full; the moves are those of the search, in order.
EncodedPosition = Any


class BatchEvaluation:
    """A user's batched evaluation of a game; called with one game, it judges that alone.

    take: returns what is to be kept of a game, whose legal moves are given. answer: gets that of
    some positions, and returns their values and, if there are any, the priors of their moves, one
    row a position that sums to 1; raises EvaluationError. size: the most positions. learned:
    whether values are expected rewards, from -1 to 1, as networks learn them from ends of games.
    """

    def __init__(
        self,
        take: Callable[[Any, list[Any]], EncodedPosition],
        answer: Callable[[Sequence[EncodedPosition]], tuple[Numbers, Numbers | None]],
        size: int,
        learned: bool = False,
    ) -> None:
        self.encode = take
        self.evaluate = answer
        self.batch_size = size
        self.values_are_rewards = learned

    def __call__(self, game: Game[Any]) -> float:
        """Return the value of the game's position for its mover."""
        values, _ = self.evaluate([self.encode(game, list(game.moves()))])
        return float(values[0])

    def with_evaluate(self, answer: Callable[..., Any]) -> BatchEvaluation:
        """Return the same evaluation, asked by way of another callable: one that is watched."""
        return BatchEvaluation(self.encode, answer, self.batch_size, self.values_are_rewards)
