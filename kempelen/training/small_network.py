"""Train the network of `agent.games.policy_value_net` with AdamW.

The loss is the squared error of the value plus the cross-entropy of the move probabilities.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import sqrt

import numpy as np
import numpy.typing as npt

from agent.games.learned_evaluation import softmax
from agent.games.position_encoding import Floats
from kempelen.training import adamw

Layers = list[tuple[Floats, Floats]]

WEIGHT_DECAY = 1e-4
# Weight of the value loss relative to the move loss.
VALUE_WEIGHT = 1.0
# Subtracted from the logits of illegal moves.
_ILLEGAL = np.float32(1e9)


def random_layers(shape: list[int], generator: np.random.Generator) -> Layers:
    """Return random initial layers that output nearly uniform move probabilities."""
    layers = []
    for number, (rows, columns) in enumerate(pairwise(shape)):
        deviation = sqrt(2 / rows) * (0.1 if number == len(shape) - 2 else 1.0)
        matrix = generator.normal(0, deviation, (rows, columns)).astype(np.float32)
        layers.append((matrix, np.zeros(columns, np.float32)))
    return layers


@dataclass(frozen=True)
class TrainingBatch:
    """The positions for one optimizer step. Each array has one row per position.

    `targets` holds move probabilities, and `legal` the masks of legal moves. `values` are for the
    side to move, from -1 to 1.
    """

    inputs: Floats
    targets: Floats
    legal: npt.NDArray[np.bool_]
    values: Floats


class AdamOptimizer:
    """The layers of a network, and their AdamW optimizer. Biases do not decay."""

    def __init__(self, layers: Layers) -> None:
        self.parameters = [part for layer in layers for part in layer]
        self.means = [np.zeros_like(each) for each in self.parameters]
        self.squares = [np.zeros_like(each) for each in self.parameters]
        self.steps = 0

    @property
    def layers(self) -> Layers:
        return list(zip(self.parameters[::2], self.parameters[1::2], strict=True))

    def step(self, examples: TrainingBatch, rate: float) -> tuple[float, float]:
        """Perform one step, and return the value loss and the policy loss before the step."""
        gradients, losses = self.gradients(examples)
        self.steps += 1
        for parameter, gradient, mean, square in zip(
            self.parameters, gradients, self.means, self.squares, strict=True
        ):
            decay = WEIGHT_DECAY if parameter.ndim == 2 else 0.0
            adamw.update(parameter, gradient, mean, square, step=self.steps, rate=rate, decay=decay)
        return losses

    def gradients(self, examples: TrainingBatch) -> tuple[list[Floats], tuple[float, float]]:
        """Return the gradients in the order of the parameters, and (value loss, policy loss)."""
        layers, count = self.layers, len(examples.values)
        activations = [examples.inputs]
        for matrix, biases in layers[:-1]:
            activations.append(np.maximum(activations[-1] @ matrix + biases, 0))
        outputs = activations[-1] @ layers[-1][0] + layers[-1][1]
        values = np.tanh(outputs[:, 0])
        errors = values - examples.values
        slopes = np.empty_like(outputs)
        slopes[:, 0] = 2 * VALUE_WEIGHT * errors * (1 - values * values) / count
        move_loss = 0.0
        if outputs.shape[1] > 1:
            shares = softmax(np.where(examples.legal, outputs[:, 1:], -_ILLEGAL))
            slopes[:, 1:] = (shares - examples.targets) / count
            move_loss = -float((examples.targets * np.log(shares + 1e-9)).sum()) / count
        gradients: list[Floats] = []
        for number in reversed(range(len(layers))):
            gradients += [slopes.sum(axis=0), activations[number].T @ slopes]
            if number:
                slopes = (slopes @ layers[number][0].T) * (activations[number] > 0)
        return gradients[::-1], (float((errors * errors).mean()), move_loss)
