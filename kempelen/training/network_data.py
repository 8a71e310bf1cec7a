"""Training data for a network. Each position takes 32 bytes of memory."""

import contextlib
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from agent.chess.board.packed_position import packed_dtype
from kempelen.training.checkpoint_file import TrainingError
from kempelen.training.dataset import (
    ALL,
    TRAINING,
    VALIDATION,
    Dataset,
    Packed,
    are_valid,
    is_validation,
)
from kempelen.training.dataset_operations import PositionSelection
from kempelen.training.manifests import Renumberings, are_disjoint, lineage
from kempelen.training.network_settings import PositionFilter, Target
from kempelen.training.td_targets import lambda_returns


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
    training: Packed
    validation: Packed
    validation_files: tuple[DataFile, ...] = ()


def load(
    paths: Sequence[str], wanted: PositionFilter, target: Target, validation: Sequence[str] = ()
) -> TrainingData:
    """Read all positions into memory, and replace their scores by TD(lambda) targets.

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
        training = _read(dataset, parts[0], wanted, target)
        held_out = _read(validation_set, parts[1], wanted, target)
    _require_positions(training, paths, "no training positions")
    _require_positions(held_out, validation or paths, "no validation positions")
    return TrainingData(files, training, held_out, judges)


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


def _require_positions(positions: Packed, paths: Sequence[str], problem: str) -> None:
    named = paths[0] if len(paths) == 1 else f"{paths[0]} and the other files"
    if not len(positions):
        raise TrainingError(f"{named}: {problem} (play more games, or filter out fewer)")
    if not are_valid(positions).all():
        raise TrainingError(f"{named}: invalid positions; regenerate the file")


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


def _read(dataset: Dataset, part: int, wanted: PositionFilter, target: Target) -> Packed:
    position_filter = PositionSelection(first_ply=wanted.first_ply, most_score=wanted.largest_score)
    selected = np.zeros(len(dataset), packed_dtype)  # untouched pages take no memory
    end = 0
    batches = (
        dataset.blocks(part)
        if target.trace_decay == 0
        else _games_with_td_targets(dataset, part, target)
    )
    for positions in batches:
        chosen = positions[position_filter.mask(positions)]
        selected[end : end + len(chosen)] = chosen
        end += len(chosen)
    return selected[:end]


def _games_with_td_targets(dataset: Dataset, part: int, target: Target) -> Iterator[Packed]:
    for number, game in dataset.iter_games():
        if part == ALL or is_validation(np.array(number)) == (part == VALIDATION):
            labelled = game.copy()
            labelled["score"] = lambda_returns(game, target.trace_decay, target.scale)
            yield labelled
