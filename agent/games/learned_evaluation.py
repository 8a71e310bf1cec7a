"""What was learned of a game, as an evaluation: of one position, or of many with their priors."""

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

# The most positions that are judged at once: enough for most of what a batch can gain.
BATCH_SIZE = 8


class LearnedEvaluation:
    """A learned network as an evaluation of its game: called with a position, it judges that."""

    def __init__(self, network: PolicyValueNet, name: str) -> None:
        self.network = network
        self.name = name
        self.__name__ = name
        self._fitting: type[Any] | None = None  # a class of games that it was learned for

    def __call__(self, game: Any) -> float:
        """Return the position's value for its mover, above -1 and below 1."""
        outputs = self.network.outputs(self.network.encoding.to_inputs([self._inputs(game)]))
        return float(np.tanh(outputs[0, 0]))

    def in_batches(self, size: int = BATCH_SIZE) -> BatchEvaluation:
        """Return it as an evaluation that judges so many positions at once, with priors."""
        return BatchEvaluation(self._encode, self._evaluate, size, learned=True)

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
                f"evaluation {self.name} was learned for {learned} and cannot judge this game: "
                f"{error}"
            ) from None

    def _require_fit(self, game: Any) -> None:
        """Raise ValueError for another game, and for one whose rules were switched otherwise."""
        if not hasattr(game, "text"):  # such as the board of a chess program
            raise ValueError(f"{type(game).__name__} is no game of the catalogue")
        _, colon, name = self.network.game.rpartition(":")
        # A file's class is another one wherever it is loaded, and what a file names is not run.
        if type(game).__name__ != name if colon else not isinstance(game, find(name).game_class):
            raise ValueError(f"{type(game).__name__} is another game")
        for option, value in self.network.options.items():
            now = getattr(game, option, value)
            if isinstance(value, bool) and now is not value:
                raise ValueError(f"{option} is {now} here")

    def _encode(self, game: Any, moves: list[Any]) -> EncodedPosition:
        return self._inputs(game), self.network.encoding.move_indices(game, moves)

    def _evaluate(self, taken: Sequence[EncodedPosition]) -> tuple[Any, Any]:
        outputs = self.network.outputs(self.network.encoding.to_inputs([seen for seen, _ in taken]))
        values = np.tanh(outputs[:, 0]).astype(np.float64)
        if not self.network.has_priors:
            return values, None
        width = max(len(numbers) for _, numbers in taken)
        priors = np.zeros((len(taken), width))
        for row, (_, numbers) in enumerate(taken):
            priors[row, : len(numbers)] = softmax(outputs[row, 1:][numbers])
        return values, priors


def softmax(numbers: Floats) -> Floats:
    """Return the shares that numbers have of the whole, a row each or one row."""
    powers = np.exp(numbers - numbers.max(axis=-1, keepdims=True))
    shares: Floats = powers / powers.sum(axis=-1, keepdims=True)
    return shares


def load(path: Path | str) -> LearnedEvaluation:
    """Return the evaluation of a file; EvaluationError, naming it, if it cannot be used."""
    return LearnedEvaluation(read(path), f"learned:{path}")
