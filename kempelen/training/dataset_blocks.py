"""The format of files of training positions.

A file is a sequence of blocks, and writing only appends. A block is a header (`_HEADER`) and a
body. The header holds a magic number, the block type, the number of the first game, the numbers of
games and positions, the length and CRC-32 of the body, and the CRC-32 of the header.

The first body is the manifest as JSON. The others hold games, in one of two formats:

- POSITIONS: the number of positions in each game, and the positions as 32-byte `packed_dtype`
  records, both compressed
- GAMES: start positions, moves and scores, see `game_codec`; less than half as large

A damaged block loses only its own games.
"""

import hashlib
import json
import lzma
import mmap
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from agent.chess.board.packed_position import PACKED_BYTES, packed_dtype
from kempelen.training.manifests import GAMES, POSITIONS, validate

if TYPE_CHECKING:
    from kempelen.training.game_codec import GameCodec

Packed = npt.NDArray[np.void]
Mask = npt.NDArray[np.bool_]

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


def decode_games(data: bytes, block: Block) -> tuple[npt.NDArray[Any], Packed, Mask]:
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


def encode_manifest(manifest: dict[str, Any]) -> bytes:
    """Encode a manifest as a block. Raise DatasetError if it is too large."""
    body = json.dumps(manifest, indent=1).encode() + b"\n"
    if len(body) > _MAX_BODY:
        raise DatasetError(
            f"manifest of {len(body)} bytes is too large (at most {_MAX_BODY}; use fewer openings, "
            "or merge fewer files)"
        )
    return _block(_MANIFEST, body)
