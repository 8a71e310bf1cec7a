"""Training a network of chess: positions in random order, small steps along their gradients.

An output p = sigmoid(score / scale) foretells a target: the game's result and the search's score,
as an expected score, in their shares. What is minimised is the mean of (p - target) ** 2:
least where p is the mean of the targets, which no other power than the second has, and never steep,
so that single positions, misjudged by far, do not decide.

Outputs and gradients are those of the network as a file has it, rounded, while the steps are made
with what it was rounded from (Courbariaux, Bengio and David, 'BinaryConnect', 2015): so the steps
make up for the rounding, and the loss is that of the network which plays.

The gradients of each batch are summed in SLICES parts, and these in their order, so that a run
makes the same network, byte for byte, on however many threads, and however often it was interrupted
(on one machine: another's exponential function may differ in the last bit).
"""

import contextlib
import itertools
import math
import os
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from agent.border.locking import lock
from agent.chess.network_format import (
    INPUTS,
    LARGEST_WEIGHT,
    NEURON_ONE,
    SCORE_ONE,
    WEIGHT_ONE,
    Network,
    read,
)
from training import checkpoint
from training.checkpoint import Checkpoint
from training.gradients import TILE, Floats, Learner, NetworkShape, Optimizer, aligned_rows
from training.network_data import DataFile, NetworkData
from training.network_settings import Target, TrainingError, TrainingSettings
from training.positions import Packed

# Of a batch: the most threads that can learn at a time.
SLICES = 8
# Beyond it an output's weight does not fit into its bits. Sums of inputs so small do anyhow.
LARGEST = LARGEST_WEIGHT / WEIGHT_ONE
LICENCE = "GPL-3.0-or-later"

_START, _ORDER = range(2)  # what random numbers are for


def shape_of(settings: TrainingSettings) -> NetworkShape:
    """Return the shape of the network that is trained."""
    return NetworkShape(settings.neurons, settings.buckets)


def initial_parameters(shape: NetworkShape, seed: int) -> Floats:
    """Return random weights, normal with the deviation of one over the root of their number."""
    generator = np.random.default_rng((seed, _START))
    (parameters,) = aligned_rows(1, shape.padded)
    parameters[: shape.biases] = generator.normal(0, INPUTS**-0.5, shape.biases)
    weights = parameters[shape.outputs : shape.output_biases]
    weights[:] = generator.normal(0, (2 * shape.neurons) ** -0.5, len(weights))
    started: Floats = parameters
    return started


def parameters_of(network: Network, shape: NetworkShape, seed: int) -> Floats:
    """Return the numbers of a trained network, with neurons added that do not yet change it.

    Those begin as random weights that no output listens to. Raises TrainingError if the network
    has more neurons than the shape, or other outputs.
    """
    if network.neurons > shape.neurons or network.buckets != shape.buckets:
        raise TrainingError(
            f"initial: a network {network.shape} goes on with `neurons: {network.neurons}` or more "
            f"and `buckets: {network.buckets}`, not with {shape.neurons} and {shape.buckets}"
        )
    parameters = initial_parameters(shape, seed)
    (weights,), old = network.weights, network.neurons
    parameters[: shape.biases].reshape(INPUTS, -1)[:, :old] = weights["inputs"] / NEURON_ONE
    parameters[shape.biases : shape.outputs][:old] = weights["biases"] / NEURON_ONE
    outputs = parameters[shape.outputs : shape.output_biases].reshape(shape.buckets, 2, -1)
    outputs[:] = 0
    outputs[:, :, :old] = weights["outputs"] / WEIGHT_ONE
    parameters[shape.output_biases : shape.size] = weights["output_biases"] / (
        NEURON_ONE * WEIGHT_ONE
    )
    return parameters


class Stream:
    """Positions without end in batches: all of them in random order, then in another."""

    def __init__(self, positions: Packed, batch: int, seed: int) -> None:
        self._positions = positions
        self._batch = batch
        self._seed = seed
        self._turn = -1
        self._order = np.zeros(0, np.uint32)

    def __getitem__(self, number: int) -> Packed:
        """Return the batch of this number, from 0; those in order are found fastest."""
        first, parts = number * self._batch, []
        end = first + self._batch
        while first < end:
            turn, begin = divmod(first, len(self._positions))
            indices = self._order_of(turn)[begin : begin + end - first]
            parts.append(np.take(self._positions, indices))  # an index is 20 times as slow
            first += len(indices)
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _order_of(self, turn: int) -> Any:
        if turn != self._turn:
            generator = np.random.default_rng((self._seed, _ORDER, turn))
            self._order = generator.permutation(np.arange(len(self._positions), dtype=np.uint32))
            self._turn = turn
        return self._order


class NetworkTrainer:
    """Trains one network; `run` goes on from a checkpoint, where there is one."""

    def __init__(self, settings: TrainingSettings, data: NetworkData, threads: int) -> None:
        self._settings = settings
        self._data = data
        self._shape = shape_of(settings)
        self._initial = None if settings.initial is None else read(settings.initial)
        self._threads = min(threads, SLICES)
        self._learners = [Learner(self._shape) for _ in range(SLICES)]
        self._gradients = aligned_rows(SLICES, self._shape.padded)
        (self._rounded,) = aligned_rows(1, self._shape.padded)
        self._stream = Stream(data.training, settings.batch, settings.seed)
        wanted = settings.positions or len(data.training)
        self.epoch_steps = max(round(wanted / settings.batch), 1)
        self.steps = settings.epochs * self.epoch_steps

    @property
    def made_with(self) -> dict[str, Any]:
        """What the network follows from, by names."""
        files = {
            f"data[{number}]": file.identity for number, file in enumerate(self._data.files, 1)
        }
        began = {} if self._initial is None else {"initial": self._initial.checksum}
        return self._settings.decisive() | files | began

    def _first_parameters(self) -> Floats:
        if self._initial is None:
            return initial_parameters(self._shape, self._settings.seed)
        return parameters_of(self._initial, self._shape, self._settings.seed)

    def run(
        self, report: Callable[[int], None] = lambda step: None
    ) -> Generator[Checkpoint, None, None]:
        """Train; yield the run as it is when it begins or goes on, and after each epoch.

        report: called after each step with its number. Raises TrainingError if the checkpoint
        cannot be used, OSError if it cannot be written.
        """
        path = Path(self._settings.checkpoint_path)
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(lock(os.fspath(path)))
            except BlockingIOError:
                raise TrainingError(f"{path} is in use: another process trains with it") from None
            made = checkpoint.read(path, self.made_with, self._shape)
            if not made.losses:
                made.parameters[:] = self._first_parameters()
            pool = stack.enter_context(ThreadPoolExecutor(self._threads))
            yield made
            while len(made.losses) < self._settings.epochs:
                self._learn(made, pool, report)
                if made.best_epoch == len(made.losses):
                    made.best[:] = self._rounded
                made.write(path)
                yield made

    def _learn(
        self, made: Checkpoint, pool: ThreadPoolExecutor, report: Callable[[int], None]
    ) -> None:
        """Make the steps of one epoch, and note its losses."""
        optimizer = Optimizer(
            *(self._shape, made.parameters, self._rounded, made.means, made.squares),
            *(self._settings.decay, LARGEST),
        )
        optimizer.round(0, self._shape.padded)
        first = len(made.losses) * self.epoch_steps
        loss = 0.0
        for step in range(first, first + self.epoch_steps):
            loss += self._add_gradients(self._stream[step], pool)
            rate = self._rate(step)
            parts = _bounds(self._shape.padded, self._threads, TILE)
            moves = [
                pool.submit(optimizer.step, self._gradients, step + 1, rate, begin, end)
                for begin, end in parts
            ]
            for move in moves:
                move.result()
            report(step + 1)
        made.losses.append((loss / self.epoch_steps, self._validation_loss(pool)))

    def _rate(self, step: int) -> float:
        """Return the rate of a step, from 0: half a cosine from the first to the last."""
        progress = step / max(self.steps - 1, 1)
        final = self._settings.final_rate
        return self._settings.rate * (
            final + (1 - final) * 0.5 * (1 + math.cos(math.pi * progress))
        )

    def _add_gradients(self, batch: Packed, pool: ThreadPoolExecutor) -> float:
        """Set the slices' gradients to those of a batch; return its mean loss."""
        target, weight = self._settings.target, 1 / len(batch)
        bounds = _bounds(len(batch), SLICES)
        sums = [
            pool.submit(
                learner.add_gradients, batch[begin:end], self._rounded, gradients, target, weight
            )
            for learner, gradients, (begin, end) in zip(
                self._learners, self._gradients, bounds, strict=True
            )
        ]
        return sum(each.result() for each in sums) * weight

    def _validation_loss(self, pool: ThreadPoolExecutor) -> float:
        positions = self._data.validation
        outputs = np.zeros(len(positions), np.float32)
        parts = [
            pool.submit(learner.evaluate, positions[begin:end], self._rounded, outputs[begin:end])
            for learner, (begin, end) in zip(
                self._learners, _bounds(len(positions), SLICES), strict=True
            )
        ]
        for part in parts:
            part.result()
        return squared_error(outputs, positions, self._settings.target)

    def export(self, made: Checkpoint, engine: str) -> Network:
        """Return the network as it was after the best epoch. engine: who trains, in which version.

        Raises NetworkError if it cannot be evaluated.
        """
        manifest: dict[str, Any] = {
            "made by": engine,
            "licence": LICENCE,
            "source": source(self._data, self._settings.result_share, self._initial),
            "data": [_summary(file) for file in self._data.files],
            "settings": self._settings.decisive(),
            "training positions": len(self._data.training),
            "validation positions": len(self._data.validation),
            "epoch": made.best_epoch,
            "losses": made.losses,
        }
        if self._initial is not None:
            began = {"checksum": self._initial.checksum, "manifest": self._initial.manifest}
            manifest["initial"] = began
        shape = self._shape
        inputs, biases, outputs, output_biases, _ = np.split(
            made.best, [shape.biases, shape.outputs, shape.output_biases, shape.size]
        )
        return Network.of(
            inputs.reshape(INPUTS, shape.neurons),
            biases,
            outputs.reshape(shape.buckets, 2 * shape.neurons),
            output_biases,
            manifest,
        )


def squared_error(outputs: Floats, positions: Packed, target: Target) -> float:
    """Return the mean squared error of what a network foretells."""
    expected, searched = (
        0.5 + 0.5 * np.tanh(centipawns / target.scale / 2)  # which is 1 / (1 + exp(-x))
        for centipawns in (outputs.astype(np.float64) * SCORE_ONE, positions["score"])
    )
    results = (positions["result"].astype(np.float64) + 1) / 2
    targets = target.result_share * results + (1 - target.result_share) * searched
    return float(np.mean((expected - targets) ** 2))


def source(data: NetworkData, result_share: float, initial: Network | None = None) -> str:
    """Say where positions and scores come from, and those of the network that it went on from."""
    players, scorers = (
        " and ".join(dict.fromkeys(describe(file.manifest) for file in data.files))
        for describe in (_players, _scorers)
    )
    return (
        f"Positions from games of {players}; scores by {scorers}; "
        f"{result_share:.0%} of what was learned is how the games ended."
        + (f" Before that: {initial.manifest.get('source', 'unknown.')}" if initial else "")
    )


def _players(manifest: dict[str, Any]) -> str:
    return f"Kempelen {manifest.get('engine', 'of an unknown version')} against itself"


def _scorers(manifest: dict[str, Any]) -> str:
    if scores := manifest.get("scores"):
        return f"{scores.get('engine')} at {scores.get('nodes')} nodes"
    nodes = manifest.get("rules", {}).get("nodes", "unknown")
    return f"its own search at {nodes} nodes with the evaluation {manifest.get('evaluation')}"


def _summary(file: DataFile) -> dict[str, Any]:
    """Return what a file says of itself, with the number of its openings in place of them."""
    said = dict(file.manifest)
    said["openings"] = len(said.get("openings", ()))
    return {
        "file": file.name,
        "positions": file.positions,
        "games": file.games,
        "digest": file.digest,
        "manifest": said,
    }


def _bounds(length: int, parts: int, step: int = 1) -> list[tuple[int, int]]:
    """Divide a length, in multiples of a step, into parts of about the same size."""
    marks = [number * (length // step) // parts * step for number in range(parts)] + [length]
    return list(itertools.pairwise(marks))
