"""Train the network of a variant of chess, which is added to hand-written terms.

The evaluation predicts p = sigmoid(score / scale), and the loss is the mean of (p - target) ** 2.
Games are held out to choose the epoch.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import chess
import numpy as np
import numpy.typing as npt

from agent.chess.evaluation.nnue_features import feature_index, output_bucket
from agent.chess.evaluation.nnue_format import (
    INPUTS,
    MAX_PIECES,
    NEURON_SCALE,
    SCORE_SCALE,
    WEIGHT_SCALE,
    NnueNetwork,
)
from agent.chess.variants import variant_module
from agent.games.variants import board_class
from kempelen.training import adamw
from kempelen.training.checkpoint_file import TrainingError
from kempelen.training.network_settings import Target, win_probability

Floats = npt.NDArray[np.float32]

# Sums of at most 64 pieces fit into 16 bits, and output weights into their integers.
_MAX_INPUT_WEIGHT, _MAX_OUTPUT_WEIGHT = 1.9, 1.95
# One game in this many is held out.
_HELD_OUT = 10
_MAX_ACTIVE = 64  # pieces on the board and in the pockets
_FINAL_RATE_SHARE = 0.02


@dataclass(frozen=True)
class VariantTrainingSettings:
    """The settings of a training run.

    `result_share` is the weight of the result in the target, beside the score of the search.
    `scale` is the score in centipawns at which the win probability is 1 / (1 + 1 / e) = 73%.
    """

    neurons: int = 32
    epochs: int = 4
    batch: int = 1024
    rate: float = 0.001
    decay: float = 0.01
    result_share: float = 0.2
    scale: float = 300
    seed: int = 1


@dataclass(frozen=True)
class VariantPositions:
    """Training positions, one per row.

    `inputs` are the indices of the active inputs, from the perspective of the side to move (0) and
    the other side (1). Unused places are INPUTS. `pieces` are the numbers of pieces on the board.
    `values` are those of the terms beside the network, and `scores` those of the search, both in
    centipawns for the side to move. `results` are 0, 0.5 or 1. `games` are numbers of games.
    """

    inputs: npt.NDArray[np.uint16]
    pieces: npt.NDArray[np.uint8]
    values: Floats
    scores: Floats
    results: Floats
    games: npt.NDArray[np.int32]

    def take(self, rows: npt.NDArray[Any]) -> "VariantPositions":
        return VariantPositions(*(getattr(self, column.name)[rows] for column in fields(self)))


def read_positions(
    path: Path, variant: str, report: Callable[[int], None] = lambda count: None
) -> VariantPositions:
    """Read a text file of self-play, see `variant_selfplay`. Raise TrainingError if it is invalid.

    `report` receives the number of positions read so far.
    """
    kernel_board = variant_module(variant, "board.kernel_board").KernelBoard()
    evaluators = variant_module(variant, "evaluation.evaluators")
    active_features = variant_module(variant, "evaluation.nnue_reference").active_features
    evaluator = evaluators.make_terms_evaluator()
    new_board = board_class(variant)
    inputs, pieces, values, scores, results, games = [], [], [], [], [], []
    game = 0
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    game += 1
                    continue
                try:
                    fen, score, result = line.split(" | ")
                    board = new_board(fen)
                    sign = 1 if board.turn else -1
                    scores.append(sign * int(score))
                    results.append(0.5 + sign * (float(result) - 0.5))
                except ValueError as error:
                    raise TrainingError("{}, line {}: {}", path, number, error) from None
                kernel_board.load(board)
                pieces.append(chess.popcount(board.occupied))
                values.append(evaluator.evaluate(kernel_board))
                inputs.append(_active_inputs(board, active_features))
                games.append(game)
                report(len(games))
    except (OSError, UnicodeDecodeError) as error:
        raise TrainingError("{}: {}", path, error) from None
    if game < _HELD_OUT:
        raise TrainingError("{}: {} games are too few (at least {})", path, game, _HELD_OUT)
    return VariantPositions(
        np.array(inputs, np.uint16), np.array(pieces, np.uint8), np.array(values, np.float32),
        np.array(scores, np.float32), np.array(results, np.float32), np.array(games, np.int32),
    )  # fmt: skip


def _active_inputs(
    board: chess.Board, active_features: Callable[[chess.Board, chess.Color], list[int]]
) -> npt.NDArray[np.uint16]:
    """Return the active inputs as in VariantPositions, with the shape (2, _MAX_ACTIVE)."""
    found = np.full((2, _MAX_ACTIVE), INPUTS, np.uint16)
    for row, view in enumerate((board.turn, not board.turn)):
        features = active_features(board, view)
        found[row, : len(features)] = features
    return found


def _small_parameters(neurons: int, generator: np.random.Generator) -> list[Floats]:
    return [
        generator.normal(0, 0.05, (INPUTS, neurons)).astype(np.float32),
        np.full(neurons, 0.3, np.float32),
        generator.normal(0, 0.02, (1, 2 * neurons)).astype(np.float32),
        np.zeros(1, np.float32),
    ]


def _dequantize(network: NnueNetwork) -> list[Floats]:
    """Return the weights as floats. Inputs that chess does not use begin at 0."""
    weights = network.weights[0]
    inputs = weights["inputs"].astype(np.float32) / NEURON_SCALE
    if "variant" not in network.manifest:
        for side in range(2):
            inputs[feature_index(0, 0, side, 0, np.arange(8))] = 0  # pawns on the first rank
    return [
        inputs,
        weights["biases"].astype(np.float32) / NEURON_SCALE,
        weights["outputs"].astype(np.float32).reshape(network.buckets, -1) / WEIGHT_SCALE,
        weights["output_biases"].astype(np.float32) / (NEURON_SCALE * WEIGHT_SCALE),
    ]


class VariantTrainer:
    """Trains a network with AdamW.

    It starts with the weights of `initial`, or else with almost no effect and one output.
    """

    def __init__(
        self,
        settings: VariantTrainingSettings,
        positions: VariantPositions,
        initial: NnueNetwork | None = None,
    ) -> None:
        self._settings = settings
        held_out = positions.games % _HELD_OUT == 0
        self.training = positions.take(np.flatnonzero(~held_out))
        self.validation = positions.take(np.flatnonzero(held_out))
        generator = np.random.default_rng(settings.seed)
        self._shuffle = generator.permutation
        self.parameters = (
            _dequantize(initial) if initial else _small_parameters(settings.neurons, generator)
        )
        self._means = [np.zeros_like(each) for each in self.parameters]
        self._squares = [np.zeros_like(each) for each in self.parameters]
        self._step = 0
        self._best = [each.copy() for each in self.parameters]
        self.best_epoch = 0  # the initial network

    @property
    def positions(self) -> int:
        """The number of positions, with those of held-out games."""
        return len(self.training.games) + len(self.validation.games)

    @property
    def epoch_steps(self) -> int:
        return max(len(self.training.games) // self._settings.batch, 1)

    def run(
        self, report: Callable[[int], None] = lambda step: None
    ) -> Iterator[tuple[float, float]]:
        """Train; yield the losses of training and of held-out games after each epoch.

        `report` receives the number of each finished step.
        """
        lowest = self.loss(self.validation)
        for epoch in range(1, self._settings.epochs + 1):
            order = self._shuffle(len(self.training.games))
            total = 0.0
            for rows in np.array_split(order, self.epoch_steps):
                gradients, loss = self.gradients(self.training.take(rows))
                self._update(gradients)
                total += loss / self.epoch_steps
                report(self._step)
            validation_loss = self.loss(self.validation)
            if validation_loss < lowest:
                lowest = validation_loss
                self._best = [each.copy() for each in self.parameters]
                self.best_epoch = epoch
            yield total, validation_loss

    def network(self, manifest: dict[str, Any]) -> NnueNetwork:
        """Return the network of `best_epoch`, which has the lowest loss of held-out games."""
        inputs, biases, outputs, output_biases = self._best
        return NnueNetwork.quantize(inputs, biases, outputs, output_biases, manifest)

    def loss(self, positions: VariantPositions) -> float:
        """Return the mean loss, evaluated in batches."""
        parts = np.array_split(
            np.arange(len(positions.games)), len(positions.games) // self._settings.batch + 1
        )
        errors = [self._forward(positions.take(rows))[0] ** 2 for rows in parts]
        return float(np.concatenate(errors).mean())

    def _forward(self, batch: VariantPositions) -> tuple[npt.NDArray[Any], ...]:
        """Return the errors of the predictions, and what the gradients need."""
        inputs, biases, outputs, output_biases = self.parameters
        settings, neurons = self._settings, len(biases)
        count = len(batch.games)
        active = np.zeros((2 * count, INPUTS + 1), np.float32)
        np.add.at(
            active,
            (np.arange(2 * count)[:, None], batch.inputs.reshape(2 * count, -1)),
            np.float32(1),
        )
        active = active[:, :INPUTS]
        sums = (active @ inputs + biases).reshape(count, 2 * neurons)
        clipped = np.clip(sums, 0, 1)
        pieces = np.minimum(batch.pieces.astype(np.int64), MAX_PIECES)
        buckets = output_bucket(pieces, len(output_biases))
        totals = np.einsum("pn,pn->p", clipped * clipped, outputs[buckets])
        scores = batch.values + SCORE_SCALE * (totals + output_biases[buckets])
        target = Target(settings.result_share, settings.scale)
        predicted = win_probability(scores, target).astype(np.float32)
        targets = (1 - settings.result_share) * win_probability(batch.scores, target)
        targets += settings.result_share * batch.results
        errors = (predicted - targets).astype(np.float32)
        return errors, predicted, active, sums, clipped, buckets

    def gradients(self, batch: VariantPositions) -> tuple[list[Floats], float]:
        """Return the gradients of the parameters for a batch, and its loss."""
        errors, predicted, active, sums, clipped, buckets = self._forward(batch)
        _, biases, outputs, output_biases = self.parameters
        count = len(errors)
        factor = 2 * SCORE_SCALE / self._settings.scale / count
        slopes = (errors * predicted * (1 - predicted) * factor).astype(np.float32)
        inner = slopes[:, None] * outputs[buckets] * 2 * clipped * ((sums > 0) & (sums < 1))
        inner = inner.reshape(2 * count, len(biases)).astype(np.float32)
        selected = np.zeros((len(output_biases), count), np.float32)
        selected[buckets, np.arange(count)] = slopes
        gradients = [
            active.T @ inner,
            inner.sum(axis=0),
            selected @ (clipped * clipped),
            selected.sum(axis=1),
        ]
        return gradients, float(np.mean(errors * errors))

    def _update(self, gradients: list[Floats]) -> None:
        self._step += 1
        progress = self._step / (self._settings.epochs * self.epoch_steps)
        rate = adamw.cosine_rate(self._settings.rate, _FINAL_RATE_SHARE, progress)
        for number, gradient in enumerate(gradients):
            parameters = self.parameters[number]
            adamw.update(
                parameters,
                gradient,
                self._means[number],
                self._squares[number],
                step=self._step,
                rate=rate,
                decay=self._settings.decay,
            )
            limit = _MAX_INPUT_WEIGHT if number < 2 else _MAX_OUTPUT_WEIGHT
            np.clip(parameters, -limit, limit, out=parameters)
