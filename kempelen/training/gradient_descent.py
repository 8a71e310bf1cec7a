"""How the numbers of a network come nearer to what batches of positions say: steps on processors.

The gradients of each batch are summed in SLICES parts, and these in their order, so that a run
makes the same network, byte for byte, on however many threads, and however often it was interrupted
(on one machine: another's exponential function may differ in the last bit).
"""

import itertools
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from agent.chess.evaluation.nnue_format import MAX_OUTPUT_WEIGHT, WEIGHT_SCALE
from kempelen.training.checkpoint import Checkpoint
from kempelen.training.dataset import Packed
from kempelen.training.gradients import (
    TILE,
    Floats,
    GradientWorker,
    NetworkShape,
    Optimizer,
    aligned_rows,
)
from kempelen.training.network_settings import Target

# Of a batch: the most threads that can learn at a time.
MAX_SLICES = 8
# Beyond it an output's weight does not fit into its bits. Sums of inputs so small do anyhow.
MAX_PARAMETER = MAX_OUTPUT_WEIGHT / WEIGHT_SCALE


def training_targets(positions: Packed, target: Target) -> npt.NDArray[np.float64]:
    """Return what is to be foretold of each position: a chance to win."""
    searched = win_probability(positions["score"], target)
    results = (positions["result"].astype(np.float64) + 1) / 2
    mixed: npt.NDArray[np.float64] = (
        target.result_share * results + (1 - target.result_share) * searched
    )
    return mixed


def win_probability(centipawns: npt.NDArray[Any], target: Target) -> npt.NDArray[np.float64]:
    """Return the chances to win that scores mean: 1 / (1 + exp(-score / scale))."""
    found: npt.NDArray[np.float64] = 0.5 + 0.5 * np.tanh(centipawns / target.scale / 2)
    return found


class GradientDescent(Protocol):
    """Steps along gradients, with the numbers that they change wherever they are fastest changed.

    `begin`, any number of `step`, `finish`; then `outputs`.
    """

    def load(self, made: Checkpoint) -> None:
        """Take up a run: what it has learned, and the gradients' means."""

    def step(self, batch: Packed, number: int, rate: float) -> float:
        """Make the step of this number, from 1, for a batch; return its mean error."""

    def store(self, made: Checkpoint) -> Floats:
        """Put down what has been learned; return it as a network's file has it, rounded."""

    def outputs(self, positions: Packed) -> Floats:
        """Return what the network, as it was put down, says of each position."""

    def close(self) -> None:
        """Let go of threads and memory."""


class CompiledGradientDescent:
    """Steps that kernels make, on some threads."""

    def __init__(self, shape: NetworkShape, target: Target, decay: float, threads: int) -> None:
        self._shape = shape
        self._target = target
        self._decay = decay
        self._learners = [GradientWorker(shape) for _ in range(MAX_SLICES)]
        self._gradients = aligned_rows(MAX_SLICES, shape.padded_size)
        (self._rounded,) = aligned_rows(1, shape.padded_size)
        self._threads = min(threads, MAX_SLICES)
        self._pool = ThreadPoolExecutor(self._threads)

    def load(self, made: Checkpoint) -> None:
        """Take up a run."""
        self._optimizer = Optimizer(
            *(self._shape, made.parameters, self._rounded, made.means, made.squares),
            *(self._decay, MAX_PARAMETER),
        )
        self._optimizer.round(0, self._shape.padded_size)

    def step(self, batch: Packed, number: int, rate: float) -> float:
        """Make a step."""
        target, weight = self._target, 1 / len(batch)
        parts = [batch[begin:end] for begin, end in _split_evenly(len(batch), MAX_SLICES)]
        sums = [
            self._pool.submit(learner.add_gradients, part, self._rounded, gradients, target, weight)
            for learner, gradients, part in zip(self._learners, self._gradients, parts, strict=True)
        ]
        loss = sum(each.result() for each in sums) * weight
        moves = [
            self._pool.submit(self._optimizer.step, self._gradients, number, rate, begin, end)
            for begin, end in _split_evenly(self._shape.padded_size, self._threads, TILE)
        ]
        for move in moves:
            move.result()
        return loss

    def store(self, made: Checkpoint) -> Floats:
        """Return what has been learned, rounded: the run's own numbers are what steps changed."""
        rounded: Floats = self._rounded
        return rounded

    def outputs(self, positions: Packed) -> Floats:
        """Return what the network says of each position."""
        outputs: Floats = np.zeros(len(positions), np.float32)
        parts = [
            self._pool.submit(
                learner.evaluate, positions[begin:end], self._rounded, outputs[begin:end]
            )
            for learner, (begin, end) in zip(
                self._learners, _split_evenly(len(positions), MAX_SLICES), strict=True
            )
        ]
        for part in parts:
            part.result()
        return outputs

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown()


def _split_evenly(length: int, parts: int, step: int = 1) -> list[tuple[int, int]]:
    """Divide a length, in multiples of a step, into parts of about the same size."""
    marks = [number * (length // step) // parts * step for number in range(parts)] + [length]
    return list(itertools.pairwise(marks))
