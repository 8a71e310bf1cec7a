"""Positions to train a network with, in memory: 32 bytes each."""

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
from training.positions import TRAINING, VALIDATION, Contents, Dataset, Packed, is_validation
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
    """The positions of whole games that are learned from, and of those that are judged by."""

    files: tuple[DataFile, ...]
    training: Packed
    validation: Packed


def load(paths: Sequence[str], wanted: PositionFilter, target: Target) -> NetworkData:
    """Read all files; raise PositionsError or TrainingError if there is nothing to learn from.

    Scores are what the target makes of them by what follows in the game.
    """
    with Dataset(*paths) as dataset:
        files = tuple(
            _describe(path, contents)
            for path, contents in zip(paths, dataset.contents, strict=True)
        )
        training, validation = (
            _read(dataset, part, wanted, target) for part in (TRAINING, VALIDATION)
        )
    named = paths[0] if len(paths) == 1 else f"{paths[0]} and the others"
    if not len(training):
        raise TrainingError(f"{named}: no position to learn from; play games, or filter out fewer")
    if not len(validation):
        raise TrainingError(f"{named}: no game of those held out to judge by; play more games")
    for part in (training, validation):
        if not _are_positions(part):
            raise TrainingError(f"{named}: what it holds are no positions; make it anew")
    return NetworkData(files, training, validation)


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
        if is_validation(np.array(number)) == (part == VALIDATION):
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
