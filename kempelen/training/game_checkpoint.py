"""Checkpoints of game training."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kempelen.training import checkpoint_file

_MAGIC = b"\x8bKmpLC\r\n"


class GameTrainingError(ValueError):
    """Raised if training cannot start or continue. The message says why."""


@dataclass(frozen=True)
class GameCheckpoint:
    """The complete state of a training run.

    `history` holds the statistics of each step. `arrays` holds the parameters, the optimizer state
    and the replay buffer.
    """

    run_settings: dict[str, Any]
    history: list[dict[str, float]]
    arrays: dict[str, npt.NDArray[Any]]

    def write(self, path: Path) -> None:
        """Write the file durably and atomically."""
        buffer = io.BytesIO()
        np.savez(buffer, **self.arrays)  # type: ignore[arg-type]
        head = {"made_with": self.run_settings, "history": self.history}
        checkpoint_file.write(path, _MAGIC, head, buffer.getvalue())


def read(path: Path, run_settings: dict[str, Any]) -> GameCheckpoint | None:
    """Read a checkpoint, or return None if the file does not exist.

    Raise GameTrainingError if the file is damaged or was written with other settings.
    """
    remedy = "use another file with -o"
    loaded = checkpoint_file.read(path, _MAGIC, run_settings, GameTrainingError, remedy)
    if loaded is None:
        return None
    head, content = loaded
    with np.load(io.BytesIO(content)) as arrays:
        return GameCheckpoint(head["made_with"], head["history"], dict(arrays))
