"""Write files of training positions."""

import contextlib
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from agent.io.append_file import AppendFile
from agent.io.config_diff import describe_changes
from agent.io.file_lock import lock_or_raise
from agent.io.files import replace_atomically
from kempelen.training.dataset import Dataset
from kempelen.training.dataset_blocks import (
    Damage,
    DatasetError,
    Mask,
    Packed,
    encode_games,
    encode_manifest,
)
from kempelen.training.manifests import POSITIONS, without_file_names

BLOCK_GAMES = 32  # games per block


class SeenPositions:
    """A set of positions, stored as 64-bit hashes in sorted arrays.

    Arrays of similar size are merged (Bentley and Saxe, 'Decomposable searching problems', 1980).
    """

    def __init__(self) -> None:
        self._runs: list[npt.NDArray[np.uint64]] = []

    def add(self, positions: Packed) -> npt.NDArray[np.bool_]:
        """Add positions, and return a mask of the first occurrences of new positions."""
        hashes = _hashes(positions)
        new = np.zeros(len(hashes), bool)
        unique, first = np.unique(hashes, return_index=True)
        new[first] = True
        for run in self._runs:
            indices = np.minimum(np.searchsorted(run, unique), len(run) - 1)
            new[first[run[indices] == unique]] = False
        self._insert(np.sort(hashes[new]))
        return new

    def _insert(self, run: npt.NDArray[np.uint64]) -> None:
        if not len(run):
            return
        while self._runs and len(self._runs[-1]) <= 2 * len(run):
            run = np.concatenate([self._runs.pop(), run])
            run.sort(kind="stable")
        self._runs.append(run)


def _hashes(positions: Packed) -> npt.NDArray[np.uint64]:
    # Move counters are excluded.
    hashes = positions["state"].astype(np.uint64)
    for word in (positions["occupied"], positions["pieces"][:, 0], positions["pieces"][:, 1]):
        hashes = (hashes ^ word) * np.uint64(0x9E3779B97F4A7C15)
        hashes ^= hashes >> np.uint64(29)
        hashes *= np.uint64(0xBF58476D1CE4E5B9)
        hashes ^= hashes >> np.uint64(32)
    return hashes


class DatasetWriter:
    """Appends games to a file in blocks, and locks the file against other writers.

    Games must be added in numerical order. An interrupted and continued file is byte-identical to
    an uninterrupted one.
    """

    def __init__(
        self,
        path: Path,
        manifest: dict[str, Any],
        block_games: int,
        *,
        unique: bool = True,
        format_: str = POSITIONS,
    ) -> None:
        """Create a file, or continue an existing file with the same manifest.

        If `unique` is true, duplicate positions are omitted, which takes 8 bytes of memory per
        position.
        Raise DatasetError if the manifest or the format differs, or if the file is locked or not
        writable.
        """
        self.path = path
        self.damages: list[Damage] = []
        self.positions = self.games = self.next_game = self.duplicates = 0
        self._block_games = block_games
        self._seen = SeenPositions() if unique else None
        self._format = format_
        self._pending: list[tuple[Packed, Mask]] = []
        with contextlib.ExitStack() as stack:
            stack.enter_context(lock_or_raise(path, DatasetError))
            try:
                self._file = stack.enter_context(self._open(manifest))
            except OSError as error:
                raise DatasetError(f"{path}: {error.strerror}") from None
            self._stack = stack.pop_all()

    def _open(self, manifest: dict[str, Any]) -> AppendFile:
        if self.path.exists() and self.path.stat().st_size:
            with Dataset(self.path) as dataset:
                contents = dataset.contents[0]
                _require_same_settings(self.path, contents.manifest, manifest)
                if self._seen is not None:
                    for positions in dataset.blocks():
                        self._seen.add(positions)
                if contents.blocks and contents.format != self._format:
                    raise DatasetError(
                        f"{self.path}: has the format {contents.format}, not {self._format}; use "
                        "another file"
                    )
                if contents.damages and contents.damages[-1].offset >= contents.end:
                    contents.damages.pop()
                self.positions, self.games = len(dataset), contents.games
                self.next_game = contents.next_game
                self.damages = contents.damages
            end = contents.end or contents.manifest_end
            # This removes a partial block. Its games are written again.
            return AppendFile(self.path, end)
        try:
            block = encode_manifest(manifest)
        except DatasetError as error:
            raise DatasetError(f"{self.path}: {error}") from None
        replace_atomically(self.path, block)
        return AppendFile(self.path, len(block))

    def skip_to(self, number: int) -> None:
        """Leave out the games before `number`. Call it before `add`."""
        self.next_game = max(self.next_game, number)

    def add(self, game: Packed, kept: Mask | None = None) -> bool:
        """Add the next game. Return whether a block was written.

        Only the positions in `kept` (default: all) are training positions. In the format GAMES, the
        others connect them.
        """
        mask = np.ones(len(game), bool) if kept is None else kept.copy()
        if self._seen is not None:
            new = self._seen.add(game[mask])
            mask[mask] = new
            self.duplicates += len(new) - int(new.sum())
        self._pending.append((game, mask))
        if len(self._pending) < self._block_games:
            return False
        self._write_block()
        return True

    def finish(self) -> None:
        """Write the remaining games as a last, smaller block."""
        if self._pending:
            self._write_block()

    def _write_block(self) -> None:
        games, masks = zip(*self._pending, strict=True)
        block = encode_games(self.next_game, games, masks, self._format)
        self._file.write(block, durable=True)
        self.next_game += len(games)
        self.games += len(games)
        self.positions += int(sum(mask.sum() for mask in masks))
        self._pending = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file without writing the games of an incomplete block."""
        self._stack.close()


def _require_same_settings(path: Path, old: dict[str, Any], new: dict[str, Any]) -> None:
    if not old:
        raise DatasetError(f"{path}: damaged manifest (the file can be read, but not continued)")
    # A renamed source file is still the same source.
    if changed := describe_changes(without_file_names(old), without_file_names(new)):
        reasons = "; ".join(changed)
        raise DatasetError(f"{path}: has other settings ({reasons}); use another file")
