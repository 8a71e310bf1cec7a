"""A training run between two epochs, in a file that is whole or not there."""

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from agent.border.files import open_file
from training.gradients import Floats, NetworkShape, aligned_rows
from training.network_settings import TrainingError

_MAGIC = b"\x8bKmpCP\r\n"
_LENGTH_BYTES = 4


@dataclass
class Checkpoint:
    """All that the rest of a run follows from.

    made_with: settings and data, by names; state: (4, shape.padded), see below; losses: of training
    and validation, an epoch each.
    """

    made_with: dict[str, Any]
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
        head = json.dumps({"made_with": self.made_with, "losses": self.losses}).encode()
        body = len(head).to_bytes(_LENGTH_BYTES, "little") + head + self.state.tobytes()
        unfinished = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            with unfinished.open("wb") as file:
                file.write(_MAGIC + hashlib.sha256(body).digest() + body)
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)


def empty(made_with: dict[str, Any], shape: NetworkShape) -> Checkpoint:
    """Return that of a run that has not begun."""
    return Checkpoint(made_with, aligned_rows(4, shape.padded), [])


def read(path: Path, made_with: dict[str, Any], shape: NetworkShape) -> Checkpoint:
    """Return the run that a file holds, or one that has not begun if there is no file.

    Raises TrainingError if the file is damaged, or of a run with other settings or data, which it
    names.
    """
    remedy = "name another checkpoint, or remove this one"
    try:
        with open_file(path) as file:
            content = file.read()
    except FileNotFoundError:
        return empty(made_with, shape)
    if not content.startswith(_MAGIC):
        raise TrainingError(f"{path} is no checkpoint of ours: {remedy}")
    start = len(_MAGIC) + hashlib.sha256().digest_size
    digest, body = content[len(_MAGIC) : start], content[start:]
    if hashlib.sha256(body).digest() != digest:
        raise TrainingError(f"{path} is damaged: remove it, to begin anew")
    end = _LENGTH_BYTES + int.from_bytes(body[:_LENGTH_BYTES], "little")
    head = json.loads(body[_LENGTH_BYTES:end])
    before = head["made_with"]
    changes = [
        f"{name} was {before.get(name)}, is {made_with.get(name)}"
        for name in dict.fromkeys([*before, *made_with])
        if before.get(name) != made_with.get(name)
    ]
    if changes:
        raise TrainingError(f"{path} was begun otherwise ({'; '.join(changes)}): {remedy}")
    found = empty(made_with, shape)
    found.state[...] = np.frombuffer(body, np.float32, offset=end).reshape(found.state.shape)
    found.losses = [(training, validation) for training, validation in head["losses"]]
    return found


def _row(state: Floats, number: int) -> Floats:
    row: Floats = state[number]
    return row
