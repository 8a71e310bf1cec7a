"""Read files of training positions, with random access and in shuffled batches."""

import contextlib
import mmap
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from agent.chess.board.packed_position import packed_dtype
from agent.chess.evaluation.nnue_format import MAX_PIECES
from agent.io.files import open_file
from kempelen.training.dataset_blocks import (
    Block,
    DatasetContents,
    DatasetError,
    Mask,
    Packed,
    decode_games,
    scan,
)
from kempelen.training.manifests import GAMES, POSITIONS

Indices = npt.NDArray[np.int64]

_LOWEST_BITS = np.uint64(0x1111_1111_1111_1111)
ALL, TRAINING, VALIDATION = range(3)  # parts of a dataset
VALIDATION_SHARE = 20  # one in VALIDATION_SHARE games is for validation
POOL_BLOCKS = 128  # blocks shuffled together


class StoredGame(NamedTuple):
    """The positions of a game in a file. Those that are not `kept` only connect the others.

    Only the positions that are kept have scores, and are training positions.
    """

    positions: Packed
    kept: Mask

    @property
    def training(self) -> Packed:
        training: Packed = self.positions[self.kept]
        return training


NO_GAME = StoredGame(np.zeros(0, packed_dtype), np.zeros(0, bool))


@dataclass(frozen=True)
class _BlockGames:
    """The games of a block. Training positions are stored twice, for faster access."""

    ends: Indices  # of each game in `positions`
    positions: Packed
    kept: Mask
    training: Packed
    numbers: Indices  # the game of each training position

    def game(self, index: int) -> StoredGame:
        place = slice(self.ends[index - 1] if index else 0, self.ends[index])
        return StoredGame(self.positions[place], self.kept[place])


class Dataset:
    """The positions of one or more files, with random access and shuffled batches."""

    def __init__(self, *paths: str | os.PathLike[str]) -> None:
        """Open the files and verify every block.

        Raise DatasetError if a file is unreadable or not a file of positions.
        """
        self.contents: list[DatasetContents] = []
        self._block_locations: list[tuple[mmap.mmap, Block]] = []
        with contextlib.ExitStack() as stack:
            for path in paths:
                data = stack.enter_context(_map_file(Path(path)))
                try:
                    contents = scan(data)
                except ValueError as error:
                    raise DatasetError(f"{path}: {error}") from None
                if not contents.manifest and not contents.blocks:
                    raise DatasetError(f"{path}: not a file of positions")
                self.contents.append(contents)
                self._block_locations += [(data, block) for block in contents.blocks]
            self._stack = stack.pop_all()
        counts = [block.positions for _, block in self._block_locations]
        self._starts = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        self._decoded = lru_cache(maxsize=POOL_BLOCKS)(self._decode)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self._decoded.cache_clear()
        self._stack.close()

    def __len__(self) -> int:
        return int(self._starts[-1])

    @property
    def games(self) -> int:
        return sum(contents.games for contents in self.contents)

    @property
    def format(self) -> str:
        """The format of files made from this dataset: GAMES if one of its files has it."""
        return GAMES if any(each.format == GAMES for each in self.contents) else POSITIONS

    def __getitem__(self, index: Any) -> Any:
        """Return one position for an integer, or an array of positions for a slice or indices."""
        if isinstance(index, slice):
            return self._gather(np.arange(*index.indices(len(self)), dtype=np.int64))
        if isinstance(index, (int, np.integer)):
            return self._gather(np.array([index], dtype=np.int64))[0]
        return self._gather(np.asarray(index, dtype=np.int64))

    def _gather(self, indices: Indices) -> Packed:
        indices = np.where(indices < 0, indices + len(self), indices)
        if len(indices) and not (indices.min() >= 0 and indices.max() < len(self)):
            raise IndexError(f"position index out of range (length {len(self)})")
        result = np.zeros(len(indices), packed_dtype)
        block_indices = np.searchsorted(self._starts, indices, side="right") - 1
        for block_index in np.unique(block_indices):
            in_block = block_indices == block_index
            positions = self._decoded(int(block_index)).training
            result[in_block] = positions[indices[in_block] - self._starts[block_index]]
        return result

    def game_numbers(self) -> list[int]:
        """Return the numbers of all games, including games without stored positions."""
        return [
            number
            for _, block in self._block_locations
            for number in range(block.first_game, block.first_game + block.games)
        ]

    def game(self, number: int) -> StoredGame:
        """Return a game, or NO_GAME if it is missing."""
        for index, (_, block) in enumerate(self._block_locations):
            if block.first_game <= number < block.first_game + block.games:
                return self._decoded(index).game(number - block.first_game)
        return NO_GAME

    def iter_games(self, skip: int = 0) -> Iterator[tuple[int, StoredGame]]:
        """Yield each game and its number, after skipping `skip` games."""
        for index, (_, block) in enumerate(self._block_locations):
            if skip >= block.games:
                skip -= block.games
                continue
            games = self._decoded(index)
            for game in range(skip, block.games):
                yield block.first_game + game, games.game(game)
            skip = 0

    def _decode(self, index: int) -> _BlockGames:
        data, block = self._block_locations[index]
        counts, positions, kept = decode_games(data[block.offset : block.end], block)
        numbers = np.repeat(np.arange(block.games) + block.first_game, counts)
        ends = np.cumsum(counts, dtype=np.int64)
        return _BlockGames(ends, positions, kept, positions[kept], numbers[kept])

    @property
    def block_count(self) -> int:
        return len(self._block_locations)

    def block(self, index: int, part: int = ALL) -> tuple[Packed, Indices]:
        """Return the training positions of a part of a block, and their games.

        Do not change them.
        """
        games = self._decoded(index)
        if part == ALL:
            return games.training, games.numbers
        chosen = is_validation(games.numbers) == (part == VALIDATION)
        return games.training[chosen], games.numbers[chosen]

    def blocks(self, part: int = ALL) -> Iterator[Packed]:
        """Yield each block's positions in game order. `part` is ALL, TRAINING or VALIDATION."""
        for index in range(len(self._block_locations)):
            yield self.block(index, part)[0]

    def batches(self, size: int, part: int, seed: int) -> Iterator[Packed]:
        """Yield each position of `part` exactly once, in shuffled batches of `size` positions.

        The last batch may be smaller. Blocks are read in random order, and every `POOL_BLOCKS`
        blocks are shuffled together, so that files may be larger than the memory.
        """
        generator = np.random.default_rng(seed)
        order = generator.permutation(len(self._block_locations))
        rest = np.zeros(0, packed_dtype)
        for first in range(0, len(order), POOL_BLOCKS):
            indices = order[first : first + POOL_BLOCKS]
            pool = [self.block(int(index), part)[0] for index in indices]
            shuffled = np.concatenate(pool)
            generator.shuffle(shuffled)
            rest = np.concatenate([rest, shuffled])
            n_full = len(rest) // size * size
            for start in range(0, n_full, size):
                yield rest[start : start + size]
            rest = rest[n_full:]
        if len(rest):
            yield rest


def is_validation(games: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Return a mask of the validation games, which are one in `VALIDATION_SHARE` games."""
    return np.equal(games % VALIDATION_SHARE, VALIDATION_SHARE - 1)


def are_valid(positions: Packed) -> npt.NDArray[np.bool_]:
    """Return a mask of the positions with at most 32 pieces, all of known types."""
    few_enough: npt.NDArray[np.bool_] = np.bitwise_count(positions["occupied"]) <= MAX_PIECES
    pieces = positions["pieces"]
    one, two = np.uint64(1), np.uint64(2)
    invalid = pieces & pieces >> one & pieces >> two & _LOWEST_BITS
    known: npt.NDArray[np.bool_] = ~invalid.any(axis=1)
    return few_enough & known


@contextlib.contextmanager
def _map_file(path: Path) -> Iterator[mmap.mmap]:
    try:
        with open_file(path) as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            yield data
    except OSError as error:
        raise DatasetError(f"{path}: {error.strerror}") from None
    except ValueError:  # mmap rejects empty files
        raise DatasetError(f"{path}: empty file") from None
