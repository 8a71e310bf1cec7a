"""Evaluations that judge many positions at once: what they are given, and what they answer."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from agent.evaluation_types import Evaluation, EvaluationError, evaluation_failure
from agent.game import HasFeatures
from agent.games.batch_evaluation import BatchEvaluation, EncodedPosition
from agent.io.user_code import is_keyboard_interrupt

Values = npt.NDArray[np.float64]
Priors = npt.NDArray[np.float64]


class PaddedMoves:
    """What batches share whose moves are numbers: rows as wide as the most legal moves need."""

    moves: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def width(self) -> int:
        """The most legal moves of a position."""
        return int(self.moves.shape[1])


class Batch(Protocol):
    """Positions for an evaluation to judge."""

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """How many legal moves each has."""

    @property
    def width(self) -> int:
        """The most legal moves of one."""


@dataclass(frozen=True)
class GameBatch:
    """Positions of any game: what a user's batched evaluation takes, but in chess.

    turns: who is to move, 0 or 1, by position. moves: the legal moves of each, in the game's order.
    counts: how many those are. features: where the game has `features()`, what that returns of
    each, in an array with one dimension more; None in other games. games: the positions themselves
    there, which are not to be changed; none where there are features.
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
        """The most legal moves of a position."""
        return int(self.counts.max())


def game_batch_evaluation(evaluation: Evaluation) -> BatchEvaluation:
    """Return a batched evaluation that takes a `GameBatch`."""

    def take(game: Any, moves: list[Any]) -> EncodedPosition:
        seen = game.features() if isinstance(game, HasFeatures) else deepcopy(game)
        return seen, isinstance(game, HasFeatures), game.turn, moves

    def answer(taken: Sequence[EncodedPosition]) -> tuple[Values, Priors | None]:
        seen, featured, turns, moves = zip(*taken, strict=True)
        batch = GameBatch(
            np.array(turns, np.int64),
            [list(each) for each in moves],  # the search goes on with its own
            np.array([len(each) for each in moves], np.int64),
            np.stack(seen) if featured[0] else None,
            [] if featured[0] else list(seen),
        )
        return evaluate_batch(evaluation, batch)

    return BatchEvaluation(take, answer, evaluation.batch)


def evaluate_batch(evaluation: Evaluation, batch: Batch) -> tuple[Values, Priors | None]:
    """Return what a batched evaluation says of a batch: values, and priors where it tells them.

    A row of priors has as many numbers as the batch is wide; those of the moves sum to 1, and the
    others are 0. Raises EvaluationError for what it raises, and for an answer that cannot be.
    """
    assert evaluation.python is not None, "a batched evaluation is a plain function"
    name, counts, width = evaluation.name, batch.counts.copy(), batch.width
    try:
        returned = evaluation.python(batch)
        priors = None
        if isinstance(returned, list) and all(isinstance(each, np.ndarray) for each in returned):
            returned = tuple(returned)  # as ONNX's sessions return their outputs
        if isinstance(returned, tuple):
            if len(returned) != 2:
                raise EvaluationError(
                    f"evaluation {name} returned {len(returned)} things: values are needed, or "
                    "(values, priors)"
                )
            returned, priors = returned
        values = _checked_array(name, "values", returned, (len(counts),))
        if priors is None:
            return values, None
        priors = _checked_array(name, "priors", priors, (len(counts), width), counts)
    except EvaluationError:
        raise
    except BaseException as error:  # a user's code may even exit
        if is_keyboard_interrupt(error):
            raise
        raise evaluation_failure(name, error) from error
    greatest = priors.max(axis=1, initial=0.0)
    greatest[counts == 0] = 1.0  # a position without moves has none to tell of
    if (priors < 0).any() or not (greatest > 0).all():
        raise EvaluationError(
            f"evaluation {name} returned priors below 0, or a position's that are all 0: numbers "
            "from 0 are needed, such as those of softmax"
        )
    priors /= greatest[:, None]  # their sum may be beyond all floats
    sums = priors.sum(axis=1)
    sums[counts == 0] = 1.0
    return values, priors / sums[:, None]


def _checked_array(
    name: str,
    what: str,
    returned: Any,
    shape: tuple[int, ...],
    counts: npt.NDArray[np.int64] | None = None,
) -> npt.NDArray[np.float64]:
    """Return what was returned as numbers; EvaluationError if they are not, or of another shape.

    counts: how many of each row count; the others become 0.
    """
    try:
        array = np.asarray(returned)
    except ValueError:
        raise EvaluationError(
            f"evaluation {name} returned {what} whose rows differ in length: the shape {shape} is "
            "needed"
        ) from None
    if array.dtype.kind not in "iuf":
        raise EvaluationError(
            f"evaluation {name} returned {what} of the type {array.dtype}: real numbers are needed"
        )
    if array.shape != shape:
        raise EvaluationError(
            f"evaluation {name} returned {what} of the shape {array.shape}, where {shape} is needed"
        )
    numbers = array.astype(np.float64)
    if counts is not None:
        numbers[np.arange(shape[1]) >= counts[:, None]] = 0
    if not np.isfinite(numbers).all():
        wrong = numbers[~np.isfinite(numbers)][0]
        raise EvaluationError(
            f"evaluation {name} returned {wrong} among its {what}: finite numbers are needed "
            "(wins and losses outrank every evaluation by themselves)"
        )
    return numbers
