"""Evaluation of many positions per call. NumPy is not imported at run time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from agent.game import Game

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Numbers = npt.NDArray[np.float64]

# A position as stored until its batch is full.
EncodedPosition = Any


class BatchEvaluation:
    """An evaluation of many positions per call. Calling it with a game evaluates one position.

    - `encode`: a function that takes a game and its legal moves, and returns the encoded position.
    - `evaluate`: a function that takes encoded positions. It returns their values for the player to
      move, and either None or an array of move priors. Each row of priors belongs to one position
      and sums to 1. The function raises EvaluationError if the evaluation fails.
    - `batch_size`: the maximum number of positions per call.
    - `values_are_rewards`: whether the values are expected game results from -1 to 1.
    """

    def __init__(
        self,
        encode: Callable[[Any, list[Any]], EncodedPosition],
        evaluate: Callable[[Sequence[EncodedPosition]], tuple[Numbers, Numbers | None]],
        batch_size: int,
        values_are_rewards: bool = False,
    ) -> None:
        self.encode = encode
        self.evaluate = evaluate
        self.batch_size = batch_size
        self.values_are_rewards = values_are_rewards

    def __call__(self, game: Game[Any]) -> float:
        """Return the value of one position for the player to move."""
        values, _ = self.evaluate([self.encode(game, list(game.moves()))])
        return float(values[0])

    def with_evaluate(self, evaluate: Callable[..., Any]) -> BatchEvaluation:
        """Return a copy with another `evaluate` function."""
        return BatchEvaluation(self.encode, evaluate, self.batch_size, self.values_are_rewards)
