"""Checkpoints of network training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from kempelen.training import checkpoint_file
from kempelen.training.gradients import NetworkShape, aligned_rows

_MAGIC = b"\x8bKmpCP\r\n"


class Checkpoint:
    """The complete state of a training run.

    `means` and `squares` are Adam's running means of the gradients and of their squares. `best`
    holds the parameters after the epoch with the lowest validation loss. `losses` holds the
    training loss and the validation loss of each epoch.
    """

    def __init__(self, run_settings: dict[str, Any], shape: NetworkShape) -> None:
        self._run_settings = run_settings
        self._state = aligned_rows(4, shape.padded_size)
        self.parameters, self.means, self.squares, self.best = self._state
        self.losses: list[tuple[float, float]] = []

    @property
    def best_epoch(self) -> int:
        """The number of the epoch with the lowest validation loss, from 1."""
        losses = [validation for _, validation in self.losses]
        return losses.index(min(losses)) + 1

    def write(self, path: Path) -> None:
        """Write the file durably and atomically."""
        head = {"made_with": self._run_settings, "losses": self.losses}
        checkpoint_file.write(path, _MAGIC, head, self._state.tobytes())

    def read(self, path: Path) -> None:
        """Read the file if it exists.

        Raise TrainingError if the file is damaged or was written with other settings or data.
        """
        loaded = checkpoint_file.read(path, _MAGIC, self._run_settings, "use another checkpoint")
        if loaded is not None:
            head, content = loaded
            self._state[...] = np.frombuffer(content, np.float32).reshape(self._state.shape)
            self.losses = [(training, validation) for training, validation in head["losses"]]
