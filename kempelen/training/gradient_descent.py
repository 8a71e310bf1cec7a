"""Gradient descent on CPUs.

The gradients of a batch are summed in MAX_SLICES slices, and the sums are added in order. The
result is therefore byte-identical for any number of threads. It may differ between machines,
because the last bit of the exponential function may differ.
"""

import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from agent.chess.evaluation.nnue_format import MAX_OUTPUT_WEIGHT, WEIGHT_SCALE
from kempelen.training.checkpoint import Checkpoint
from kempelen.training.dataset_blocks import Packed
from kempelen.training.gradients import (
    TILE,
    Floats,
    GradientWorker,
    NetworkShape,
    Optimizer,
    aligned_rows,
)
from kempelen.training.network_settings import Target, win_probability

# Number of slices of a batch, which is the maximum number of threads.
MAX_SLICES = 8
# Output weights must fit the integers of a network file. Input weights of this size always fit.
MAX_PARAMETER = MAX_OUTPUT_WEIGHT / WEIGHT_SCALE


def training_targets(positions: Packed, target: Target) -> npt.NDArray[np.float64]:
    """Return the target of each position, an expected score from 0 to 1."""
    score_targets = win_probability(positions["score"], target)
    results = (positions["result"].astype(np.float64) + 1) / 2
    mixed: npt.NDArray[np.float64] = (
        target.result_share * results + (1 - target.result_share) * score_targets
    )
    return mixed


class GradientDescent:
    """Trains the network of a checkpoint in place, on several threads.

    `rounded` holds the parameters, rounded as in a network file.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        shape: NetworkShape,
        target: Target,
        decay: float,
        threads: int,
    ) -> None:
        self._shape = shape
        self._target = target
        self._learners = [GradientWorker(shape) for _ in range(MAX_SLICES)]
        self._gradients = aligned_rows(MAX_SLICES, shape.padded_size)
        (self.rounded,) = aligned_rows(1, shape.padded_size)
        self._optimizer = Optimizer(
            *(shape, checkpoint.parameters, self.rounded, checkpoint.means, checkpoint.squares),
            *(decay, MAX_PARAMETER),
        )
        self._optimizer.round(0, shape.padded_size)
        self._threads = min(threads, MAX_SLICES)
        self._pool = ThreadPoolExecutor(self._threads)

    def step(self, batch: Packed, number: int, rate: float) -> float:
        """Train on a batch, and return its mean loss. `number` counts the steps from 1."""
        target, weight = self._target, 1 / len(batch)
        parts = [batch[begin:end] for begin, end in _split_evenly(len(batch), MAX_SLICES)]
        sums = [
            self._pool.submit(learner.add_gradients, part, self.rounded, gradients, target, weight)
            for learner, gradients, part in zip(self._learners, self._gradients, parts, strict=True)
        ]
        loss = sum(future.result() for future in sums) * weight
        futures = [
            self._pool.submit(self._optimizer.step, self._gradients, number, rate, begin, end)
            for begin, end in _split_evenly(self._shape.padded_size, self._threads, TILE)
        ]
        for future in futures:
            future.result()
        return loss

    def outputs(self, positions: Packed) -> Floats:
        """Return the network's output for each position."""
        outputs: Floats = np.zeros(len(positions), np.float32)
        parts = [
            self._pool.submit(
                learner.evaluate, positions[begin:end], self.rounded, outputs[begin:end]
            )
            for learner, (begin, end) in zip(
                self._learners, _split_evenly(len(positions), MAX_SLICES), strict=True
            )
        ]
        for part in parts:
            part.result()
        return outputs

    def close(self) -> None:
        self._pool.shutdown()


def _split_evenly(length: int, parts: int, step: int = 1) -> list[tuple[int, int]]:
    marks = [number * (length // step) // parts * step for number in range(parts)] + [length]
    return list(itertools.pairwise(marks))
