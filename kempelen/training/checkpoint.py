"""A training run between two epochs, in a file that is whole or not there."""

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
    """All that the rest of a run follows from.

    run_settings: settings and data, by names; state: (4, shape.padded), see below; losses: of training
    and validation, an epoch each.
    """

    run_settings: dict[str, Any]
    state: Floats
    losses: list[tuple[float, float]]

    @property
    def parameters(self) -> Floats:
        """What has been learned so far."""
        return _row(self.state, 0)

    @property
    def means(self) -> Floats:
        """The gradients' mean, fading."""
        return _row(self.state, 1)

    @property
    def squares(self) -> Floats:
        """The mean of their squares, fading."""
        return _row(self.state, 2)

    @property
    def best(self) -> Floats:
        """What had been learned after the best epoch."""
        return _row(self.state, 3)

    @property
    def best_epoch(self) -> int:
        """The epoch, from 1, after which the validation games were foretold best."""
        losses = [validation for _, validation in self.losses]
        return losses.index(min(losses)) + 1

    def write(self, path: Path) -> None:
        """Write the file, to the disk; raises OSError, and leaves what was there, if that fails."""
        head = {"run_settings": self.run_settings, "losses": self.losses}
        checkpoint_file.write(path, _MAGIC, head, self.state.tobytes())


def new_checkpoint(run_settings: dict[str, Any], shape: NetworkShape) -> Checkpoint:
    """Return that of a run that has not begun."""
    return Checkpoint(run_settings, aligned_rows(4, shape.padded_size), [])


def read(path: Path, run_settings: dict[str, Any], shape: NetworkShape) -> Checkpoint:
    """Return the run that a file holds, or one that has not begun if there is no file.

    Raises TrainingError if the file is damaged, or of a run with other settings or data, which it
    names.
    """
    found = new_checkpoint(run_settings, shape)
    kept = checkpoint_file.read(
        path, _MAGIC, run_settings, TrainingError, "name another checkpoint"
    )
    if kept is not None:
        head, content = kept
        found.state[...] = np.frombuffer(content, np.float32).reshape(found.state.shape)
        found.losses = [(training, validation) for training, validation in head["losses"]]
    return found


def _row(state: Floats, number: int) -> Floats:
    row: Floats = state[number]
    return row
