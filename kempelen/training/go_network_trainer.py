"""Train the Go network on games with targets (see `kempelen.training.go_selfplay`).

The loss is the cross-entropy of the moves with the visits of the search, plus the squared errors of
the value and of the mean owners. The target of the value is a mixture of the game's result and the
search's value. Each position is seen in a random symmetry. AdamW minimises the loss. Games of
several board sizes can be learned together: the positions of a batch have the same size.
"""

from __future__ import annotations

import contextlib
import io
import math
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from agent.go.network_file import GoNetwork
from agent.go.network_format import (
    CHANNELS,
    CONVOLUTION_ROWS,
    FEATURES,
    INPUTS,
    POOLED,
    STEM_ROWS,
    NetworkShape,
)
from agent.go.network_format import cells as cells_of
from agent.io.file_lock import lock_or_raise
from kempelen.training import adamw, checkpoint_file
from kempelen.training.checkpoint_file import TrainingError

if TYPE_CHECKING:
    from kempelen.training.go_selfplay import GoGame

Floats = npt.NDArray[np.float32]
Batch = tuple[Floats, Floats, Floats, Floats]  # inputs, visits, owners, values

# One in this many games is held out.
HELD_OUT = 20
_MAGIC = b"\x8bKmpGC\r\n"
# The gradients of a batch are the sum of this many parts, which threads compute.
_PARTS = 4
_WARM_UP_STEPS, _FINAL_RATE_SHARE = 200, 0.02
# Weights of the losses: moves, value, owners.
_LOSS_WEIGHTS = (1.0, 1.0, 1.0)
_INITIALIZATION, _SHUFFLING = range(2)  # streams of random numbers


@dataclass(frozen=True, kw_only=True)
class GoTrainingSettings:
    """Settings of training. `result_share` is the share of the result in the value's target."""

    blocks: int = 4
    epochs: int = 10
    batch: int = 128
    rate: float = 2e-3
    decay: float = 0.01
    result_share: float = 0.6
    seed: int = 1


@dataclass(frozen=True)
class Losses:
    """Mean losses, and the share of positions whose most visited move was predicted."""

    moves: float
    value: float
    owners: float
    predicted: float


class Positions:
    """The positions of games on one board size, as inputs and targets of a network."""

    def __init__(self, games: Sequence[GoGame], size: int) -> None:
        from agent.games.go import Go
        from agent.go.kernel_board import KernelBoard, to_kernel_move
        from agent.go.network import CANDIDATE, encode_root

        self.size, points = size, size * size
        count = sum(len(game.targets.visits) for game in games if game.targets)
        self.inputs = np.zeros((count, points, INPUTS), np.float16)
        self.visits = np.zeros((count, points + 1), np.float32)
        self.owners = np.zeros((count, points), np.int8)
        # Columns, for the side to move: result, value of the search, komi of the opponent.
        self.values = np.zeros((count, 3), np.float32)
        board, shape = KernelBoard(), NetworkShape(1)
        rows, columns = np.divmod(np.arange(points), size)
        self.vertices = (rows + 1) * (size + 1) + columns + 1
        point_of = {int(vertex): point for point, vertex in enumerate(self.vertices)}
        number = 0
        for game in games:
            if (targets := game.targets) is None:
                continue
            position = Go(size, targets.komi)
            owners = np.array(targets.owners)
            for ply, move in enumerate(game.moves):
                if (place := ply - game.opening) >= 0:
                    board.load(position)
                    board.use_network(shape, None, position)
                    encode_root(board.worker)
                    at = shape.inputs_at(size, size)
                    inputs = board.network_buffer[at:].reshape(-1, INPUTS)[self.vertices]
                    self.inputs[number] = inputs
                    # -1 marks points where the engine considers no move.
                    visits = self.visits[number]
                    visits[:points] = np.where(inputs[:, CANDIDATE] > 0, 0, -1)
                    total = sum(n for _, n in targets.visits[place])
                    for tried, n in targets.visits[place]:
                        point = point_of.get(to_kernel_move(tried), points)
                        visits[point] = max(float(visits[point]), 0.0) + n / total
                    sign = -1 if position.turn else 1
                    self.owners[number] = sign * owners
                    value = targets.values[place]
                    self.values[number] = sign * game.result, sign * value, sign * targets.komi
                    number += 1
                position.play(move)
        grid = np.arange(points).reshape(size, size)
        symmetries = [np.rot90(each, turns) for each in (grid, grid.T) for turns in range(4)]
        self._symmetries = np.array([each.ravel() for each in symmetries])

    def __len__(self) -> int:
        return len(self.values)

    def batch(
        self, numbers: npt.NDArray[Any], symmetries: npt.NDArray[Any], result_share: float
    ) -> Batch:
        """Return the inputs, visits, owners and values of some positions."""
        count, points = len(numbers), self.size**2
        index = (numbers[:, None], self._symmetries[symmetries])
        inputs = np.zeros((count, cells_of(self.size, self.size), INPUTS), np.float32)
        inputs[:, self.vertices] = self.inputs[index]
        visits = np.empty((count, points + 1), np.float32)
        visits[:, :points] = self.visits[index]
        visits[:, points] = self.visits[numbers, points]
        owners = self.owners[index].astype(np.float32) / 100
        values = np.empty((count, 2), np.float32)
        result, searched, komi = self.values[numbers].T
        values[:, 0] = result_share * result + (1 - result_share) * searched
        values[:, 1] = komi
        return inputs.reshape(count, -1), visits, owners, values


def initial_parameters(shape: NetworkShape, seed: int) -> Floats:
    """Return random parameters. The second convolution of each block begins with small weights."""
    generator = np.random.default_rng((seed, _INITIALIZATION))
    parameters = np.zeros((shape.rows, CHANNELS), np.float32)
    at = 0

    def fill(rows: int, deviation: float, biases: int = 1) -> None:
        nonlocal at
        parameters[at : at + rows] = generator.normal(0, deviation, (rows, CHANNELS))
        at += rows + biases

    fill(STEM_ROWS, math.sqrt(2 / STEM_ROWS))
    for _ in range(shape.blocks):
        fill(CONVOLUTION_ROWS, math.sqrt(2 / CONVOLUTION_ROWS))
        fill(CONVOLUTION_ROWS, 0.3 * math.sqrt(2 / CONVOLUTION_ROWS), 0)
        fill(POOLED, 0.2 * math.sqrt(1 / POOLED))
    fill(CHANNELS, math.sqrt(2 / CHANNELS), 0)
    fill(POOLED, 0.3 * math.sqrt(1 / POOLED))
    fill(4, 0.1 / math.sqrt(CHANNELS), 0)
    parameters[at, 3] = 0.3  # weight of the score in the value
    at += 1
    fill(FEATURES, math.sqrt(1 / FEATURES))
    fill(1, 0.1 / math.sqrt(CHANNELS), 0)
    return parameters.ravel()


class _Part:
    """Gradients of a part of a batch, and the memory to compute them."""

    def __init__(self, shape: NetworkShape, size: int) -> None:
        self._buffer = np.zeros(shape.buffer_size(size, size), np.float32)
        self._slopes = np.zeros(8 * CHANNELS + 2 * cells_of(size, size) * CHANNELS, np.float32)
        self._blocks, self._size = shape.blocks, size
        self.gradients = np.zeros(shape.parameters, np.float32)
        self.losses = np.zeros(4)

    def compute(
        self,
        parameters: Floats,
        transposed: Floats,
        batch: Batch,
        samples: slice,
        factors: npt.NDArray[np.float64],
    ) -> None:
        from kempelen.training.go_network_gradients import add_gradients

        self.gradients[:], self.losses[:] = 0, 0
        inputs, visits, owners, values = batch
        add_gradients(
            parameters,
            transposed,
            self._blocks,
            self.gradients,
            self._buffer,
            self._slopes,
            inputs[samples],
            visits[samples],
            owners[samples],
            values[samples],
            factors,
            self._size,
            self._size,
            self.losses,
        )


class GoNetworkTrainer:
    def __init__(
        self,
        settings: GoTrainingSettings,
        games: Mapping[int, Sequence[GoGame]],
        initial: GoNetwork | None = None,
    ) -> None:
        """Prepare to train on the games of each board size, from `initial` if given.

        Raise TrainingError if there are too few games or the initial network has another shape.
        """
        self._settings = settings
        self._shape = NetworkShape(settings.blocks)
        if initial and initial.shape != self._shape:
            raise TrainingError(
                "the initial network has {} blocks (expected {})",
                initial.shape.blocks,
                settings.blocks,
            )
        self.positions: dict[int, Positions] = {}
        self.held_out: dict[int, Positions] = {}
        for size, played in sorted(games.items()):
            if len(played) < HELD_OUT:
                raise TrainingError(
                    "too few games: {} (expected at least {})", len(played), HELD_OUT
                )
            learned = [game for number, game in enumerate(played, 1) if number % HELD_OUT]
            self.positions[size] = Positions(learned, size)
            self.held_out[size] = Positions(played[HELD_OUT - 1 :: HELD_OUT], size)
            if not len(self.positions[size]) or not len(self.held_out[size]):
                raise TrainingError("the games have no targets (play them with --targets)")
        self._parts = {
            size: [_Part(self._shape, size) for _ in range(_PARTS)] for size in self.positions
        }
        self.epoch_steps = sum(map(self._batches, self.positions))
        if initial:
            self.parameters = initial.parameters.copy()
        else:
            self.parameters = initial_parameters(self._shape, settings.seed)
        self._means = np.zeros_like(self.parameters)
        self._squares = np.zeros_like(self.parameters)

    def _batches(self, size: int) -> int:
        return max(len(self.positions[size]) // self._settings.batch, 1)

    def run(
        self, path: Path, sources: Sequence[str], report: Callable[[int], None] = lambda step: None
    ) -> Generator[list[dict[int, Losses]], None, None]:
        """Train. Resume from the checkpoint at `path` if it exists.

        `sources` identifies the games and the initial network. Yield the losses of the held-out
        games by board size after each epoch, at first those of the finished epochs. Raise
        TrainingError if the checkpoint is unusable.
        """
        made_with = asdict(self._settings) | {"sources": list(sources)}
        with contextlib.ExitStack() as stack:
            stack.enter_context(
                lock_or_raise(path, TrainingError, "in use by another training process")
            )
            history = self._resume(path, made_with)
            yield history
            threads = stack.enter_context(ThreadPoolExecutor(_PARTS))
            while len(history) < self._settings.epochs:
                self._train_epoch(len(history), threads, report)
                losses = {size: self._measure(size, threads) for size in self.held_out}
                history = [*history, losses]
                self._write_checkpoint(path, made_with, history)
                yield history

    def _measure(self, size: int, threads: Executor) -> Losses:
        """Return the losses of held-out games, with the game's result as the value's target."""
        positions, total = self.held_out[size], np.zeros(4)
        for start in range(0, len(positions), self._settings.batch):
            numbers = np.arange(start, min(start + self._settings.batch, len(positions)))
            batch = positions.batch(numbers, np.zeros(len(numbers), np.int64), 1.0)
            total += self.gradients(size, batch, threads)[1] * len(numbers)
        return Losses(*(total / len(positions)).tolist())

    def gradients(
        self, size: int, batch: Batch, threads: Executor
    ) -> tuple[Floats, npt.NDArray[np.float64]]:
        """Return the gradients of the mean loss of a batch, and the losses."""
        from kempelen.training.go_network_gradients import transpose

        count, parts = len(batch[0]), self._parts[size]
        transposed = transpose(self.parameters, self._shape.blocks)
        factors = np.array(_LOSS_WEIGHTS) / count
        bounds = [count * number // _PARTS for number in range(_PARTS + 1)]
        running = [
            threads.submit(
                part.compute, self.parameters, transposed, batch, slice(start, end), factors
            )
            for part, (start, end) in zip(parts, pairwise(bounds), strict=True)
        ]
        for each in running:
            each.result()
        gradients = np.array([part.gradients for part in parts]).sum(axis=0)
        return gradients, np.array([part.losses for part in parts]).sum(axis=0) / count

    def _train_epoch(self, epoch: int, threads: Executor, report: Callable[[int], None]) -> None:
        settings = self._settings
        generator = np.random.default_rng((settings.seed, _SHUFFLING, epoch))
        orders = {size: generator.permutation(len(each)) for size, each in self.positions.items()}
        batches = [
            (size, orders[size][place * settings.batch :][: settings.batch])
            for size in self.positions
            for place in range(self._batches(size))
        ]
        for place, number in enumerate(generator.permutation(len(batches)), 1):
            size, numbers = batches[number]
            symmetries = generator.integers(0, 8, len(numbers))
            batch = self.positions[size].batch(numbers, symmetries, settings.result_share)
            step = epoch * self.epoch_steps + place
            self._apply(self.gradients(size, batch, threads)[0], step)
            report(step)

    def _apply(self, gradients: Floats, step: int) -> None:
        settings = self._settings
        progress = step / (settings.epochs * self.epoch_steps)
        rate = adamw.cosine_rate(settings.rate, _FINAL_RATE_SHARE, progress)
        adamw.update(
            self.parameters,
            gradients,
            self._means,
            self._squares,
            step=step,
            rate=rate * min(1.0, step / _WARM_UP_STEPS),
            decay=settings.decay,
        )

    def network(self, manifest: dict[str, Any]) -> GoNetwork:
        return GoNetwork(self._shape, self.parameters, tuple(self.positions), manifest)

    def _resume(self, path: Path, made_with: dict[str, Any]) -> list[dict[int, Losses]]:
        loaded = checkpoint_file.read(path, _MAGIC, made_with, "use another file with -o")
        if loaded is None:
            return []
        head, content = loaded
        with np.load(io.BytesIO(content)) as arrays:
            for name, target in self._state().items():
                target[:] = arrays[name]
        return [
            {int(size): Losses(*losses) for size, losses in epoch.items()}
            for epoch in head["history"]
        ]

    def _write_checkpoint(
        self, path: Path, made_with: dict[str, Any], history: list[dict[int, Losses]]
    ) -> None:
        buffer = io.BytesIO()
        np.savez(buffer, **self._state())  # type: ignore[arg-type]
        head = {
            "made_with": made_with,
            "history": [
                {size: list(asdict(losses).values()) for size, losses in epoch.items()}
                for epoch in history
            ],
        }
        checkpoint_file.write(path, _MAGIC, head, buffer.getvalue())

    def _state(self) -> dict[str, Floats]:
        return {
            "parameters": self.parameters,
            "means": self._means,
            "squares": self._squares,
        }
