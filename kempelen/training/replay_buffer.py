"""Lessons of self-play, kept for some time: batches are drawn from them, and a file holds them."""

from __future__ import annotations

from collections.abc import Sequence
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
    """The last `most` lessons, the oldest first."""

    def __init__(
        self, encoding: PositionEncoding, symmetries: Sequence[BoardSymmetry], most: int
    ) -> None:
        self._encoding = encoding
        self._symmetries = symmetries
        self._capacity = most
        self._examples: list[TrainingExample] = []

    def __len__(self) -> int:
        return len(self._examples)

    def add(self, lessons: Sequence[TrainingExample]) -> None:
        """Add lessons, and forget as many of the oldest as are too many."""
        self._examples = [*self._examples, *lessons][-self._capacity :]

    def sample(self, count: int, generator: np.random.Generator) -> TrainingBatch:
        """Return so many lessons at random, turned and reflected by one symmetry at random."""
        chosen = [self._examples[each] for each in generator.integers(len(self), size=count)]
        inputs = self._encoding.to_inputs([each.seen for each in chosen])
        rows = np.repeat(np.arange(count), [len(each.moves) for each in chosen])
        columns = np.fromiter(chain.from_iterable(each.moves for each in chosen), np.int64)
        targets = np.zeros((count, self._encoding.outputs), np.float32)
        shares = np.fromiter(chain.from_iterable(each.shares for each in chosen), np.float32)
        np.add.at(targets, (rows, columns), shares)  # moves that are not known are one
        legal = np.zeros(targets.shape, np.bool_)
        legal[rows, columns] = True
        values = np.array([each.value for each in chosen], np.float32)
        symmetry = self._symmetries[int(generator.integers(len(self._symmetries)))]
        if size := symmetry.squares.size:
            inputs[:, :size] = inputs[:, symmetry.squares]
            inputs[:, size : 2 * size] = inputs[:, size + symmetry.squares]
            targets, legal = targets[:, symmetry.moves], legal[:, symmetry.moves]
        return TrainingBatch(inputs, targets, legal, values)

    def to_arrays(self) -> Arrays:
        """Return all as arrays, to be kept."""
        each = self._examples
        return {
            "seen": np.frombuffer(b"".join(lesson.encoded for lesson in each), np.uint8),
            "counts": np.array([len(lesson.moves) for lesson in each], np.int64),
            "moves": np.array([move for lesson in each for move in lesson.moves], np.int64),
            "shares": np.array([share for lesson in each for share in lesson.policy]),
            "values": np.array([lesson.value for lesson in each]),
        }

    def restore(self, arrays: Arrays) -> None:
        """Take what `to_arrays` has returned."""
        counts = arrays["counts"]
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
