"""Evaluation of positions by a trained network, singly or in batches."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from agent.evaluation_types import EvaluationError
from agent.games.batch_evaluation import BatchEvaluation, EncodedPosition
from agent.games.catalogue import find
from agent.games.policy_value_net import PolicyValueNet, read
from agent.games.position_encoding import Floats
from agent.io.message import Message

# Positions per batch. Larger batches are hardly faster per position.
BATCH_SIZE = 8


class LearnedEvaluation:
    """A game evaluation that uses a trained network."""

    def __init__(self, network: PolicyValueNet, name: str) -> None:
        self.network = network
        self.name = name
        self.__name__ = name
        self._fitting: type[Any] | None = None  # last game class that passed the check

    def __call__(self, game: Any) -> float:
        """Return the value for the player to move, from -1 to 1.

        Raise EvaluationError if the network does not fit the game.
        """
        outputs = self.network.outputs(self.network.encoding.to_inputs([self._inputs(game)]))
        return float(np.tanh(outputs[0, 0]))

    def in_batches(self, size: int = BATCH_SIZE) -> BatchEvaluation:
        """Return a batched evaluation with priors, for batches of up to `size` positions."""
        return BatchEvaluation(self._encode, self._evaluate, size, values_are_rewards=True)

    def _inputs(self, game: Any) -> bytes:
        try:
            if type(game) is not self._fitting:
                self._require_fit(game)
                self._fitting = type(game)
            return self.network.encoding.encode(game)
        except (AttributeError, ValueError) as error:
            options = " ".join(f"{name}={value}" for name, value in self.network.options.items())
            learned = f"{self.network.game} {options}".rstrip()
            raise EvaluationError(
                "evaluation {}: trained for {}, not usable for this game: {}",
                self.name,
                learned,
                error,
            ) from None

    def _require_fit(self, game: Any) -> None:
        if not hasattr(game, "text"):  # for example, a chess engine's board
            raise ValueError(Message("{} is not a game of the catalogue", type(game).__name__))
        _, colon, name = self.network.game.rpartition(":")
        # A class from a file is a new object after each load, so compare its name. The file named
        # in the network is not executed.
        if type(game).__name__ != name if colon else not isinstance(game, find(name).game_class):
            raise ValueError(Message("{} is a different game", type(game).__name__))
        for option, value in self.network.options.items():
            actual = getattr(game, option, value)
            if isinstance(value, bool) and actual is not value:
                raise ValueError(Message("option {} must be {} (got {})", option, value, actual))

    def _encode(self, game: Any, moves: list[Any]) -> EncodedPosition:
        return self._inputs(game), self.network.encoding.move_indices(game, moves)

    def _evaluate(self, positions: Sequence[EncodedPosition]) -> tuple[Any, Any]:
        inputs = self.network.encoding.to_inputs([content for content, _ in positions])
        outputs = self.network.outputs(inputs)
        values = np.tanh(outputs[:, 0]).astype(np.float64)
        if not self.network.has_priors:
            return values, None
        width = max(len(indices) for _, indices in positions)
        priors = np.zeros((len(positions), width))
        for row, (_, indices) in enumerate(positions):
            priors[row, : len(indices)] = softmax(outputs[row, 1:][indices])
        return values, priors


def softmax(logits: Floats) -> Floats:
    """Return the softmax of a vector, or of each row of a matrix."""
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    probabilities: Floats = powers / powers.sum(axis=-1, keepdims=True)
    return probabilities


def load(path: Path | str) -> LearnedEvaluation:
    """Load a learned evaluation from a file. Raise EvaluationError if the file is invalid."""
    return LearnedEvaluation(read(path), f"learned:{path}")
