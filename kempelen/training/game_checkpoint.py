"""A run that learns a game, between two steps, in a file that is whole or not there."""

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
    """Learning cannot begin or go on; the message names why, and the remedy."""


@dataclass(frozen=True)
class GameCheckpoint:
    """All that the rest of a run follows from.

    run_settings: the settings, by names. history: the figures of each step. arrays: what was learned,
    and from what.
    """

    run_settings: dict[str, Any]
    history: list[dict[str, float]]
    arrays: dict[str, npt.NDArray[Any]]

    def write(self, path: Path) -> None:
        """Write the file, to the disk; raises OSError, and leaves what was there, if that fails."""
        held = io.BytesIO()
        np.savez(held, **self.arrays)  # type: ignore[arg-type]
        head = {"run_settings": self.run_settings, "history": self.history}
        checkpoint_file.write(path, _MAGIC, head, held.getvalue())


def read(path: Path, run_settings: dict[str, Any]) -> GameCheckpoint | None:
    """Return the run that a file holds, None if there is no file.

    Raises GameTrainingError if the file is damaged, or of a run with other settings, which it names.
    """
    another = "name another file with -o"
    kept = checkpoint_file.read(path, _MAGIC, run_settings, GameTrainingError, another)
    if kept is None:
        return None
    head, content = kept
    with np.load(io.BytesIO(content)) as arrays:
        return GameCheckpoint(head["run_settings"], head["history"], dict(arrays))
