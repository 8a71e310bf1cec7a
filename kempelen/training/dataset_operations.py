"""Create files of positions by merging, shuffling, splitting or filtering other files.

Memory use is bounded. The operations are deterministic. An interrupted operation continues when it
is called again, and its result is byte-identical to that of an uninterrupted call.
"""

import contextlib
import itertools
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from agent.chess.board.packed_position import packed_dtype
from agent.io.files import name_in_errors
from agent.io.write_checks import require_writable
from kempelen.training.dataset import NO_GAME, Dataset, StoredGame
from kempelen.training.dataset_blocks import DatasetError, Packed
from kempelen.training.dataset_writer import BLOCK_GAMES, DatasetWriter
from kempelen.training.packed_positions import game_plies, piece_counts

POOL_POSITIONS = 4_000_000  # maximum number of training positions in memory while shuffling
_POOLED = np.dtype([("position", packed_dtype), ("kept", np.bool_)])

# Receives the number of games written.
ProgressCallback = Callable[[int], None]


@dataclass(frozen=True)
class DerivationResult:
    """The size of a new file. `left_out` counts the source positions that it omits."""

    file: str
    games: int
    positions: int
    left_out: int


def describe_source(path: Path, dataset: Dataset, number: int = 0) -> dict[str, Any]:
    """Return the manifest entry of a source file, which is file `number` of the dataset."""
    contents = dataset.contents[number]
    return {
        "file": path.name,
        "games": contents.games,
        "positions": contents.positions,
        "digest": contents.digest,
        "manifest": contents.manifest,
    }


def merge(sources: Sequence[Path], target: Path, on_progress: ProgressCallback) -> DerivationResult:
    """Concatenate the games of all files, renumber them, and omit duplicate positions.

    Raise DatasetError if a file is unusable.
    """
    with open_sources(sources, target) as dataset:
        manifest = {"merged": _describe_sources(sources, dataset)}
        with open_writer(target, manifest, dataset.format) as writer:
            games = dataset.iter_games(writer.next_game)
            _write_games(writer, (game for _, game in games), on_progress)
            return derived_file(writer, len(dataset))


def shuffle(
    sources: Sequence[Path], target: Path, seed: int, on_progress: ProgressCallback
) -> DerivationResult:
    """Write the games of all files in random order and renumber them.

    All permutations are equally likely. Each game goes to a random pool, and each pool is shuffled
    in memory (Rao, 'Randomisation of a file of records', 1961; Sandelius, 1962). The pools are
    temporary files in the folder of the target, with 33 bytes per position. With several source
    files, duplicate positions are omitted, which takes 8 bytes of memory per position. Raise
    DatasetError if a file is unusable.
    """
    with open_sources(sources, target) as dataset:
        manifest = {"shuffled": _describe_sources(sources, dataset), "seed": seed}
        with open_writer(target, manifest, dataset.format, unique=len(sources) > 1) as writer:
            if writer.next_game < dataset.games:
                with _ShufflePools(target.absolute().parent, dataset, seed) as pools:
                    games = itertools.islice(pools.games(), writer.next_game, None)
                    _write_games(writer, games, on_progress)
            return derived_file(writer, len(dataset))


def split(
    source: Path, training: Path, validation: Path, share: Fraction, on_progress: ProgressCallback
) -> tuple[DerivationResult, DerivationResult]:
    """Split a file into a training file and a validation file, and renumber the games.

    `validation` receives the fraction `share` of the games, evenly spaced. With 1/20, these are the
    validation games of `Dataset`. Raise DatasetError if a file is unusable.
    """
    require_writable([training, validation], [source], DatasetError, regular=True)
    kept = _write_part(source, training, share, False, on_progress)
    held_out = _write_part(
        source, validation, share, True, lambda done: on_progress(kept.games + done)
    )
    return kept, held_out


def _write_part(
    source: Path, target: Path, share: Fraction, held_out: bool, on_progress: ProgressCallback
) -> DerivationResult:
    with open_sources([source], target) as dataset:
        part = "validation" if held_out else "training"
        manifest = {
            "split": _describe_sources([source], dataset),
            "part": part,
            "share": str(share),
        }
        with open_writer(target, manifest, dataset.format, unique=False) as writer:
            games = (
                game
                for number, game in dataset.iter_games()
                if (int((number + 1) * share) > int(number * share)) == held_out
            )
            _write_games(writer, itertools.islice(games, writer.next_game, None), on_progress)
            return derived_file(writer, len(dataset))


@dataclass(frozen=True)
class PositionSelection:
    """Conditions for selecting positions. None means no limit."""

    most_score: int | None = None  # centipawns, absolute value
    least_pieces: int | None = None  # including kings and pawns
    most_pieces: int | None = None
    first_ply: int | None = None  # ply of the game, counted from 0
    last_ply: int | None = None
    most_halfmoves: int | None = None  # halfmoves since the last capture or pawn move
    results_agree: int | None = None  # maximum score of a lost position, in centipawns

    def mask(self, positions: Packed) -> npt.NDArray[np.bool_]:
        """Return a mask of the positions that meet all conditions."""
        scores = positions["score"].astype(np.int64)
        pieces = piece_counts(positions)
        plies = game_plies(positions)
        agreement = np.where(scores * positions["result"] < 0, np.abs(scores), 0)
        limits = (
            (np.abs(scores), None, self.most_score),
            (pieces, self.least_pieces, self.most_pieces),
            (plies, self.first_ply, self.last_ply),
            (positions["halfmoves"], None, self.most_halfmoves),
            (agreement, None, self.results_agree),
        )
        passing = np.ones(len(positions), bool)
        for values, minimum, maximum in limits:
            if minimum is not None:
                passing &= values >= minimum
            if maximum is not None:
                passing &= values <= maximum
        return passing


def filter_positions(
    source: Path, target: Path, wanted: PositionSelection, on_progress: ProgressCallback
) -> DerivationResult:
    """Write the positions that meet the conditions. Games keep their numbers, even if empty.

    Raise DatasetError if a file is unusable.
    """
    chosen = {name: value for name, value in asdict(wanted).items() if value is not None}
    return _rewrite(source, target, chosen, None, wanted.mask, on_progress)


def convert(
    source: Path, target: Path, format_: str, on_progress: ProgressCallback
) -> DerivationResult:
    """Write the same positions in another format. Games keep their numbers.

    Raise DatasetError if a file is unusable.
    """
    return _rewrite(source, target, {"format": format_}, format_, None, on_progress)


def _rewrite(
    source: Path,
    target: Path,
    settings: dict[str, Any],
    format_: str | None,
    mask: Callable[[Packed], npt.NDArray[np.bool_]] | None,
    on_progress: ProgressCallback,
) -> DerivationResult:
    with open_sources([source], target) as dataset:
        contents = dataset.contents[0]
        filters = [*contents.manifest.get("filters", ()), {**settings, "source": contents.digest}]
        manifest = contents.manifest | {"filters": filters}
        with open_writer(target, manifest, format_ or dataset.format, unique=False) as writer:
            writer.skip_to(contents.first_game)
            games = _games_by_number(dataset, writer.next_game)
            if mask is not None:
                games = (
                    StoredGame(game.positions, game.kept & mask(game.positions)) for game in games
                )
            _write_games(writer, games, on_progress)
            return derived_file(writer, len(dataset))


@contextlib.contextmanager
def open_sources(sources: Sequence[Path], target: Path) -> Iterator[Dataset]:
    """Open the sources. Raise DatasetError if one of them is the target."""
    require_writable([target], sources, DatasetError, regular=True)
    with Dataset(*sources) as dataset:
        yield dataset


def open_writer(
    target: Path, manifest: dict[str, Any], format_: str, *, unique: bool = True
) -> DatasetWriter:
    """Create a file, or continue an existing file with the same manifest.

    Raise DatasetError as `DatasetWriter` does, and also if the existing file is damaged.
    """
    writer = DatasetWriter(target, manifest, BLOCK_GAMES, unique=unique, format_=format_)
    if writer.damages:
        damage = writer.damages[0]
        writer.close()
        raise DatasetError(
            f"{target}: {damage.length} bytes at {damage.offset} are damaged (remove the file to "
            "start again)"
        )
    return writer


def _describe_sources(sources: Sequence[Path], dataset: Dataset) -> list[dict[str, Any]]:
    return [describe_source(path, dataset, number) for number, path in enumerate(sources)]


def _write_games(
    writer: DatasetWriter, games: Iterable[StoredGame], on_progress: ProgressCallback
) -> None:
    for done, game in enumerate(games, writer.next_game + 1):
        writer.add(*game)
        on_progress(done)
    writer.finish()


def derived_file(writer: DatasetWriter, positions: int) -> DerivationResult:
    """Describe a written file. `positions` is the number of positions in its source files."""
    left_out = positions - writer.positions
    return DerivationResult(str(writer.path), writer.games, writer.positions, left_out)


def _games_by_number(dataset: Dataset, first: int) -> Iterator[StoredGame]:
    # Missing games become empty, so that the other games keep their numbers.
    next_number = first
    for number, game in dataset.iter_games():
        if number < next_number:
            continue
        for _ in range(next_number, number):
            yield NO_GAME
        yield game
        next_number = number + 1


class _ShufflePools:
    """Temporary files to which games are randomly assigned."""

    def __init__(self, folder: Path, dataset: Dataset, seed: int) -> None:
        self._generator = np.random.default_rng(seed)
        self._lengths: list[list[int]] = []
        self._files: list[IO[bytes]] = []
        with name_in_errors(folder), contextlib.ExitStack() as stack:
            for _ in range(max(-(-len(dataset) // POOL_POSITIONS), 1)):
                file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
                self._files.append(stack.enter_context(file))
                self._lengths.append([])
            pool_numbers = self._generator.integers(len(self._files), size=dataset.games)
            for pool_number, (_, game) in zip(pool_numbers, dataset.iter_games(), strict=True):
                pooled = np.zeros(len(game.positions), _POOLED)
                pooled["position"], pooled["kept"] = game
                self._files[pool_number].write(pooled.tobytes())
                self._lengths[pool_number].append(len(pooled))
            for pool in self._files:
                pool.flush()
            self._stack = stack.pop_all()

    def __enter__(self) -> "_ShufflePools":
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def games(self) -> Iterator[StoredGame]:
        for file, lengths in zip(self._files, self._lengths, strict=True):
            file.seek(0)
            pooled = np.frombuffer(file.read(), _POOLED)
            ends = np.cumsum(lengths, dtype=np.int64)
            for index in self._generator.permutation(len(lengths)):
                game = pooled[ends[index] - lengths[index] : ends[index]]
                yield StoredGame(game["position"], game["kept"])
