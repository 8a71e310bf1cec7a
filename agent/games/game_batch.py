"""Batches of game positions, and validation of the results of batched evaluations."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from agent.evaluation_types import Evaluation, EvaluationError, evaluation_failure
from agent.game import HasFeatures
from agent.games.batch_evaluation import BatchEvaluation, EncodedPosition
from agent.io.message import Message
from agent.io.user_code import is_keyboard_interrupt

Values = npt.NDArray[np.float64]
Priors = npt.NDArray[np.float64]


class PaddedMoves:
    """Base class of batches whose moves are integers, in rows that are padded to equal length."""

    moves: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def width(self) -> int:
        """The largest number of legal moves in any position of the batch."""
        return int(self.moves.shape[1])


class Batch(Protocol):
    """A batch of positions to evaluate."""

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """The number of legal moves in each position."""

    @property
    def width(self) -> int:
        """The largest number of legal moves in any position of the batch."""


@dataclass(frozen=True)
class GameBatch:
    """A batch of positions of any game except chess and Go.

    - `turns`: the player to move in each position, 0 or 1.
    - `moves`: the legal moves in each position, in the order of `game.moves()`.
    - `counts`: the number of legal moves in each position.
    - `features`: the stacked arrays of `game.features()`, or None if the game has no such method.
    - `games`: read-only copies of the positions if `features` is None, otherwise empty.
    """

    turns: npt.NDArray[np.int64]
    moves: list[list[Any]]
    counts: npt.NDArray[np.int64]
    features: npt.NDArray[Any] | None
    games: list[Any]

    def __len__(self) -> int:
        return len(self.moves)

    @property
    def width(self) -> int:
        """The largest number of legal moves in any position of the batch."""
        return int(self.counts.max())


def game_batch_evaluation(evaluation: Evaluation) -> BatchEvaluation:
    """Convert a user's evaluation of `GameBatch` objects to a `BatchEvaluation`."""

    def encode(game: Any, moves: list[Any]) -> EncodedPosition:
        content = game.features() if isinstance(game, HasFeatures) else deepcopy(game)
        return content, isinstance(game, HasFeatures), game.turn, moves

    def evaluate(positions: Sequence[EncodedPosition]) -> tuple[Values, Priors | None]:
        contents, has_features, turns, moves = zip(*positions, strict=True)
        batch = GameBatch(
            np.array(turns, np.int64),
            [list(legal) for legal in moves],  # copies: the search still uses the original lists
            np.array([len(legal) for legal in moves], np.int64),
            np.stack(contents) if has_features[0] else None,
            [] if has_features[0] else list(contents),
        )
        return evaluate_batch(evaluation, batch)

    return BatchEvaluation(encode, evaluate, evaluation.batch)


def evaluate_batch(evaluation: Evaluation, batch: Batch) -> tuple[Values, Priors | None]:
    """Run a batched evaluation. Return the values, and the priors or None.

    The priors have shape (n, width) for n positions. Each row sums to 1 over the legal moves, and
    the padding is 0. Raise EvaluationError if the evaluation fails or returns an invalid result.
    """
    assert evaluation.python is not None, "a batched evaluation is a plain function"
    name, counts, width = evaluation.name, batch.counts.copy(), batch.width
    try:
        returned = evaluation.python(batch)
        priors = None
        if isinstance(returned, list) and all(isinstance(part, np.ndarray) for part in returned):
            returned = tuple(returned)  # ONNX sessions return a list of outputs
        if isinstance(returned, tuple):
            if len(returned) != 2:
                raise EvaluationError(
                    "evaluation {}: returned {} items (expected values, or values and priors)",
                    name,
                    len(returned),
                )
            returned, priors = returned
        values = _checked_array(name, Message("values"), returned, (len(counts),))
        if priors is None:
            return values, None
        priors = _checked_array(name, Message("priors"), priors, (len(counts), width), counts)
    except EvaluationError:
        raise
    except BaseException as error:  # user code may even call sys.exit()
        if is_keyboard_interrupt(error):
            raise
        raise evaluation_failure(name, error) from error
    maxima = priors.max(axis=1, initial=0.0)
    maxima[counts == 0] = 1.0  # a position without moves has no priors
    if (priors < 0).any() or not (maxima > 0).all():
        raise EvaluationError(
            "evaluation {}: priors must not be negative, or all 0 for a position "
            "(expected probabilities such as those of softmax)",
            name,
        )
    priors /= maxima[:, None]  # scale first: their sum may overflow
    sums = priors.sum(axis=1)
    sums[counts == 0] = 1.0
    return values, priors / sums[:, None]


def _checked_array(
    name: str,
    label: str,
    returned: Any,
    shape: tuple[int, ...],
    counts: npt.NDArray[np.int64] | None = None,
) -> npt.NDArray[np.float64]:
    """Convert a result to a float64 array. Raise EvaluationError if its type or shape is wrong.

    If `counts` is given, entries of row i from `counts[i]` on are set to 0.
    """
    try:
        array = np.asarray(returned)
    except ValueError:
        raise EvaluationError(
            "evaluation {}: rows of {} differ in length (expected shape {})", name, label, shape
        ) from None
    if array.dtype.kind not in "iuf":
        raise EvaluationError(
            "evaluation {}: {} have type {} (expected real numbers)", name, label, array.dtype
        )
    if array.shape != shape:
        raise EvaluationError(
            "evaluation {}: {} have shape {} (expected {})", name, label, array.shape, shape
        )
    numbers = array.astype(np.float64)
    if counts is not None:
        numbers[np.arange(shape[1]) >= counts[:, None]] = 0
    if not np.isfinite(numbers).all():
        invalid = numbers[~np.isfinite(numbers)][0]
        raise EvaluationError(
            "evaluation {}: {} contain {} (expected finite numbers; wins and losses "
            "always outrank evaluations)",
            name,
            label,
            invalid,
        )
    return numbers
