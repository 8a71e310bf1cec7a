"""Checkpoints of network training."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kempelen.training import checkpoint_file
from kempelen.training.gradients import Floats, NetworkShape, aligned_rows
from kempelen.training.network_settings import TrainingError

_MAGIC = b"\x8bKmpCP\r\n"


@dataclass
class Checkpoint:
    """The complete state of a training run.

    `state` is a float32 array of shape (4, shape.padded_size). The properties return its rows.
    `losses` holds the training loss and the validation loss of each epoch.
    """

    run_settings: dict[str, Any]
    state: Floats
    losses: list[tuple[float, float]]

    @property
    def parameters(self) -> Floats:
        return _row(self.state, 0)

    @property
    def means(self) -> Floats:
        """Adam's running mean of the gradients."""
        return _row(self.state, 1)

    @property
    def squares(self) -> Floats:
        """Adam's running mean of the squared gradients."""
        return _row(self.state, 2)

    @property
    def best(self) -> Floats:
        """The parameters after the epoch with the lowest validation loss."""
        return _row(self.state, 3)

    @property
    def best_epoch(self) -> int:
        """The number of the epoch with the lowest validation loss, from 1."""
        losses = [validation for _, validation in self.losses]
        return losses.index(min(losses)) + 1

    def write(self, path: Path) -> None:
        """Write the file durably and atomically."""
        head = {"made_with": self.run_settings, "losses": self.losses}
        checkpoint_file.write(path, _MAGIC, head, self.state.tobytes())


def new_checkpoint(run_settings: dict[str, Any], shape: NetworkShape) -> Checkpoint:
    return Checkpoint(run_settings, aligned_rows(4, shape.padded_size), [])


def read(path: Path, run_settings: dict[str, Any], shape: NetworkShape) -> Checkpoint:
    """Read a checkpoint, or return a new one if the file does not exist.

    Raise TrainingError if the file is damaged or was written with other settings or data.
    """
    result = new_checkpoint(run_settings, shape)
    loaded = checkpoint_file.read(
        path, _MAGIC, run_settings, TrainingError, "use another checkpoint"
    )
    if loaded is not None:
        head, content = loaded
        result.state[...] = np.frombuffer(content, np.float32).reshape(result.state.shape)
        result.losses = [(training, validation) for training, validation in head["losses"]]
    return result


def _row(state: Floats, number: int) -> Floats:
    row: Floats = state[number]
    return row
