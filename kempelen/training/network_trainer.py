"""Train a chess network by gradient descent on random batches of positions.

The network predicts p = sigmoid(score / scale), and the loss is the mean of (p - target) ** 2.
Outputs and gradients use parameters that are rounded as in a network file, but training steps
change the unrounded parameters (Courbariaux, Bengio and David, 'BinaryConnect', 2015). The exported
network therefore has the reported loss.
"""

import contextlib
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import numpy as np

from agent.chess.evaluation.nnue_format import (
    INPUTS,
    NEURON_SCALE,
    SCORE_SCALE,
    WEIGHT_SCALE,
    NetworkError,
    NnueNetwork,
    manifest_text,
    read,
)
from agent.io.file_lock import lock_or_raise
from kempelen.training.adamw import cosine_rate
from kempelen.training.checkpoint import Checkpoint
from kempelen.training.checkpoint_file import TrainingError
from kempelen.training.dataset_blocks import Packed
from kempelen.training.gradient_descent import GradientDescent, training_targets
from kempelen.training.gradients import Floats, NetworkShape, aligned_rows
from kempelen.training.manifests import origins, with_opening_counts
from kempelen.training.network_data import DataFile, TrainingData
from kempelen.training.network_settings import Target, TrainingSettings, win_probability
from kempelen.training.streamed_positions import StreamedPositions

LICENCE = "GPL-3.0-or-later"

_INITIALIZATION, _SHUFFLING = range(2)  # streams of random numbers


def initial_parameters(shape: NetworkShape, seed: int) -> Floats:
    """Return random weights with a standard deviation of 1 / sqrt(number of inputs)."""
    generator = np.random.default_rng((seed, _INITIALIZATION))
    (parameters,) = aligned_rows(1, shape.padded_size)
    parameters[: shape.biases_start] = generator.normal(0, INPUTS**-0.5, shape.biases_start)
    weights = parameters[shape.outputs_start : shape.output_biases_start]
    weights[:] = generator.normal(0, (2 * shape.neurons) ** -0.5, len(weights))
    initial: Floats = parameters
    return initial


def network_parameters(network: NnueNetwork | None, shape: NetworkShape, seed: int) -> Floats:
    """Return the parameters of a trained network, extended to `shape`, or random parameters.

    Additional neurons have output weights of 0. Raise TrainingError if the network has more neurons
    than `shape` or a different number of outputs.
    """
    parameters = initial_parameters(shape, seed)
    if network is None:
        return parameters
    if network.neurons > shape.neurons or network.buckets != shape.buckets:
        raise TrainingError(
            f"initial: a network {network.shape} requires `neurons: {network.neurons}` or more and "
            f"`buckets: {network.buckets}` (got {shape.neurons} and {shape.buckets})"
        )
    (weights,), n_old = network.weights, network.neurons
    parameters[: shape.biases_start].reshape(INPUTS, -1)[:, :n_old] = (
        weights["inputs"] / NEURON_SCALE
    )
    parameters[shape.biases_start : shape.outputs_start][:n_old] = weights["biases"] / NEURON_SCALE
    outputs = parameters[shape.outputs_start : shape.output_biases_start].reshape(
        shape.buckets, 2, -1
    )
    outputs[:] = 0
    outputs[:, :, :n_old] = weights["outputs"] / WEIGHT_SCALE
    parameters[shape.output_biases_start : shape.size] = weights["output_biases"] / (
        NEURON_SCALE * WEIGHT_SCALE
    )
    return parameters


class BatchStream:
    """An infinite sequence of batches. Positions are reshuffled in every epoch."""

    def __init__(self, positions: Packed | StreamedPositions, batch: int, seed: int) -> None:
        self._positions = positions
        self._batch = batch
        self._seed = seed
        self._epoch = -1
        self._order = np.zeros(0, np.uint32)

    def __getitem__(self, number: int) -> Packed:
        """Return the batch with this number, from 0. Sequential access is fastest."""
        position, parts = number * self._batch, []
        end = position + self._batch
        while position < end:
            epoch, begin = divmod(position, len(self._positions))
            parts.append(self._take(epoch, begin, end - position))
            position += len(parts[-1])
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _take(self, epoch: int, begin: int, count: int) -> Packed:
        if isinstance(self._positions, StreamedPositions):
            return self._positions.take(self._seed, epoch, begin, count)
        indices = self._order_of(epoch)[begin : begin + count]
        taken: Packed = np.take(self._positions, indices)  # indexing is 20 times slower
        return taken

    def _order_of(self, epoch: int) -> Any:
        if epoch != self._epoch:
            generator = np.random.default_rng((self._seed, _SHUFFLING, epoch))
            self._order = generator.permutation(np.arange(len(self._positions), dtype=np.uint32))
            self._epoch = epoch
        return self._order


class NetworkTrainer:
    def __init__(self, settings: TrainingSettings, data: TrainingData, threads: int) -> None:
        self._settings = settings
        self._data = data
        self._shape = NetworkShape(settings.neurons, settings.buckets)
        self._initial = None if settings.initial is None else read(settings.initial)
        self._threads = threads
        self._stream = BatchStream(data.training, settings.batch, settings.seed)
        self.epoch_positions = settings.positions or len(data.training)
        self.epoch_steps = max(round(self.epoch_positions / settings.batch), 1)
        self.steps = settings.epochs * self.epoch_steps

    @property
    def run_settings(self) -> dict[str, Any]:
        """The settings that affect the network, and the identities of the data files.

        `memory` is included only if positions are streamed, because it affects their order.
        """
        files = {
            f"{entry}[{number}]": file.identity
            for entry, found in (
                ("data", self._data.files),
                ("validation", self._data.validation_files),
            )
            for number, file in enumerate(found, 1)
        }
        initial = {} if self._initial is None else {"initial": self._initial.checksum}
        streamed = {}
        if isinstance(self._data.training, StreamedPositions):
            streamed["memory"] = self._settings.memory
        return self._settings.determining_settings() | files | initial | streamed

    def run(
        self, report: Callable[[int], None] = lambda step: None
    ) -> Generator[Checkpoint, None, None]:
        """Train the network. Resume from the checkpoint file if it exists.

        Yield the checkpoint at the start and after each epoch. `report` receives the number of each
        finished step. Raise TrainingError if the checkpoint is unusable, and OSError if writing it
        fails.
        """
        path = Path(self._settings.checkpoint_path)
        with contextlib.ExitStack() as stack:
            stack.enter_context(
                lock_or_raise(path, TrainingError, "in use by another training process")
            )
            run_checkpoint = Checkpoint(self.run_settings, self._shape)
            run_checkpoint.read(path)
            if not run_checkpoint.losses:
                run_checkpoint.parameters[:] = network_parameters(
                    self._initial, self._shape, self._settings.seed
                )
            settings = self._settings
            descent = GradientDescent(
                run_checkpoint, self._shape, settings.target, settings.decay, self._threads
            )
            stack.callback(descent.close)
            yield run_checkpoint
            while len(run_checkpoint.losses) < self._settings.epochs:
                self._train_epoch(run_checkpoint, descent, report)
                if run_checkpoint.best_epoch == len(run_checkpoint.losses):
                    run_checkpoint.best[:] = descent.rounded
                run_checkpoint.write(path)
                yield run_checkpoint

    def _train_epoch(
        self, run_checkpoint: Checkpoint, descent: GradientDescent, report: Callable[[int], None]
    ) -> None:
        first = len(run_checkpoint.losses) * self.epoch_steps
        loss = 0.0
        for step in range(first, first + self.epoch_steps):
            loss += descent.step(self._stream[step], step + 1, self._rate(step))
            report(step + 1)
        validation = self._data.validation
        error = squared_error(descent.outputs(validation), validation, self._settings.target)
        run_checkpoint.losses.append((loss / self.epoch_steps, error))

    def _rate(self, step: int) -> float:
        progress = step / max(self.steps - 1, 1)
        return cosine_rate(self._settings.rate, self._settings.final_rate, progress)

    def check_manifest_size(self, engine: str) -> None:
        """Raise NetworkError if the manifest would be too large for a network file."""
        epochs = self._settings.epochs
        longest = -float(np.finfo(np.float64).tiny)
        manifest = self._manifest(engine, epochs, [(longest, longest)] * epochs)
        try:
            manifest_text(manifest, self._settings.output)
        except NetworkError as error:
            raise NetworkError(f"{error} (use fewer `epochs`, or merge the files)") from None

    def export(self, run_checkpoint: Checkpoint, engine: str) -> NnueNetwork:
        """Return the network of the best epoch. Raise NetworkError if it is unusable.

        `engine` is the name and version of the training program, for the manifest.
        """
        shape = self._shape
        tempo = self._settings.tempo / SCORE_SCALE
        inputs, biases, outputs, output_biases, _ = np.split(
            run_checkpoint.best,
            [shape.biases_start, shape.outputs_start, shape.output_biases_start, shape.size],
        )
        return NnueNetwork.quantize(
            inputs.reshape(INPUTS, shape.neurons),
            biases,
            outputs.reshape(shape.buckets, 2 * shape.neurons),
            output_biases - tempo,
            self._manifest(engine, run_checkpoint.best_epoch, run_checkpoint.losses),
        )

    def _manifest(
        self, engine: str, epoch: int, losses: list[tuple[float, float]]
    ) -> dict[str, Any]:
        manifest: dict[str, Any] = {
            "made by": engine,
            "licence": LICENCE,
            "source": describe_sources(self._data, self._settings.result_share, self._initial),
            "data": [_summary(file) for file in self._data.files],
            "validation": [_summary(file) for file in self._data.validation_files],
            "settings": self._settings.determining_settings() | {"tempo": self._settings.tempo},
            "training positions": len(self._data.training),
            "validation positions": len(self._data.validation),
            "epoch": epoch,
            "losses": losses,
        }
        if self._initial is not None:
            initial = {"checksum": self._initial.checksum, "manifest": self._initial.manifest}
            manifest["initial"] = initial
        return manifest


def squared_error(outputs: Floats, positions: Packed, target: Target) -> float:
    """Return the mean squared error of the predicted win probabilities."""
    expected = win_probability(outputs.astype(np.float64) * SCORE_SCALE, target)
    return float(np.mean((expected - training_targets(positions, target)) ** 2))


def describe_sources(
    data: TrainingData, result_share: float, initial: NnueNetwork | None = None
) -> str:
    """Return a sentence about the origin of the positions, the scores and the initial network."""
    manifests = [origin for file in data.files for origin in origins(file.manifest)]
    engines = [manifest.get("engine", "of an unknown version") for manifest in manifests]
    players = " and ".join(dict.fromkeys(f"Kempelen {name} against itself" for name in engines))
    scorers = " and ".join(dict.fromkeys(map(_describe_scorers, manifests)))
    return (
        f"Positions from games of {players}; scores by {scorers}; "
        f"{result_share:.0%} of what was learned is how the games ended."
        + (f" Before that: {initial.manifest.get('source', 'unknown.')}" if initial else "")
    )


def _describe_scorers(manifest: dict[str, Any]) -> str:
    if scores := manifest.get("scores"):
        ends = [f"depth {scores['depth']}"] if "depth" in scores else []
        if "nodes" in scores or not ends:
            nodes = scores.get("nodes", "unknown")
            ends.append("1 node" if nodes == 1 else f"{nodes} nodes")
        return f"{scores.get('engine')} at {' or '.join(ends)}"
    nodes = manifest.get("rules", {}).get("nodes", "unknown")
    return f"its own search at {nodes} nodes with the evaluation {manifest.get('evaluation')}"


def _summary(file: DataFile) -> dict[str, Any]:
    return {
        "file": file.name,
        "positions": file.positions,
        "games": file.games,
        "digest": file.digest,
        "manifest": with_opening_counts(file.manifest),
    }
