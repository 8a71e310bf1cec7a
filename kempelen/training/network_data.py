"""Training data for a network. Positions take 32 bytes of memory each, or are read repeatedly."""

import contextlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from agent.chess.board.packed_position import PACKED_BYTES, packed_dtype
from kempelen.training.checkpoint_file import TrainingError
from kempelen.training.dataset import ALL, TRAINING, VALIDATION, Dataset, are_valid
from kempelen.training.dataset_blocks import Packed
from kempelen.training.dataset_operations import PositionSelection
from kempelen.training.manifests import Renumberings, are_disjoint, lineage
from kempelen.training.network_settings import PositionFilter, Target
from kempelen.training.streamed_positions import SelectedPositions, StreamedPositions

MIN_POOL = 100_000  # minimum number of positions to shuffle together


@dataclass(frozen=True)
class DataFile:
    """The metadata of a file of positions. `damaged` is the number of skipped bytes."""

    name: str
    manifest: dict[str, Any]
    positions: int
    games: int
    digest: str
    damaged: int

    @property
    def identity(self) -> str:
        """A string that identifies the positions, independently of the file name."""
        return f"{self.positions} positions ({self.digest})"


@dataclass(frozen=True)
class TrainingData:
    """The training positions and the validation positions, from different games.

    `validation_files` is empty if some games of `files` are used for validation.
    """

    files: tuple[DataFile, ...]
    training: Packed | StreamedPositions
    validation: Packed
    validation_files: tuple[DataFile, ...] = ()
    close: Callable[[], None] = lambda: None  # closes the files of streamed positions


def load(
    paths: Sequence[str],
    wanted: PositionFilter,
    target: Target,
    validation: Sequence[str] = (),
    memory: int | None = None,
) -> TrainingData:
    """Read the positions into memory, and replace their scores by TD(lambda) targets.

    If the files have more positions than fit into `memory` megabytes, only those for validation are
    kept in memory. The files of the others remain open.
    If `validation` is empty, one in `VALIDATION_SHARE` games of `paths` is used for validation.
    Raise DatasetError or TrainingError if a file is unusable or no positions are left.
    """
    with contextlib.ExitStack() as stack:
        dataset = validation_set = stack.enter_context(Dataset(*paths))
        files = _files(paths, dataset)
        judges: tuple[DataFile, ...] = ()
        parts = TRAINING, VALIDATION
        if validation:
            validation_set = stack.enter_context(Dataset(*validation))
            judges = _files(validation, validation_set)
            parts = ALL, ALL
            _require_disjoint(judges, files)
        else:
            _require_one_numbering(files)
        learned = _selected(dataset, parts[0], wanted, target)
        training: Packed | StreamedPositions
        if memory is None or PACKED_BYTES * len(dataset) <= memory << 20:
            training = _read(learned, len(dataset))
            _require_valid(training, paths)
        else:
            training = _streamed(learned, paths, memory)
        _require_any(training, paths, "no training positions")
        held_out = _read(_selected(validation_set, parts[1], wanted, target), len(validation_set))
        _require_any(held_out, validation or paths, "no validation positions")
        _require_valid(held_out, validation or paths)
        close = stack.pop_all().close if isinstance(training, StreamedPositions) else stack.close
        return TrainingData(files, training, held_out, judges, close)


def _require_disjoint(judges: Sequence[DataFile], files: Sequence[DataFile]) -> None:
    for judge, file in itertools.product(judges, files):
        if any(not are_disjoint(*ways) for ways in _common_sources(judge, file)):
            raise TrainingError(
                f"validation: {judge.name} shares games with the training file {file.name} (use "
                "both files of `kempelen train data split`)"
            )


def _require_one_numbering(files: Sequence[DataFile]) -> None:
    # A game with two numbers could be in both the training set and the validation set.
    for one, other in itertools.combinations(files, 2):
        if any(
            ways[0] != ways[1] and not are_disjoint(*ways) for ways in _common_sources(one, other)
        ):
            raise TrainingError(
                f"data: {one.name} and {other.name} have the same games under different numbers; "
                "use one of them, or files of other games as validation"
            )


def _common_sources(one: DataFile, other: DataFile) -> Iterator[tuple[Renumberings, Renumberings]]:
    if one.positions and other.positions:
        ancestors = list(lineage(other.manifest, other.digest))
        for (digest, steps), (other_digest, other_steps) in itertools.product(
            lineage(one.manifest, one.digest), ancestors
        ):
            if digest == other_digest:
                yield steps, other_steps


def _require_any(positions: Packed | StreamedPositions, paths: Sequence[str], problem: str) -> None:
    if not len(positions):
        raise TrainingError(
            f"{_described(paths)}: {problem} (play more games, or filter out fewer)"
        )


def _require_valid(positions: Packed, paths: Sequence[str]) -> None:
    if not are_valid(positions).all():
        raise TrainingError(f"{_described(paths)}: invalid positions; regenerate the file")


def _described(paths: Sequence[str]) -> str:
    return paths[0] if len(paths) == 1 else f"{paths[0]} and the other files"


def _files(paths: Sequence[str], dataset: Dataset) -> tuple[DataFile, ...]:
    return tuple(
        DataFile(
            name=Path(path).name,
            manifest=contents.manifest,
            positions=contents.positions,
            games=contents.games,
            digest=contents.digest,
            damaged=sum(damage.length for damage in contents.damages),
        )
        for path, contents in zip(paths, dataset.contents, strict=True)
    )


def _selected(
    dataset: Dataset, part: int, wanted: PositionFilter, target: Target
) -> SelectedPositions:
    position_filter = PositionSelection(first_ply=wanted.first_ply, most_score=wanted.largest_score)
    return SelectedPositions(dataset, part, position_filter.mask, target)


def _read(source: SelectedPositions, limit: int) -> Packed:
    selected = np.zeros(limit, packed_dtype)  # untouched pages take no memory
    end = 0
    for block in range(source.blocks):
        positions = source.read(block)
        selected[end : end + len(positions)] = positions
        end += len(positions)
    return selected[:end]


def _streamed(source: SelectedPositions, paths: Sequence[str], memory: int) -> StreamedPositions:
    counts = []
    for block in range(source.blocks):
        positions = source.read(block)
        _require_valid(positions, paths)
        counts.append(len(positions))
    # Shuffling makes a copy of the pool.
    pool = max((memory << 20) // (2 * PACKED_BYTES), MIN_POOL)
    return StreamedPositions(source, counts, pool)
