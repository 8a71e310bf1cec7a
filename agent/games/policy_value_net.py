"""A small network that was learned for a game: what a position is worth, and which moves promise.

Inputs (agent.games.position_encoding) -> any number of layers of rectified neurons -> a value from -1 to 1,
and a number for each move of the vocabulary, of which the legal ones' softmax are the priors. One
without layers and moves is a weighted sum of features.

The file is a container (agent.io.container): its head is the manifest (the game, what is
learned, how), its content the parameters as 16-bit floats.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from agent.evaluation_types import EvaluationError
from agent.games.position_encoding import Floats, PositionEncoding, from_json
from agent.io.container import Container, ContainerFormat
from agent.io.files import read_bytes, replace_atomically

_FORMAT = ContainerFormat(b"\x8bKmpLE\r\n")
_MAX_BYTES = 1 << 26
# What any sum of an evaluation may come to: some of 32-bit floats is left for their rounding.
_MAX_WEIGHT_SUM = 1e38


@dataclass(frozen=True, eq=False)
class PolicyValueNet:
    """What was learned of a game.

    game, options: which. layers: a matrix and its biases each, from the inputs on; the last is of
    the outputs: the value's, then the moves', if any. manifest: how it was learned.

    No position makes it overflow: ValueError for weights by which one could.
    """

    game: str
    options: dict[str, Any]
    encoding: PositionEncoding
    layers: list[tuple[Floats, Floats]]
    manifest: dict[str, Any]

    def __post_init__(self) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            greatest = np.full(self.encoding.inputs, self.encoding.max_input, np.float32)
            for matrix, biases in self.layers:
                greatest = greatest @ np.abs(matrix) + np.abs(biases)
        if not (greatest <= _MAX_WEIGHT_SUM).all():
            raise ValueError("its weights are so large that their sums may overflow")

    @property
    def has_priors(self) -> bool:
        """Whether it tells which moves promise."""
        return self.layers[-1][1].size > 1

    def outputs(self, inputs: Floats) -> Floats:
        """Return the value, before it is limited, and the moves' numbers, a row a position."""
        for matrix, biases in self.layers[:-1]:
            inputs = inputs @ matrix
            inputs += biases
            np.maximum(inputs, 0, out=inputs)
        matrix, biases = self.layers[-1]
        return inputs @ matrix + biases

    def write(self, path: Path) -> None:
        """Write the file; raises OSError, and leaves what was there, if that fails."""
        said = {
            "game": self.game,
            "options": self.options,
            "encoding": self.encoding.as_json(),
            "shape": layer_sizes(self.layers),
            "learned": self.manifest,
        }
        numbers = b"".join(part.astype("<f2").tobytes() for layer in self.layers for part in layer)
        replace_atomically(path, _FORMAT.pack(json.dumps(said), numbers))


def layer_sizes(layers: list[tuple[Floats, Floats]]) -> list[int]:
    """Return how many numbers there are before each layer, and behind the last."""
    return [layers[0][0].shape[0], *(biases.size for _, biases in layers)]


def read(path: Path | str) -> PolicyValueNet:
    """Return the network of a file; EvaluationError, naming the file, if it holds none."""
    remedy = "make another with kempelen lab learn"
    try:
        file = Container(_FORMAT, memoryview(read_bytes(path, _MAX_BYTES)))
    except OSError as error:
        reason = error.strerror or str(error)
        raise EvaluationError(f"evaluation learned:{path}: {reason}") from None
    if not file.has_magic:
        raise EvaluationError(f"{path} is nothing that kempelen lab learn has written: {remedy}")
    if not file.is_intact:
        raise EvaluationError(f"{path} is damaged: {remedy}")
    try:
        said = json.loads(file.header)
        encoding = from_json(said["encoding"])
        shape = [int(each) for each in said["shape"]]
        if len(shape) < 2 or min(shape) < 1 or not isinstance(said["options"], dict):
            raise ValueError("it tells of no network")
        numbers = np.frombuffer(file.content, "<f2").astype(np.float32)
        layers, start = [], 0
        for rows, columns in pairwise(shape):
            matrix = numbers[start : start + rows * columns].reshape(rows, columns)
            start += rows * columns
            layers.append((matrix, numbers[start : start + columns].reshape(columns)))
            start += columns
        fits = start == numbers.size and shape[0] == encoding.inputs
        if not fits or shape[-1] not in (1, 1 + encoding.outputs):
            raise ValueError("its numbers do not fit together")
        if not np.isfinite(numbers).all():
            raise ValueError("a weight is infinite, or no number")
        return PolicyValueNet(said["game"], said["options"], encoding, layers, said["learned"])
    except (KeyError, OverflowError, RecursionError, TypeError, ValueError) as error:
        raise EvaluationError(f"{path} cannot be used ({error}): {remedy}") from None
