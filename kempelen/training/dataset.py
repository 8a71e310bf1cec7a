"""Files of training positions: blocks of games that are appended and survive any interruption.

A file is a sequence of blocks. Each begins with `_HEAD`: the magic, what the block holds, the
number of its first game, how many games and positions, the length of the body and two checksums,
of the head itself and of the body. The first block's body is the manifest, JSON; all others hold
games: the number of positions of each, then the positions (`packed_dtype`, 32 bytes), both
compressed. A damaged block costs its own games: the reader goes on at the next sound one.

    with Dataset(path) as dataset:
        dataset[1000]                   # one packed position
        dataset[[5, 70_000, 12]]        # any, in any order
        for batch in dataset.batches(16384, TRAINING, seed=1): ...
"""

import contextlib
import hashlib
import json
import lzma
import mmap
import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from io import BufferedRandom
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from agent.chess.board.packed_position import PACKED_BYTES, packed_dtype
from agent.chess.evaluation.nnue_features import MAX_PIECES
from agent.io.config_diff import describe_changes
from agent.io.file_lock import lock_or_raise
from agent.io.files import name_in_errors, open_file, replace_atomically
from kempelen.training.manifests import validate, without_file_names

Packed = npt.NDArray[np.void]
Indices = npt.NDArray[np.int64]

_LOWEST_BITS = np.uint64(0x1111_1111_1111_1111)
ALL, TRAINING, VALIDATION = range(3)  # parts of a dataset
BLOCK_GAMES = 32  # that are compressed, and written, at a time
VALIDATION_SHARE = 20  # one game in so many is for validation
POOL_BLOCKS = 128  # blocks of games that are shuffled together

_HEADER = struct.Struct("<8s4sQIIIII")
_MAGIC = b"\x8bKmpln\r\n"
_MANIFEST, _GAMES = b"MANI", b"GAME"
_MAX_BODY = 1 << 28
_WORDS = PACKED_BYTES // 8
_LZMA = [{"id": lzma.FILTER_LZMA2, "preset": 1, "lc": 0, "lp": 0, "pb": 0}]


class DatasetError(Exception):
    """A file that cannot be used; the message names it and the remedy."""


@dataclass(frozen=True)
class Block:
    """Where a block of games lies in its file, and what it holds."""

    offset: int  # of the body
    length: int
    checksum: int
    first_game: int
    games: int
    positions: int

    @property
    def end(self) -> int:
        """Where the next block begins."""
        return self.offset + self.length


@dataclass(frozen=True)
class Damage:
    """A stretch of a file that no sound block covers."""

    offset: int
    length: int


@dataclass(frozen=True)
class Contents:
    """What a look through a whole file found. manifest_end: where that ends, 0 without one."""

    manifest: dict[str, Any]
    blocks: list[Block]
    damages: list[Damage]
    manifest_end: int

    @property
    def end(self) -> int:
        """Where the last sound block ends; 0 if there is none."""
        return self.blocks[-1].end if self.blocks else 0

    @property
    def next_game(self) -> int:
        """The number of the first game that is not in the file."""
        return max((block.first_game + block.games for block in self.blocks), default=0)

    @property
    def games(self) -> int:
        """How many games there are, those of which nothing was kept included."""
        return sum(block.games for block in self.blocks)

    @property
    def positions(self) -> int:
        """How many positions there are."""
        return sum(block.positions for block in self.blocks)

    @property
    def digest(self) -> str:
        """What tells the games from those of other files, by the checksums of the blocks."""
        digest = hashlib.sha256()
        for block in self.blocks:
            digest.update(f"{block.first_game} {block.length} {block.checksum}\n".encode())
        return digest.hexdigest()[:16]


def scan(data: bytes | mmap.mmap) -> Contents:
    """Find the sound blocks, checking every byte, and what lies between them.

    Raises ValueError if a manifest is sound, but none that we write, or is not the only one.
    """
    manifest: dict[str, Any] = {}
    blocks: list[Block] = []
    damages: list[Damage] = []
    offset = manifest_end = 0
    while offset < len(data):
        found = _block_at(data, offset)
        if found is None:
            following = data.find(_MAGIC, offset + 1)
            while following >= 0 and _block_at(data, following) is None:
                following = data.find(_MAGIC, following + 1)
            end = len(data) if following < 0 else following
            damages.append(Damage(offset, end - offset))
            offset = end
            continue
        kind, block = found
        next_game = blocks[-1].first_game + blocks[-1].games if blocks else 0
        if (manifest_end and kind == _MANIFEST) or block.first_game < next_game:
            raise ValueError(
                "it is several files, one after the other: `kempelen data merge` joins them"
            )
        if kind == _MANIFEST:
            manifest, manifest_end = _manifest(bytes(data[block.offset : block.end])), block.end
        else:
            blocks.append(block)
        offset = block.end
    return Contents(manifest, blocks, damages, manifest_end)


def _manifest(body: bytes) -> dict[str, Any]:
    try:
        return validate(json.loads(body))
    except RecursionError:
        raise ValueError("its manifest cannot be used: it is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"its manifest cannot be used: {error}") from None


def _block_at(data: bytes | mmap.mmap, offset: int) -> tuple[bytes, Block] | None:
    """Read and check the block that begins at `offset`; None if none does."""
    head = bytes(data[offset : offset + _HEADER.size])
    if len(head) < _HEADER.size or not head.startswith(_MAGIC):
        return None
    _, kind, first_game, games, positions, length, checksum, of_head = _HEADER.unpack(head)
    start = offset + _HEADER.size
    if of_head != zlib.crc32(head[:-4]) or length > _MAX_BODY or start + length > len(data):
        return None
    if kind not in (_MANIFEST, _GAMES):
        return None
    if checksum != zlib.crc32(data[start : start + length]):
        return None
    return kind, Block(start, length, checksum, first_game, games, positions)


def _block(
    kind: bytes, body: bytes, first_game: int = 0, games: int = 0, positions: int = 0
) -> bytes:
    head = _HEADER.pack(_MAGIC, kind, first_game, games, positions, len(body), zlib.crc32(body), 0)[
        :-4
    ]
    return head + struct.pack("<I", zlib.crc32(head)) + body


def encode_games(first_game: int, games: Sequence[Packed]) -> bytes:
    """Make the block of some games, whose numbers follow one another."""
    counts = np.array([len(game) for game in games], "<u4")
    positions = np.concatenate(games) if games else np.zeros(0, packed_dtype)
    words = positions.view("<u8").reshape(-1, _WORDS)
    # Neighbours in a game are alike, and so are the same bytes of different positions.
    differences = np.vstack([words[:1], words[1:] ^ words[:-1]])
    columns = differences.view(np.uint8).reshape(-1, PACKED_BYTES).T
    raw = counts.tobytes() + columns.tobytes()
    body = lzma.compress(raw, lzma.FORMAT_RAW, filters=_LZMA)
    return _block(_GAMES, body, first_game, len(games), len(positions))


def _decode_games(data: bytes, block: Block) -> tuple[npt.NDArray[np.uint32], Packed]:
    try:
        raw = lzma.decompress(data, lzma.FORMAT_RAW, filters=_LZMA)
        counts = np.frombuffer(raw, "<u4", block.games)
        columns = np.frombuffer(raw, np.uint8, offset=4 * block.games).reshape(PACKED_BYTES, -1)
    except (lzma.LZMAError, ValueError):  # the checksum fits, but nothing of ours
        raise DatasetError(f"the block at {block.offset} holds no games") from None
    differences = np.ascontiguousarray(columns.T).view("<u8")
    words = np.bitwise_xor.accumulate(differences, axis=0)
    return counts, words.view(packed_dtype).reshape(-1)


class Dataset:
    """The positions of one file, or of several, read at random or in shuffled batches."""

    def __init__(self, *paths: str | os.PathLike[str]) -> None:
        """Open the files and check every block.

        Raises DatasetError if a file cannot be read or is none of ours.
        """
        self.contents: list[Contents] = []
        self._block_locations: list[tuple[mmap.mmap, Block]] = []
        with contextlib.ExitStack() as stack:
            for path in paths:
                data = stack.enter_context(_map_file(Path(path)))
                try:
                    contents = scan(data)
                except ValueError as error:
                    raise DatasetError(f"{path}: {error}") from None
                if not contents.manifest and not contents.blocks:
                    raise DatasetError(f"{path} is not a file of positions")
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
        """Close the files."""
        self._decoded.cache_clear()
        self._stack.close()

    def __len__(self) -> int:
        return int(self._starts[-1])

    @property
    def games(self) -> int:
        """How many games there are, those of which nothing was kept included."""
        return sum(contents.games for contents in self.contents)

    def __getitem__(self, index: Any) -> Any:
        """Return a packed position; for a slice, list or array of indices an array of them."""
        if isinstance(index, slice):
            return self._gather(np.arange(*index.indices(len(self)), dtype=np.int64))
        if isinstance(index, (int, np.integer)):
            return self._gather(np.array([index], dtype=np.int64))[0]
        return self._gather(np.asarray(index, dtype=np.int64))

    def _gather(self, indices: Indices) -> Packed:
        indices = np.where(indices < 0, indices + len(self), indices)
        if len(indices) and not (indices.min() >= 0 and indices.max() < len(self)):
            raise IndexError(f"no such position: there are {len(self)}")
        result = np.zeros(len(indices), packed_dtype)
        places = np.searchsorted(self._starts, indices, side="right") - 1
        for place in np.unique(places):
            wanted = places == place
            positions, _ = self._decoded(int(place))
            result[wanted] = positions[indices[wanted] - self._starts[place]]
        return result

    def game_numbers(self) -> list[int]:
        """Return the numbers of the games there are, of which nothing may have been kept."""
        return [
            number
            for _, block in self._block_locations
            for number in range(block.first_game, block.first_game + block.games)
        ]

    def game(self, number: int) -> Packed:
        """Return the positions of one game; none if it is not there."""
        for place, (_, block) in enumerate(self._block_locations):
            if block.first_game <= number < block.first_game + block.games:
                positions, games = self._decoded(place)
                found: Packed = positions[games == number]
                return found
        return np.zeros(0, packed_dtype)

    def iter_games(self, skip: int = 0) -> Iterator[tuple[int, Packed]]:
        """Yield the number and the positions of each game, file by file, after the first `skip`."""
        for place, (_, block) in enumerate(self._block_locations):
            if skip >= block.games:
                skip -= block.games
                continue
            positions, games = self._decoded(place)
            ends = np.searchsorted(games, np.arange(block.games) + block.first_game, side="right")
            for game in range(skip, block.games):
                start = ends[game - 1] if game else 0
                yield block.first_game + game, positions[start : ends[game]]
            skip = 0

    def _decode(self, place: int) -> tuple[Packed, npt.NDArray[np.int64]]:
        """Return a block's positions, and the number of the game of each."""
        data, block = self._block_locations[place]
        counts, positions = _decode_games(data[block.offset : block.end], block)
        return positions, np.repeat(np.arange(block.games) + block.first_game, counts)

    def blocks(self, part: int = ALL) -> Iterator[Packed]:
        """Yield the positions block by block, in the order of the games."""
        for place in range(len(self._block_locations)):
            yield self._part_of(place, part)

    def _part_of(self, place: int, part: int) -> Packed:
        positions, games = self._decoded(place)
        return positions if part == ALL else positions[is_validation(games) == (part == VALIDATION)]

    def batches(self, size: int, part: int, seed: int) -> Iterator[Packed]:
        """Yield all positions of a part once, shuffled, in arrays of `size`; the last is shorter.

        Blocks of games are drawn in random order and shuffled in pools, so that a file larger
        than memory can be used.
        """
        generator = np.random.default_rng(seed)
        order = generator.permutation(len(self._block_locations))
        rest = np.zeros(0, packed_dtype)
        for first in range(0, len(order), POOL_BLOCKS):
            pool = [self._part_of(int(place), part) for place in order[first : first + POOL_BLOCKS]]
            shuffled = np.concatenate(pool)
            generator.shuffle(shuffled)
            rest = np.concatenate([rest, shuffled])
            whole = len(rest) // size * size
            for start in range(0, whole, size):
                yield rest[start : start + size]
            rest = rest[whole:]
        if len(rest):
            yield rest


def is_validation(games: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Tell which games, by their numbers, are for validation and not for training."""
    return np.equal(games % VALIDATION_SHARE, VALIDATION_SHARE - 1)


def are_valid(positions: Packed) -> npt.NDArray[np.bool_]:
    """Tell which have at most 32 pieces, all of them of a kind that there is."""
    few: npt.NDArray[np.bool_] = np.bitwise_count(positions["occupied"]) <= MAX_PIECES
    pieces = positions["pieces"]
    one, two = np.uint64(1), np.uint64(2)
    strange = pieces & pieces >> one & pieces >> two & _LOWEST_BITS
    known: npt.NDArray[np.bool_] = ~strange.any(axis=1)
    return few & known


@contextlib.contextmanager
def _map_file(path: Path) -> Iterator[mmap.mmap]:
    try:
        with open_file(path) as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            yield data
    except OSError as error:
        raise DatasetError(f"{path}: {error.strerror}") from None
    except ValueError:  # nothing to map
        raise DatasetError(f"{path} is empty") from None


class SeenPositions:
    """Which positions have been seen, by 64-bit hashes: 8 bytes each.

    Hashes lie in sorted arrays of growing size, two of like size being merged (Bentley and Saxe,
    'Decomposable searching problems', 1980).
    """

    def __init__(self) -> None:
        self._runs: list[npt.NDArray[np.uint64]] = []

    def add(self, positions: Packed) -> npt.NDArray[np.bool_]:
        """Note the positions; return which of them are new, the first of equal ones only."""
        hashes = _hashes(positions)
        new = np.zeros(len(hashes), bool)
        unique, first = np.unique(hashes, return_index=True)
        new[first] = True
        for run in self._runs:
            places = np.minimum(np.searchsorted(run, unique), len(run) - 1)
            new[first[run[places] == unique]] = False
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
    """Hash what makes a position: pieces, turn, castling and en passant, but no counters."""
    hashes = positions["state"].astype(np.uint64)
    for word in (positions["occupied"], positions["pieces"][:, 0], positions["pieces"][:, 1]):
        hashes = (hashes ^ word) * np.uint64(0x9E3779B97F4A7C15)
        hashes ^= hashes >> np.uint64(29)
        hashes *= np.uint64(0xBF58476D1CE4E5B9)
        hashes ^= hashes >> np.uint64(32)
    return hashes


class DatasetWriter:
    """Appends games to a file, and holds it against a second writer.

    Games come in the order of their numbers. They are written in blocks of `block_games`, so that
    a file that was interrupted and continued is the same, byte for byte, as one that was not.
    """

    def __init__(
        self, path: Path, manifest: dict[str, Any], block_games: int, *, unique: bool = True
    ) -> None:
        """Begin a file, or go on with one that has the same manifest.

        unique: leave out positions that are there already, which are remembered in 8 bytes each.

        Raises DatasetError if it has another, is in use, or cannot be written.
        """
        self.path = path
        self.damages: list[Damage] = []
        self.positions = self.next_game = self.duplicates = 0
        self._block_games = block_games
        self._seen = SeenPositions() if unique else None
        self._pending: list[Packed] = []
        with contextlib.ExitStack() as stack:
            stack.enter_context(lock_or_raise(path, DatasetError))
            try:
                self._file = stack.enter_context(self._open(manifest))
            except OSError as error:
                raise DatasetError(f"{path}: {error.strerror}") from None
            self._stack = stack.pop_all()

    def _open(self, manifest: dict[str, Any]) -> BufferedRandom:
        if self.path.exists() and self.path.stat().st_size:
            with Dataset(self.path) as dataset:
                contents = dataset.contents[0]
                _require_same_settings(self.path, contents.manifest, manifest)
                if self._seen is not None:
                    for positions in dataset.blocks():
                        self._seen.add(positions)
                if contents.damages and contents.damages[-1].offset >= contents.end:
                    contents.damages.pop()
                self.positions, self.next_game = len(dataset), contents.next_game
                self.damages = contents.damages
            end = contents.end or contents.manifest_end
            file = self.path.open("r+b")
            # What an interruption left half written is written again.
            file.truncate(end)
            file.seek(end)
            return file
        body = _manifest_body(manifest)
        if len(body) > _MAX_BODY:
            raise DatasetError(
                f"{self.path}: its manifest would be of {len(body)} bytes, and {_MAX_BODY} are "
                "the most that are read: take fewer openings, or merge fewer files"
            )
        replace_atomically(self.path, _block(_MANIFEST, body))
        file = self.path.open("r+b")
        file.seek(0, os.SEEK_END)
        return file

    def add(self, game: Packed) -> bool:
        """Take the next game; return whether a block has been written with it."""
        new = game if self._seen is None else game[self._seen.add(game)]
        self.duplicates += len(game) - len(new)
        self._pending.append(new)
        if len(self._pending) < self._block_games:
            return False
        self._write_block()
        return True

    def finish(self) -> None:
        """Write the games of an unfinished block: no more will come."""
        if self._pending:
            self._write_block()

    def _write_block(self) -> None:
        with name_in_errors(self.path):
            self._file.write(encode_games(self.next_game, self._pending))
            self._file.flush()
            os.fsync(self._file.fileno())
        self.next_game += len(self._pending)
        self.positions += sum(map(len, self._pending))
        self._pending = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; games of an unfinished block are forgotten, to be made again."""
        with name_in_errors(self.path):  # what could not be written is tried again
            self._stack.close()


def _manifest_body(manifest: dict[str, Any]) -> bytes:
    return json.dumps(manifest, indent=1).encode() + b"\n"


def _require_same_settings(path: Path, old: dict[str, Any], new: dict[str, Any]) -> None:
    """Raise DatasetError if the file was begun with other settings, naming them."""
    if not old:
        raise DatasetError(f"{path}: its manifest is damaged, so it can be read but not continued")
    # A source that has another name by now is the same one.
    if changed := describe_changes(without_file_names(old), without_file_names(new)):
        reasons = "; ".join(changed)
        raise DatasetError(f"{path} was begun otherwise ({reasons}): choose another file")
