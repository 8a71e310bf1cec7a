"""Training a network of chess: positions in random order, small steps along their gradients.

An output p = sigmoid(score / scale) foretells a target: the game's result and the search's score,
as an expected score, in their shares. What is minimised is the mean of (p - target) ** 2:
least where p is the mean of the targets, which no other power than the second has, and never steep,
so that single positions, misjudged by far, do not decide.

Outputs and gradients are those of the network as a file has it, rounded, while the steps are made
with what it was rounded from (Courbariaux, Bengio and David, 'BinaryConnect', 2015): so the steps
make up for the rounding, and the loss is that of the network which plays.

Who makes the steps is a Descent: kernels on some threads, or PyTorch on a device.
"""

import contextlib
import math
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
from kempelen.training import checkpoint
from kempelen.training.checkpoint import Checkpoint
from kempelen.training.dataset import Packed
from kempelen.training.gradient_descent import (
    CompiledGradientDescent,
    GradientDescent,
    training_targets,
    win_probability,
)
from kempelen.training.gradients import Floats, NetworkShape, aligned_rows
from kempelen.training.manifests import origins, with_opening_counts
from kempelen.training.network_data import DataFile, NetworkData
from kempelen.training.network_settings import Target, TrainingError, TrainingSettings
from kempelen.training.torch_gradient_descent import TorchGradientDescent

LICENCE = "GPL-3.0-or-later"

_INITIALIZATION, _SHUFFLING = range(2)  # what random numbers are for


def shape_of(settings: TrainingSettings) -> NetworkShape:
    """Return the shape of the network that is trained."""
    return NetworkShape(settings.neurons, settings.buckets)


def initial_parameters(shape: NetworkShape, seed: int) -> Floats:
    """Return random weights, normal with the deviation of one over the root of their number."""
    generator = np.random.default_rng((seed, _INITIALIZATION))
    (parameters,) = aligned_rows(1, shape.padded_size)
    parameters[: shape.biases_start] = generator.normal(0, INPUTS**-0.5, shape.biases_start)
    weights = parameters[shape.outputs_start : shape.output_biases_start]
    weights[:] = generator.normal(0, (2 * shape.neurons) ** -0.5, len(weights))
    started: Floats = parameters
    return started


def network_parameters(network: NnueNetwork, shape: NetworkShape, seed: int) -> Floats:
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
    parameters[: shape.biases_start].reshape(INPUTS, -1)[:, :old] = weights["inputs"] / NEURON_SCALE
    parameters[shape.biases_start : shape.outputs_start][:old] = weights["biases"] / NEURON_SCALE
    outputs = parameters[shape.outputs_start : shape.output_biases_start].reshape(
        shape.buckets, 2, -1
    )
    outputs[:] = 0
    outputs[:, :, :old] = weights["outputs"] / WEIGHT_SCALE
    parameters[shape.output_biases_start : shape.size] = weights["output_biases"] / (
        NEURON_SCALE * WEIGHT_SCALE
    )
    return parameters


class BatchStream:
    """Positions without end in batches: all of them in random order, then in another."""

    def __init__(self, positions: Packed, batch: int, seed: int) -> None:
        self._positions = positions
        self._batch = batch
        self._seed = seed
        self._epoch = -1
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
        if turn != self._epoch:
            generator = np.random.default_rng((self._seed, _SHUFFLING, turn))
            self._order = generator.permutation(np.arange(len(self._positions), dtype=np.uint32))
            self._epoch = turn
        return self._order


def create_torch_descent(settings: TrainingSettings, threads: int = 0) -> TorchGradientDescent:
    """Return who makes the steps of a run that names a device; TrainingError if nothing does."""
    assert settings.device is not None
    shape = shape_of(settings)
    return TorchGradientDescent(shape, settings.target, settings.decay, settings.device, threads)


class NetworkTrainer:
    """Trains one network; `run` goes on from a checkpoint, where there is one."""

    def __init__(self, settings: TrainingSettings, data: NetworkData, threads: int) -> None:
        self._settings = settings
        self._data = data
        self._shape = shape_of(settings)
        self._initial = None if settings.initial is None else read(settings.initial)
        self._threads = threads
        self._stream = BatchStream(data.training, settings.batch, settings.seed)
        self.epoch_positions = settings.positions or len(data.training)
        self.epoch_steps = max(round(self.epoch_positions / settings.batch), 1)
        self.steps = settings.epochs * self.epoch_steps

    @property
    def run_settings(self) -> dict[str, Any]:
        """What the network follows from, by names."""
        files = {
            f"{entry}[{number}]": file.identity
            for entry, found in (
                ("data", self._data.files),
                ("validation", self._data.validation_files),
            )
            for number, file in enumerate(found, 1)
        }
        began = {} if self._initial is None else {"initial": self._initial.checksum}
        return self._settings.determining_settings() | files | began

    def _first_parameters(self) -> Floats:
        if self._initial is None:
            return initial_parameters(self._shape, self._settings.seed)
        return network_parameters(self._initial, self._shape, self._settings.seed)

    def run(
        self, report: Callable[[int], None] = lambda step: None
    ) -> Generator[Checkpoint, None, None]:
        """Train; yield the run as it is when it begins or goes on, and after each epoch.

        report: called after each step with its number. Raises TrainingError if the checkpoint
        cannot be used, OSError if it cannot be written.
        """
        path = Path(self._settings.checkpoint_path)
        with contextlib.ExitStack() as stack:
            stack.enter_context(
                lock_or_raise(path, TrainingError, "in use: another process trains with it")
            )
            made = checkpoint.read(path, self.run_settings, self._shape)
            if not made.losses:
                made.parameters[:] = self._first_parameters()
            descent = stack.enter_context(contextlib.closing(self._descent()))
            yield made
            while len(made.losses) < self._settings.epochs:
                rounded = self._train_epoch(made, descent, report)
                if made.best_epoch == len(made.losses):
                    made.best[:] = rounded
                made.write(path)
                yield made

    def _descent(self) -> GradientDescent:
        settings = self._settings
        if settings.device is None:
            return CompiledGradientDescent(
                self._shape, settings.target, settings.decay, self._threads
            )
        return create_torch_descent(settings, self._threads)

    def _train_epoch(
        self, made: Checkpoint, descent: GradientDescent, report: Callable[[int], None]
    ) -> Floats:
        """Make the steps of one epoch, and note its losses; return what was learned, rounded."""
        descent.load(made)
        first = len(made.losses) * self.epoch_steps
        loss = 0.0
        for step in range(first, first + self.epoch_steps):
            loss += descent.step(self._stream[step], step + 1, self._rate(step))
            report(step + 1)
        rounded = descent.store(made)
        judged = self._data.validation
        error = squared_error(descent.outputs(judged), judged, self._settings.target)
        made.losses.append((loss / self.epoch_steps, error))
        return rounded

    def _rate(self, step: int) -> float:
        """Return the rate of a step, from 0: half a cosine from the first to the last."""
        progress = step / max(self.steps - 1, 1)
        final = self._settings.final_rate
        return self._settings.rate * (
            final + (1 - final) * 0.5 * (1 + math.cos(math.pi * progress))
        )

    def check_manifest_size(self, engine: str) -> None:
        """Raise NetworkError unless the network's file has room for all that is to be told of it.

        engine: as `export` takes it.
        """
        epochs = self._settings.epochs
        longest = -float(np.finfo(np.float64).tiny)
        manifest = self._manifest(engine, epochs, [(longest, longest)] * epochs)
        try:
            manifest_text(manifest, self._settings.output)
        except NetworkError as error:
            raise NetworkError(f"{error}; take fewer `epochs`, or merge the files") from None

    def export(self, made: Checkpoint, engine: str) -> NnueNetwork:
        """Return the network as it was after the best epoch. engine: who trains, in which version.

        Raises NetworkError if it cannot be evaluated.
        """
        shape = self._shape
        tempo = self._settings.tempo / SCORE_SCALE
        inputs, biases, outputs, output_biases, _ = np.split(
            made.best,
            [shape.biases_start, shape.outputs_start, shape.output_biases_start, shape.size],
        )
        return NnueNetwork.quantize(
            inputs.reshape(INPUTS, shape.neurons),
            biases,
            outputs.reshape(shape.buckets, 2 * shape.neurons),
            output_biases - tempo,
            self._manifest(engine, made.best_epoch, made.losses),
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
            began = {"checksum": self._initial.checksum, "manifest": self._initial.manifest}
            manifest["initial"] = began
        return manifest


def squared_error(outputs: Floats, positions: Packed, target: Target) -> float:
    """Return the mean squared error of what a network foretells."""
    expected = win_probability(outputs.astype(np.float64) * SCORE_SCALE, target)
    return float(np.mean((expected - training_targets(positions, target)) ** 2))


def describe_sources(
    data: NetworkData, result_share: float, initial: NnueNetwork | None = None
) -> str:
    """Say where positions and scores come from, and those of the network that it went on from."""
    players, scorers = (
        " and ".join(
            dict.fromkeys(
                describe(origin) for file in data.files for origin in origins(file.manifest)
            )
        )
        for describe in (_describe_players, _describe_scorers)
    )
    return (
        f"Positions from games of {players}; scores by {scorers}; "
        f"{result_share:.0%} of what was learned is how the games ended."
        + (f" Before that: {initial.manifest.get('source', 'unknown.')}" if initial else "")
    )


def _describe_players(manifest: dict[str, Any]) -> str:
    return f"Kempelen {manifest.get('engine', 'of an unknown version')} against itself"


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
    """Return what a file says of itself, with the number of its openings in place of them."""
    return {
        "file": file.name,
        "positions": file.positions,
        "games": file.games,
        "digest": file.digest,
        "manifest": with_opening_counts(file.manifest),
    }
