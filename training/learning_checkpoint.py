"""A run that learns a game, between two steps, in a file that is whole or not there."""

from __future__ import annotations

import hashlib
import io
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agent.border.files import open_file

_MAGIC = b"\x8bKmpLC\r\n"
_HEAD = len(_MAGIC) + hashlib.sha256().digest_size
_LENGTH_BYTES = 4


class LearningError(ValueError):
    """Learning cannot begin or go on; the message names why, and the remedy."""


@dataclass(frozen=True)
class LearningCheckpoint:
    """All that the rest of a run follows from.

    made_with: the settings, by names. history: the figures of each step. arrays: what was learned,
    and from what.
    """

    made_with: dict[str, Any]
    history: list[dict[str, float]]
    arrays: dict[str, npt.NDArray[Any]]

    def write(self, path: Path) -> None:
        """Write the file, to the disk; raises OSError, and leaves what was there, if that fails."""
        head = json.dumps({"made_with": self.made_with, "history": self.history}).encode()
        held = io.BytesIO()
        np.savez(held, **self.arrays)  # type: ignore[arg-type]
        body = len(head).to_bytes(_LENGTH_BYTES, "little") + head + held.getvalue()
        unfinished = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            with unfinished.open("wb") as file:
                file.write(_MAGIC + hashlib.sha256(body).digest() + body)
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)


def read(path: Path, made_with: dict[str, Any]) -> LearningCheckpoint | None:
    """Return the run that a file holds, None if there is no file.

    Raises LearningError if the file is damaged, or of a run with other settings, which it names.
    """
    remedy = "name another file with -o, or remove this one"
    try:
        with open_file(path) as file:
            content = file.read()
    except FileNotFoundError:
        return None
    if not content.startswith(_MAGIC):
        raise LearningError(f"{path} is no checkpoint of ours: {remedy}")
    body = content[_HEAD:]
    if hashlib.sha256(body).digest() != content[len(_MAGIC) : _HEAD]:
        raise LearningError(f"{path} is damaged: remove it, to begin anew")
    end = _LENGTH_BYTES + int.from_bytes(body[:_LENGTH_BYTES], "little")
    head = json.loads(body[_LENGTH_BYTES:end])
    before = head["made_with"]
    now = json.loads(json.dumps(made_with))
    changes = [
        f"{name} was {before.get(name)}, is {now.get(name)}"
        for name in dict.fromkeys([*before, *now])
        if before.get(name) != now.get(name)
    ]
    if changes:
        raise LearningError(f"{path} was begun otherwise ({'; '.join(changes)}): {remedy}")
    with np.load(io.BytesIO(body[end:])) as arrays:
        return LearningCheckpoint(before, head["history"], dict(arrays))
