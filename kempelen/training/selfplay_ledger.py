"""A small text file of the games that self-play has finished, by seed.

It lets a run continue on another machine without the games of the first one. Each line is a JSON
object: the games `first` to `end - 1` of `seed` are finished. `file`, `settings` (a hash of the
manifest) and `positions` say where they are, how they were played and how many positions they have.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from agent.io import strict_json
from agent.io.file_lock import lock_or_raise
from agent.io.files import replace_atomically
from agent.io.text_files import read_text
from kempelen.training.dataset_blocks import DatasetError

_NUMBERS = "seed", "first", "end", "positions"


class SelfPlayLedger:
    """The ledger of one seed. Lines of other seeds are kept."""

    def __init__(self, path: Path, seed: int) -> None:
        """Read the file if it exists, and lock it. Raise DatasetError on failure."""
        self._path = path
        self._seed = seed
        self._lock = lock_or_raise(path, DatasetError, "in use by another process")
        try:
            self._rows = _read(path)
        except BaseException:
            self._lock.close()
            raise
        self._row: dict[str, Any] = {}
        self._other_positions = 0  # positions of the file that other lines count

    @property
    def next_game(self) -> int:
        """The first game after all finished games of the seed."""
        ends = [row["end"] for row in self._rows if row["seed"] == self._seed]
        return max(ends, default=0)

    def begin(self, path: Path, manifest: Mapping[str, Any]) -> None:
        """Record the following games as games of a file."""
        encoded = json.dumps(manifest, sort_keys=True).encode()
        row = {
            "seed": self._seed,
            "first": self.next_game,
            "end": self.next_game,
            "positions": 0,
            "file": path.name,
            "engine": manifest.get("engine", ""),
            "settings": hashlib.sha256(encoded).hexdigest()[:16],
        }
        same = ("seed", "file", "settings")
        rows = [old for old in self._rows if all(old.get(name) == row[name] for name in same)]
        self._row = next((old for old in rows if old["end"] == row["end"]), row)
        self._other_positions = sum(old["positions"] for old in rows if old is not self._row)

    def record(self, end: int, positions: int) -> None:
        """Record that all games before `end` are finished. Raise DatasetError on failure.

        `positions` is the number of positions in the file.
        """
        row = self._row
        if end <= row["end"]:
            return
        if not any(old is row for old in self._rows):
            self._rows.append(row)
        row["end"], row["positions"] = end, max(positions - self._other_positions, 0)
        text = "".join(f"{json.dumps(row)}\n" for row in self._rows)
        try:
            replace_atomically(self._path, text.encode(), durable=True)
        except OSError as error:
            raise DatasetError(f"{self._path}: {error.strerror}") from None

    def close(self) -> None:
        self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _read(path: Path) -> list[dict[str, Any]]:
    try:
        lines = read_text(path).splitlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise DatasetError(f"{path}: {error.strerror}") from None
    rows = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        row = strict_json.loads_object(line)
        if row is None or not _is_valid(row):
            raise DatasetError(
                f"{path}, line {number}: not a line of a self-play ledger (expected a JSON object "
                f"with the whole numbers {', '.join(_NUMBERS)})"
            )
        rows.append(row)
    return rows


def _is_valid(row: dict[str, Any]) -> bool:
    numbers = [row.get(name) for name in _NUMBERS]
    if not all(type(number) is int and number >= 0 for number in numbers[1:]):
        return False
    return type(row.get("seed")) is int and row["first"] <= row["end"]
