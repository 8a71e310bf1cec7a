"""Positions to train a network with, in memory: 32 bytes each."""

import contextlib
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from agent.chess.board.packed_position import packed_dtype
from kempelen.training.dataset import (
    ALL,
    TRAINING,
    VALIDATION,
    Contents,
    Dataset,
    Packed,
    are_valid,
    is_validation,
)
from kempelen.training.dataset_operations import PositionSelection
from kempelen.training.manifests import Renumberings, are_disjoint, lineage
from kempelen.training.network_settings import PositionFilter, Target, TrainingError
from kempelen.training.td_targets import lambda_returns


@dataclass(frozen=True)
class DataFile:
    """One file of positions: its name, what it says of itself, and what tells it from others.

    damaged: bytes that are not used.
    """

    name: str
    manifest: dict[str, Any]
    positions: int
    games: int
    digest: str
    damaged: int

    @property
    def identity(self) -> str:
        """What it is, wherever it lies."""
        return f"{self.positions} positions ({self.digest})"


@dataclass(frozen=True)
class NetworkData:
    """The positions of whole games that are learned from, and of those that are judged by.

    files: what is learned from; judges: what is judged by, none where that is games of `files`.
    """

    files: tuple[DataFile, ...]
    training: Packed
    validation: Packed
    validation_files: tuple[DataFile, ...] = ()


def load(
    paths: Sequence[str], wanted: PositionFilter, target: Target, validation: Sequence[str] = ()
) -> NetworkData:
    """Read all files; raise PositionsError or TrainingError if there is nothing to learn from.

    Scores are what the target makes of them by what follows in the game. validation: files whose
    games are judged by; without them one of VALIDATION_SHARE games of the others is.
    """
    with contextlib.ExitStack() as stack:
        dataset = others = stack.enter_context(Dataset(*paths))
        files = _files(paths, dataset)
        judges: tuple[DataFile, ...] = ()
        parts, lack = (TRAINING, VALIDATION), "no position of those held out to judge by"
        if validation:
            others = stack.enter_context(Dataset(*validation))
            judges = _files(validation, others)
            parts, lack = (ALL, ALL), "no position to judge by"
            _require_disjoint(judges, files)
        else:
            _require_one_numbering(files)
        learned = _read(dataset, parts[0], wanted, target)
        judged = _read(others, parts[1], wanted, target)
    _require_positions(learned, paths, "no position to learn from")
    _require_positions(judged, validation or paths, lack)
    return NetworkData(files, learned, judged, judges)


def _require_disjoint(judges: Sequence[DataFile], files: Sequence[DataFile]) -> None:
    """Raise TrainingError where games are judged by that are learned from, as manifests tell it."""
    for judge, file in itertools.product(judges, files):
        if any(not are_disjoint(*ways) for ways in _common_sources(judge, file)):
            raise TrainingError(
                f"validation: what {judge.name} holds is learned from too, in {file.name}; name "
                "both files that `kempelen data split` makes"
            )


def _require_one_numbering(files: Sequence[DataFile]) -> None:
    """Raise TrainingError where a game has two numbers, of which one alone may be held out."""
    for one, other in itertools.combinations(files, 2):
        if any(
            ways[0] != ways[1] and not are_disjoint(*ways) for ways in _common_sources(one, other)
        ):
            raise TrainingError(
                f"data: {one.name} and {other.name} have the same games under different numbers, "
                "so that some would be judged by and learned from: name one of them, or files of "
                "other games as validation"
            )


def _common_sources(one: DataFile, other: DataFile) -> Iterator[tuple[Renumberings, Renumberings]]:
    """Generate how the games of files that both come from were numbered anew for either."""
    if one.positions and other.positions:
        known = list(lineage(other.manifest, other.digest))
        for (digest, steps), (same, ways) in itertools.product(
            lineage(one.manifest, one.digest), known
        ):
            if digest == same:
                yield steps, ways


def _require_positions(positions: Packed, paths: Sequence[str], lack: str) -> None:
    named = paths[0] if len(paths) == 1 else f"{paths[0]} and the others"
    if not len(positions):
        raise TrainingError(f"{named}: {lack}; play more games, or filter out fewer")
    if not are_valid(positions).all():
        raise TrainingError(f"{named}: what it holds are no positions; make it anew")


def _files(paths: Sequence[str], dataset: Dataset) -> tuple[DataFile, ...]:
    return tuple(map(_data_file, paths, dataset.contents))


def _data_file(path: str, contents: Contents) -> DataFile:
    """Tell what a file holds, by the checksums of its sound blocks."""
    return DataFile(
        name=Path(path).name,
        manifest=contents.manifest,
        positions=contents.positions,
        games=contents.games,
        digest=contents.digest,
        damaged=sum(damage.length for damage in contents.damages),
    )


def _read(dataset: Dataset, part: int, wanted: PositionFilter, target: Target) -> Packed:
    kept_by = PositionSelection(first_ply=wanted.first_ply, most_score=wanted.largest_score)
    kept = np.zeros(len(dataset), packed_dtype)  # what is not filled takes no memory
    end = 0
    pieces = (
        dataset.blocks(part)
        if target.trace_decay == 0
        else _games_with_td_targets(dataset, part, target)
    )
    for positions in pieces:
        chosen = positions[kept_by.mask(positions)]
        kept[end : end + len(chosen)] = chosen
        end += len(chosen)
    return kept[:end]


def _games_with_td_targets(dataset: Dataset, part: int, target: Target) -> Iterator[Packed]:
    """Yield game by game, with what each position is worth by what follows."""
    for number, game in dataset.iter_games():
        if part == ALL or is_validation(np.array(number)) == (part == VALIDATION):
            worth = game.copy()
            worth["score"] = lambda_returns(game, target.trace_decay, target.scale)
            yield worth
