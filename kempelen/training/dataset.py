"""Read and write files of training positions.

A file is a sequence of blocks, and writing only appends. A block is a header (`_HEADER`) and a
body. The header holds a magic number, the block type, the number of the first game, the numbers of
games and positions, the length and CRC-32 of the body, and the CRC-32 of the header.

The first body is the manifest as JSON. The others hold games, in one of two formats:

- POSITIONS: the number of positions in each game, and the positions as 32-byte `packed_dtype`
  records, both compressed
- GAMES: start positions, moves and scores, see `game_codec`; less than half as large

A damaged block loses only its own games.
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
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from agent.chess.board.packed_position import PACKED_BYTES, packed_dtype
from agent.chess.evaluation.nnue_features import MAX_PIECES
from agent.io.append_file import AppendFile
from agent.io.config_diff import describe_changes
from agent.io.file_lock import lock_or_raise
from agent.io.files import open_file, replace_atomically
from kempelen.training.manifests import GAMES, POSITIONS, validate, without_file_names

if TYPE_CHECKING:
    from kempelen.training.game_codec import GameCodec

Packed = npt.NDArray[np.void]
Indices = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

_LOWEST_BITS = np.uint64(0x1111_1111_1111_1111)
ALL, TRAINING, VALIDATION = range(3)  # parts of a dataset
BLOCK_GAMES = 32  # games per block
VALIDATION_SHARE = 20  # one in VALIDATION_SHARE games is for validation
POOL_BLOCKS = 128  # blocks shuffled together

_HEADER = struct.Struct("<8s4sQIIIII")
_MAGIC = b"\x8bKmpln\r\n"
_MANIFEST, _POSITIONS, _GAMES = b"MANI", b"GAME", b"PLAY"
_MAX_BODY = 1 << 28
_WORDS = PACKED_BYTES // 8
_LZMA = [{"id": lzma.FILTER_LZMA2, "preset": 1, "lc": 0, "lp": 0, "pb": 0}]


class DatasetError(Exception):
    """Raised if a file of positions is unusable. The message says how to fix the problem."""


@dataclass(frozen=True)
class Block:
    """The location of a block in its file, and its numbers of games and positions."""

    offset: int  # start of the body
    length: int
    checksum: int
    first_game: int
    games: int
    positions: int
    format: str  # one of FORMATS

    @property
    def end(self) -> int:
        return self.offset + self.length


@dataclass(frozen=True)
class Damage:
    """A section of a file that does not belong to any intact block."""

    offset: int
    length: int


@dataclass(frozen=True)
class DatasetContents:
    """The result of scanning a file.

    `manifest_end` is the end offset of the manifest, or 0 if the file has no manifest.
    """

    manifest: dict[str, Any]
    blocks: list[Block]
    damages: list[Damage]
    manifest_end: int

    @property
    def end(self) -> int:
        """The end offset of the last intact block of games, or 0 if the file has none."""
        return self.blocks[-1].end if self.blocks else 0

    @property
    def first_game(self) -> int:
        """The number of the first game, which is not 0 in files of a run with a ledger."""
        return self.blocks[0].first_game if self.blocks else 0

    @property
    def next_game(self) -> int:
        return max((block.first_game + block.games for block in self.blocks), default=0)

    @property
    def games(self) -> int:
        """The number of games, including games without stored positions."""
        return sum(block.games for block in self.blocks)

    @property
    def positions(self) -> int:
        return sum(block.positions for block in self.blocks)

    @property
    def format(self) -> str:
        """The format of the first block."""
        return self.blocks[0].format if self.blocks else POSITIONS

    @property
    def digest(self) -> str:
        """A hexadecimal hash of the block checksums, which identifies the games."""
        digest = hashlib.sha256()
        for block in self.blocks:
            digest.update(f"{block.first_game} {block.length} {block.checksum}\n".encode())
        return digest.hexdigest()[:16]


def scan(data: bytes | mmap.mmap) -> DatasetContents:
    """Find the intact blocks and the damaged sections of a file, and verify all checksums.

    Raise ValueError if the manifest is invalid or the data are several joined files.
    """
    manifest: dict[str, Any] = {}
    blocks: list[Block] = []
    damages: list[Damage] = []
    offset = manifest_end = 0
    while offset < len(data):
        result = _block_at(data, offset)
        if result is None:
            next_offset = data.find(_MAGIC, offset + 1)
            while next_offset >= 0 and _block_at(data, next_offset) is None:
                next_offset = data.find(_MAGIC, next_offset + 1)
            end = len(data) if next_offset < 0 else next_offset
            damages.append(Damage(offset, end - offset))
            offset = end
            continue
        kind, block = result
        next_game = blocks[-1].first_game + blocks[-1].games if blocks else 0
        if (manifest_end and kind == _MANIFEST) or block.first_game < next_game:
            raise ValueError("several files in one (use `kempelen train data merge` to join files)")
        if kind == _MANIFEST:
            manifest, manifest_end = _manifest(bytes(data[block.offset : block.end])), block.end
        else:
            blocks.append(block)
        offset = block.end
    return DatasetContents(manifest, blocks, damages, manifest_end)


def _manifest(body: bytes) -> dict[str, Any]:
    try:
        return validate(json.loads(body))
    except RecursionError:
        raise ValueError("invalid manifest: nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"invalid manifest: {error}") from None


def _block_at(data: bytes | mmap.mmap, offset: int) -> tuple[bytes, Block] | None:
    head = bytes(data[offset : offset + _HEADER.size])
    if len(head) < _HEADER.size or not head.startswith(_MAGIC):
        return None
    _, kind, first_game, games, positions, length, checksum, header_checksum = _HEADER.unpack(head)
    start = offset + _HEADER.size
    if header_checksum != zlib.crc32(head[:-4]) or length > _MAX_BODY or start + length > len(data):
        return None
    if checksum != zlib.crc32(data[start : start + length]):
        return None
    if kind not in (_MANIFEST, _POSITIONS, _GAMES):
        raise ValueError(f"unknown block type {kind!r} (update Kempelen to read this file)")
    format_ = GAMES if kind == _GAMES else POSITIONS
    return kind, Block(start, length, checksum, first_game, games, positions, format_)


def _block(
    kind: bytes, body: bytes, first_game: int = 0, games: int = 0, positions: int = 0
) -> bytes:
    head = _HEADER.pack(_MAGIC, kind, first_game, games, positions, len(body), zlib.crc32(body), 0)[
        :-4
    ]
    return head + struct.pack("<I", zlib.crc32(head)) + body


@cache
def _codec() -> "GameCodec":
    # lazy import: compiled code
    from kempelen.training.game_codec import GameCodec

    return GameCodec()


def encode_games(
    first_game: int, games: Sequence[Packed], masks: Sequence[Mask], format_: str
) -> bytes:
    """Encode games as a block, numbered consecutively from `first_game`.

    Each mask tells which positions of a game are kept.
    """
    n_positions = int(sum(mask.sum() for mask in masks))
    if format_ == GAMES:
        body = _codec().encode(games, masks)
        return _block(_GAMES, body, first_game, len(games), n_positions)
    games = [game[mask] for game, mask in zip(games, masks, strict=True)]
    counts = np.array([len(game) for game in games], "<u4")
    positions = np.concatenate([np.zeros(0, packed_dtype), *games])
    words = positions.view("<u8").reshape(-1, _WORDS)
    # XOR of consecutive positions and grouping by byte position improve compression.
    differences = np.vstack([words[:1], words[1:] ^ words[:-1]])
    columns = differences.view(np.uint8).reshape(-1, PACKED_BYTES).T
    raw = counts.tobytes() + columns.tobytes()
    body = lzma.compress(raw, lzma.FORMAT_RAW, filters=_LZMA)
    return _block(_POSITIONS, body, first_game, len(games), n_positions)


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


def _decode_games(data: bytes, block: Block) -> tuple[npt.NDArray[Any], Packed, Mask]:
    """Return the length of each game, the positions, and a mask of the training positions."""
    if block.format == GAMES:
        try:
            return _codec().decode(data, block.games, block.positions)
        except ValueError as error:
            raise DatasetError(
                f"invalid block of games at offset {block.offset}: {error}"
            ) from None
    try:
        raw = lzma.decompress(data, lzma.FORMAT_RAW, filters=_LZMA)
        counts = np.frombuffer(raw, "<u4", block.games)
        columns = np.frombuffer(raw, np.uint8, offset=4 * block.games).reshape(PACKED_BYTES, -1)
    except (lzma.LZMAError, ValueError):  # valid checksum, but an unknown encoding
        raise DatasetError(f"invalid block of games at offset {block.offset}") from None
    differences = np.ascontiguousarray(columns.T).view("<u8")
    words = np.bitwise_xor.accumulate(differences, axis=0)
    positions = words.view(packed_dtype).reshape(-1)
    return counts, positions, np.ones(len(positions), bool)


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
        counts, positions, kept = _decode_games(data[block.offset : block.end], block)
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
        body = _manifest_body(manifest)
        if len(body) > _MAX_BODY:
            raise DatasetError(
                f"{self.path}: manifest of {len(body)} bytes is too large (at most {_MAX_BODY}; "
                "use fewer openings, or merge fewer files)"
            )
        block = _block(_MANIFEST, body)
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


def _manifest_body(manifest: dict[str, Any]) -> bytes:
    return json.dumps(manifest, indent=1).encode() + b"\n"


def _require_same_settings(path: Path, old: dict[str, Any], new: dict[str, Any]) -> None:
    if not old:
        raise DatasetError(f"{path}: damaged manifest (the file can be read, but not continued)")
    # A renamed source file is still the same source.
    if changed := describe_changes(without_file_names(old), without_file_names(new)):
        reasons = "; ".join(changed)
        raise DatasetError(f"{path}: has other settings ({reasons}); use another file")
