from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from agent.games.board_symmetry import BoardSymmetry
from agent.games.position_encoding import PositionEncoding
from kempelen.training.selfplay_batch import TrainingExample
from kempelen.training.small_network import TrainingBatch

Arrays = dict[str, npt.NDArray[Any]]


class ReplayBuffer:
    """A buffer for the latest `capacity` self-play examples, from oldest to newest."""

    def __init__(
        self, encoding: PositionEncoding, symmetries: Sequence[BoardSymmetry], capacity: int
    ) -> None:
        self._encoding = encoding
        self._symmetries = symmetries
        self._capacity = capacity
        self._examples: list[TrainingExample] = []

    def __len__(self) -> int:
        return len(self._examples)

    def add(self, examples: Sequence[TrainingExample]) -> None:
        """Add examples, and remove the oldest ones beyond the capacity."""
        self._examples = [*self._examples, *examples][-self._capacity :]

    def sample(self, count: int, generator: np.random.Generator) -> TrainingBatch:
        """Return a random batch of `count` examples, transformed by one random symmetry."""
        chosen = [self._examples[index] for index in generator.integers(len(self), size=count)]
        symmetry = self._symmetries[int(generator.integers(len(self._symmetries)))]
        return self._batch(chosen, symmetry)

    def batches(self, count: int) -> Iterator[TrainingBatch]:
        """Yield all examples once, in batches of up to `count`, without symmetries."""
        for start in range(0, len(self), count):
            yield self._batch(self._examples[start : start + count], None)

    def _batch(
        self, chosen: Sequence[TrainingExample], symmetry: BoardSymmetry | None
    ) -> TrainingBatch:
        count = len(chosen)
        inputs = self._encoding.to_inputs([example.encoded for example in chosen])
        rows = np.repeat(np.arange(count), [len(example.moves) for example in chosen])
        columns = np.fromiter(chain.from_iterable(example.moves for example in chosen), np.int64)
        targets = np.zeros((count, self._encoding.outputs), np.float32)
        policy = np.fromiter(chain.from_iterable(example.policy for example in chosen), np.float32)
        np.add.at(targets, (rows, columns), policy)  # unknown moves share one output
        legal = np.zeros(targets.shape, np.bool_)
        legal[rows, columns] = True
        values = np.array([example.value for example in chosen], np.float32)
        if symmetry is not None and (size := symmetry.squares.size):
            inputs[:, :size] = inputs[:, symmetry.squares]
            inputs[:, size : 2 * size] = inputs[:, size + symmetry.squares]
            targets, legal = targets[:, symmetry.moves], legal[:, symmetry.moves]
        return TrainingBatch(inputs, targets, legal, values)

    def to_arrays(self) -> Arrays:
        examples = self._examples
        return {
            "seen": np.frombuffer(b"".join(example.encoded for example in examples), np.uint8),
            "counts": np.array([len(example.moves) for example in examples], np.int64),
            "moves": np.array([move for example in examples for move in example.moves], np.int64),
            "shares": np.array([share for example in examples for share in example.policy]),
            "values": np.array([example.value for example in examples]),
        }

    def restore(self, arrays: Arrays) -> None:
        counts = arrays["counts"]
        if not len(counts):
            return
        ends = np.cumsum(counts)
        seen = arrays["seen"].reshape(len(counts), -1)
        self._examples = [
            TrainingExample(
                row.tobytes(),
                tuple(arrays["moves"][end - count : end].tolist()),
                tuple(arrays["shares"][end - count : end].tolist()),
                value,
            )
            for row, count, end, value in zip(
                seen, counts, ends, arrays["values"].tolist(), strict=True
            )
        ]
