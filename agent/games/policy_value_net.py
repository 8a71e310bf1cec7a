"""A feed-forward network that returns the value of a position and the priors of its moves.

The inputs (`agent.games.position_encoding`) pass through any number of ReLU layers. The last layer
returns the value before tanh, and optionally one logit per move. The priors are the softmax of the
logits of the legal moves.

A network file is a container (`agent.io.container`). Its header is JSON with the game, encoding and
training, and its content is the parameters as 16-bit floats.
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
from agent.io.message import Message

_FORMAT = ContainerFormat(b"\x8bKmpLE\r\n")
_MAX_BYTES = 1 << 26
# Maximum absolute value of any sum in the network. The margin below the largest 32-bit float allows
# for rounding.
_MAX_WEIGHT_SUM = 1e38


@dataclass(frozen=True, eq=False)
class PolicyValueNet:
    """A trained network. Raise ValueError if the weights are so large that a sum may overflow.

    - `game`, `options`: the game for which the network was trained.
    - `layers`: the weight matrix and biases of each layer.
    - `manifest`: a description of the training.
    """

    game: str
    options: dict[str, Any]
    encoding: PositionEncoding
    layers: list[tuple[Floats, Floats]]
    manifest: dict[str, Any]

    def __post_init__(self) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            bound = np.full(self.encoding.inputs, self.encoding.max_input, np.float32)
            for matrix, biases in self.layers:
                bound = bound @ np.abs(matrix) + np.abs(biases)
        if not (bound <= _MAX_WEIGHT_SUM).all():
            raise ValueError("weights are too large (their sums may overflow)")

    @property
    def has_priors(self) -> bool:
        """Whether the network has outputs for moves."""
        return self.layers[-1][1].size > 1

    def outputs(self, inputs: Floats) -> Floats:
        """Return the value before tanh and the logits of the moves, one row per position."""
        for matrix, biases in self.layers[:-1]:
            inputs = inputs @ matrix
            inputs += biases
            np.maximum(inputs, 0, out=inputs)
        matrix, biases = self.layers[-1]
        return inputs @ matrix + biases

    def write(self, path: Path) -> None:
        """Write the network to a file atomically. Raise OSError on failure."""
        header = {
            "game": self.game,
            "options": self.options,
            "encoding": self.encoding.as_json(),
            "shape": layer_sizes(self.layers),
            "learned": self.manifest,
        }
        numbers = b"".join(part.astype("<f2").tobytes() for layer in self.layers for part in layer)
        replace_atomically(path, _FORMAT.pack(json.dumps(header), numbers))


def layer_sizes(layers: list[tuple[Floats, Floats]]) -> list[int]:
    """Return the number of inputs, then the number of outputs of each layer."""
    return [layers[0][0].shape[0], *(biases.size for _, biases in layers)]


def read(path: Path | str) -> PolicyValueNet:
    """Read a network from a file. Raise EvaluationError if the file is invalid."""
    remedy = Message("create a new one with kempelen lab learn")
    try:
        file = Container(_FORMAT, memoryview(read_bytes(path, _MAX_BYTES)))
    except OSError as error:
        raise EvaluationError("evaluation learned:{}: {}", path, error) from None
    if not file.has_magic:
        raise EvaluationError("{}: not written by kempelen lab learn ({})", path, remedy)
    if not file.is_intact:
        raise EvaluationError("{}: file is damaged ({})", path, remedy)
    try:
        header = json.loads(file.header)
        encoding = from_json(header["encoding"])
        shape = [int(size) for size in header["shape"]]
        if len(shape) < 2 or min(shape) < 1 or not isinstance(header["options"], dict):
            raise ValueError("invalid shape or options")
        numbers = np.frombuffer(file.content, "<f2").astype(np.float32)
        layers, start = [], 0
        for rows, columns in pairwise(shape):
            matrix = numbers[start : start + rows * columns].reshape(rows, columns)
            start += rows * columns
            layers.append((matrix, numbers[start : start + columns].reshape(columns)))
            start += columns
        fits = start == numbers.size and shape[0] == encoding.inputs
        if not fits or shape[-1] not in (1, 1 + encoding.outputs):
            raise ValueError("number of parameters does not match the shape")
        if not np.isfinite(numbers).all():
            raise ValueError("weights must be finite")
        return PolicyValueNet(
            header["game"], header["options"], encoding, layers, header["learned"]
        )
    except (KeyError, OverflowError, RecursionError, TypeError, ValueError) as error:
        raise EvaluationError("{}: invalid network file: {} ({})", path, error, remedy) from None
