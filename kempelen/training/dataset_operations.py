"""Files of positions made of others: merged, shuffled, split, filtered.

All take games one by one, in bounded memory, and what they write follows from what they read and
from their settings: after an interruption the same call goes on, to the same file, byte for byte.
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
from kempelen.training.dataset import BLOCK_GAMES, Dataset, DatasetError, DatasetWriter, Packed
from kempelen.training.packed_positions import game_plies, piece_counts

POOL_POSITIONS = 4_000_000  # that are in memory at a time, while they are shuffled

ProgressCallback = Callable[[int], None]


@dataclass(frozen=True)
class DerivedFile:
    """A file that was made, and how many positions of its sources it does not have."""

    file: str
    games: int
    positions: int
    left_out: int


def describe_source(path: Path, dataset: Dataset, number: int = 0) -> dict[str, Any]:
    """Return what a file made of others says of one of them."""
    contents = dataset.contents[number]
    return {
        "file": path.name,
        "games": contents.games,
        "positions": contents.positions,
        "digest": contents.digest,
        "manifest": contents.manifest,
    }


def merge(sources: Sequence[Path], target: Path, on_progress: ProgressCallback) -> DerivedFile:
    """Write the games of all files one after the other, numbered anew, no position twice.

    told: here as below, is told how many games are done.
    Raises DatasetError, here as below, if a file cannot be used.
    """
    with open_sources(sources, target) as dataset:
        manifest = {"merged": _describe_sources(sources, dataset)}
        with open_writer(target, manifest) as writer:
            games = dataset.iter_games(writer.next_game)
            _write_games(writer, (game for _, game in games), on_progress)
            return derived_file(writer, len(dataset))


def shuffle(
    sources: Sequence[Path], target: Path, seed: int, on_progress: ProgressCallback
) -> DerivedFile:
    """Write the games of all files in random order, numbered anew.

    Every order is as likely: each game goes to a pool at random, pools are shuffled in memory (Rao,
    'Randomisation of a file of records', 1961; Sandelius, 1962). They wait in temporary files
    beside the target, 32 bytes a position. Of several files no position is written twice, which
    takes 8 bytes of memory each.
    """
    with open_sources(sources, target) as dataset:
        manifest = {"shuffled": _describe_sources(sources, dataset), "seed": seed}
        with open_writer(target, manifest, unique=len(sources) > 1) as writer:
            if writer.next_game < dataset.games:
                with _Pools(target.absolute().parent, dataset, seed) as pools:
                    games = itertools.islice(pools.games(), writer.next_game, None)
                    _write_games(writer, games, on_progress)
            return derived_file(writer, len(dataset))


def split(
    source: Path, training: Path, validation: Path, share: Fraction, on_progress: ProgressCallback
) -> tuple[DerivedFile, DerivedFile]:
    """Write the games of a file to two, that share of them to the second, numbered anew.

    They are spread evenly: with a share of 1/20 those that `Dataset` has for validation.
    """
    require_writable([training, validation], [source], DatasetError, regular=True)
    kept = _write_part(source, training, share, False, on_progress)
    held_out = _write_part(
        source, validation, share, True, lambda done: on_progress(kept.games + done)
    )
    return kept, held_out


def _write_part(
    source: Path, target: Path, share: Fraction, held_out: bool, on_progress: ProgressCallback
) -> DerivedFile:
    with open_sources([source], target) as dataset:
        part = "validation" if held_out else "training"
        manifest = {
            "split": _describe_sources([source], dataset),
            "part": part,
            "share": str(share),
        }
        with open_writer(target, manifest, unique=False) as writer:
            games = (
                game
                for number, game in dataset.iter_games()
                if (int((number + 1) * share) > int(number * share)) == held_out
            )
            _write_games(writer, itertools.islice(games, writer.next_game, None), on_progress)
            return derived_file(writer, len(dataset))


@dataclass(frozen=True)
class PositionSelection:
    """Which positions are wanted; what is None excludes none."""

    most_score: int | None = None  # centipawns, for whichever side
    least_pieces: int | None = None  # kings and pawns included
    most_pieces: int | None = None
    first_ply: int | None = None  # of the game, from 0
    last_ply: int | None = None
    most_halfmoves: int | None = None  # since a capture or a pawn's move
    results_agree: int | None = None  # who is ahead by more centipawns has not lost

    def mask(self, positions: Packed) -> npt.NDArray[np.bool_]:
        """Tell which positions are wanted."""
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
        for values, least, most in limits:
            if least is not None:
                passing &= values >= least
            if most is not None:
                passing &= values <= most
        return passing


def filter_positions(
    source: Path, target: Path, wanted: PositionSelection, on_progress: ProgressCallback
) -> DerivedFile:
    """Write the positions that are wanted; games keep their numbers, if nothing else of them."""
    with open_sources([source], target) as dataset:
        contents = dataset.contents[0]
        chosen = {name: value for name, value in asdict(wanted).items() if value is not None}
        filters = [*contents.manifest.get("filters", ()), {**chosen, "source": contents.digest}]
        manifest = contents.manifest | {"filters": filters}
        with open_writer(target, manifest, unique=False) as writer:
            games = _games_by_number(dataset, writer.next_game)
            kept = (game[wanted.mask(game)] for game in games)
            _write_games(writer, kept, on_progress)
            return derived_file(writer, len(dataset))


@contextlib.contextmanager
def open_sources(sources: Sequence[Path], target: Path) -> Iterator[Dataset]:
    """Open files that are to be read, once it is known that the target is none of them."""
    require_writable([target], sources, DatasetError, regular=True)
    with Dataset(*sources) as dataset:
        yield dataset


def open_writer(target: Path, manifest: dict[str, Any], *, unique: bool = True) -> DatasetWriter:
    """Begin a file, or go on with it, as `Writer` does; refuse one that has lost games."""
    writer = DatasetWriter(target, manifest, BLOCK_GAMES, unique=unique)
    if writer.damages:
        damage = writer.damages[0]
        writer.close()
        raise DatasetError(
            f"{target}: {damage.length} bytes at {damage.offset} are damaged, so that games would "
            "be missing: remove it, to begin anew"
        )
    return writer


def _describe_sources(sources: Sequence[Path], dataset: Dataset) -> list[dict[str, Any]]:
    return [describe_source(path, dataset, number) for number, path in enumerate(sources)]


def _write_games(
    writer: DatasetWriter, games: Iterable[Packed], on_progress: ProgressCallback
) -> None:
    """Write the games that are missing, the last that there are."""
    for done, game in enumerate(games, writer.next_game + 1):
        writer.add(game)
        on_progress(done)
    writer.finish()


def derived_file(writer: DatasetWriter, positions: int) -> DerivedFile:
    """Tell what a writer has written of so many positions."""
    left_out = positions - writer.positions
    return DerivedFile(str(writer.path), writer.next_game, writer.positions, left_out)


def _games_by_number(dataset: Dataset, first: int) -> Iterator[Packed]:
    """Yield the game of each number from the first on, empty where it is lost."""
    nothing = np.zeros(0, packed_dtype)
    next_number = first
    for number, game in dataset.iter_games():
        if number < next_number:
            continue
        for _ in range(next_number, number):
            yield nothing
        yield game
        next_number = number + 1


class _Pools:
    """Games spread over temporary files at random."""

    def __init__(self, folder: Path, dataset: Dataset, seed: int) -> None:
        self._generator = np.random.default_rng(seed)
        self._lengths: list[list[int]] = []
        self._files: list[IO[bytes]] = []
        with name_in_errors(folder), contextlib.ExitStack() as stack:
            for _ in range(max(-(-len(dataset) // POOL_POSITIONS), 1)):
                file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
                self._files.append(stack.enter_context(file))
                self._lengths.append([])
            places = self._generator.integers(len(self._files), size=dataset.games)
            for place, (_, game) in zip(places, dataset.iter_games(), strict=True):
                self._files[place].write(game.tobytes())
                self._lengths[place].append(len(game))
            for pool in self._files:
                pool.flush()
            self._stack = stack.pop_all()

    def __enter__(self) -> "_Pools":
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def games(self) -> Iterator[Packed]:
        """Yield the games in random order."""
        for file, lengths in zip(self._files, self._lengths, strict=True):
            file.seek(0)
            positions = np.frombuffer(file.read(), packed_dtype)
            ends = np.cumsum(lengths, dtype=np.int64)
            for game in self._generator.permutation(len(lengths)):
                yield positions[ends[game] - lengths[game] : ends[game]]
