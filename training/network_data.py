"""Positions to train a network with, in memory: 32 bytes each."""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agent.chess.network_inputs import MOST_PIECES
from agent.chess.packed import packed_dtype
from training.derived_files import plies_of
from training.network_settings import PositionFilter, Target, TrainingError
from training.positions import ALL, TRAINING, VALIDATION, Contents, Dataset, Packed, is_validation
from training.returns import returns

_LOWEST_BITS = np.uint64(0x1111_1111_1111_1111)


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
    judges: tuple[DataFile, ...] = ()


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
        parts, lack = (TRAINING, VALIDATION), "no game of those held out to judge by; play more"
        if validation:
            others = stack.enter_context(Dataset(*validation))
            judges = _files(validation, others)
            parts, lack = (ALL, ALL), "no position to judge by; split with a larger share"
            _require_others(judges, files)
        learned = _read(dataset, parts[0], wanted, target)
        judged = _read(others, parts[1], wanted, target)
    _require_positions(learned, paths, "no position to learn from; play more, or filter out fewer")
    _require_positions(judged, validation or paths, lack)
    return NetworkData(files, learned, judged, judges)


def _require_others(judges: Sequence[DataFile], files: Sequence[DataFile]) -> None:
    learned = {file.digest for file in files}
    for judge in judges:
        if judge.digest in learned:
            raise TrainingError(
                f"validation: {judge.name} is learned from too; `kempelen data split` makes two"
            )


def _require_positions(positions: Packed, paths: Sequence[str], lack: str) -> None:
    named = paths[0] if len(paths) == 1 else f"{paths[0]} and the others"
    if not len(positions):
        raise TrainingError(f"{named}: {lack}")
    if not _are_positions(positions):
        raise TrainingError(f"{named}: what it holds are no positions; make it anew")


def _files(paths: Sequence[str], dataset: Dataset) -> tuple[DataFile, ...]:
    return tuple(map(_describe, paths, dataset.contents))


def _describe(path: str, contents: Contents) -> DataFile:
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
    kept = np.zeros(len(dataset), packed_dtype)  # what is not filled takes no memory
    end = 0
    pieces = dataset.blocks(part) if target.trace_decay == 0 else _returned(dataset, part, target)
    for positions in pieces:
        chosen = positions[_passes(positions, wanted)]
        kept[end : end + len(chosen)] = chosen
        end += len(chosen)
    return kept[:end]


def _returned(dataset: Dataset, part: int, target: Target) -> Iterator[Packed]:
    """Yield game by game, with what each position is worth by what follows."""
    for number, game in dataset.in_games():
        if part == ALL or is_validation(np.array(number)) == (part == VALIDATION):
            worth = game.copy()
            worth["score"] = returns(game, target.trace_decay, target.scale)
            yield worth


def _passes(positions: Packed, wanted: PositionFilter) -> npt.NDArray[np.bool_]:
    small = np.abs(positions["score"].astype(np.int64)) <= wanted.largest_score
    passing: npt.NDArray[np.bool_] = (plies_of(positions) >= wanted.first_ply) & small
    return passing


def _are_positions(positions: Packed) -> bool:
    """Tell whether each has at most 32 pieces, all of them of a kind that there is."""
    if np.bitwise_count(positions["occupied"]).max() > MOST_PIECES:
        return False
    pieces = positions["pieces"]
    one, two = np.uint64(1), np.uint64(2)
    return not (pieces & pieces >> one & pieces >> two & _LOWEST_BITS).any()
