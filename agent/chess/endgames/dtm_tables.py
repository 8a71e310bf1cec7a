"""The built-in distance-to-mate tables: file format, loading, and probing in the kernel.

A table has one byte per position: DRAWN, INVALID for an illegal position, or the number of plies to
mate plus 1. Odd values are losses for the side to move, and even values are wins. Tables contain
neither castling rights nor en passant captures.

A file consists of a 64-byte header and one byte for each index (see `table_index`), first with the
stronger side to move, then with the weaker side to move. The header contains a magic number, the
version, the name of the endgame, the number of data bytes, and their SHA-256 hash.
"""

import hashlib
import os
import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from agent.chess.board.records import FIFTY_MOVES, KING, NO_SQUARE, PAWN, QUEEN, Position, Worker
from agent.chess.endgames.table_index import (
    CODE_COUNT,
    FLIP_COLOURS,
    INSUFFICIENT_MATERIAL,
    MAX_PIECES,
    SIGNATURE_COUNT,
    SWAP_PIECES,
    EndgameType,
    all_endgames,
    endgame_from_name,
    endgame_of_pieces,
    layout_size,
    table_index,
    table_layout,
)
from agent.io.files import require_regular
from agent.kernel.decorators import kernel
from agent.kernel.intrinsics import U64, Bits, count, first_square, load, load_byte
from agent.kernel.scores import MATE

SUFFIX = ".dtm"
DRAWN, INVALID = 0, 255
UNKNOWN = -1  # no table
NO_SCORE = MATE + 2  # outside the range of scores
TABLE_PIECES = MAX_PIECES

_ALWAYS_DRAWN = 1  # in the directory, instead of the address of a table

_MAGIC = b"KEMPDTM\n"
_VERSION = 1
_HEADER = struct.Struct("<8sI12sQ32s")

Bytes = npt.NDArray[np.uint8]


class TablebaseError(Exception):
    """Raised for an invalid table. The message names the file and the remedy."""


def pack_header(name: str, data: Bytes) -> bytes:
    """Return the file header for the table values `data` of the endgame `name`."""
    digest = hashlib.sha256(data.data).digest()
    return _HEADER.pack(_MAGIC, _VERSION, name.encode(), len(data), digest)


def parse_table(content: Bytes, path: str) -> tuple[EndgameType, Bytes]:
    """Parse a table file without verifying its checksum. Raise `TablebaseError` if invalid."""
    if len(content) < _HEADER.size:
        raise TablebaseError(f"{path}: not an endgame table (too short); delete it")
    magic, version, name, length, _ = _HEADER.unpack(content[: _HEADER.size].tobytes())
    if magic != _MAGIC:
        raise TablebaseError(f"{path}: not an endgame table; delete it")
    if version != _VERSION:
        raise TablebaseError(
            f"{path}: unsupported version {version} (expected {_VERSION}); "
            "delete it and build it again"
        )
    try:
        endgame = endgame_from_name(name.rstrip(b"\0").decode("ascii", "replace"))
    except ValueError as error:
        raise TablebaseError(f"{path}: {error}; delete it") from None
    data = content[_HEADER.size :]
    if length != 2 * endgame.size or len(data) != length:
        raise TablebaseError(f"{path}: incomplete table; delete it and build it again")
    return endgame, data


def has_valid_checksum(content: Bytes) -> bool:
    """Return whether the content of a table file matches the checksum in its header."""
    digest = _HEADER.unpack(content[: _HEADER.size].tobytes())[-1]
    return bool(hashlib.sha256(content[_HEADER.size :].data).digest() == digest)


def map_file(path: Path) -> Bytes:
    """Map a table file into memory. Raise `TablebaseError` on failure."""
    try:
        require_regular(path)
        return np.memmap(path, dtype=np.uint8, mode="r")
    except (OSError, ValueError) as error:  # an empty file cannot be mapped
        raise TablebaseError(f"{path}: could not read the table: {error}") from None


class DtmTables:
    """The loaded endgame tables. This object must outlive all searches that use it."""

    def __init__(self) -> None:
        self._directory = np.zeros(SIGNATURE_COUNT, dtype=np.uint64)
        self._data: dict[str, Bytes] = {}
        self._mapped: dict[str, tuple[Path, Bytes]] = {}  # files and their complete content
        for strong in INSUFFICIENT_MATERIAL:
            self._set_address(endgame_of_pieces(strong, ()), _ALWAYS_DRAWN)

    @property
    def address(self) -> int:
        """The address of the kernel's array of table addresses (see `Worker.tablebase`)."""
        return self._directory.ctypes.data

    @property
    def names(self) -> list[str]:
        return list(self._data)

    def __getitem__(self, name: str) -> Bytes:
        return self._data[name]

    def __contains__(self, name: str) -> bool:
        return name in self._data

    def add(self, endgame: EndgameType, data: Bytes) -> None:
        """Add or replace the table of an endgame."""
        self._data[endgame.name] = data
        self._set_address(endgame, data.ctypes.data)

    def map_folder(self, folder: Path) -> list[str]:
        """Map all tables in a folder into memory, and return a message for each invalid file."""
        try:
            present = set(os.listdir(folder))
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            return [f"{folder}: could not read the folder: {error}"]
        problems = []
        for endgame in all_endgames():
            path = folder / (endgame.name + SUFFIX)
            if endgame.name in self._data or path.name not in present:
                continue
            try:
                content = map_file(path)
                parsed, data = parse_table(content, str(path))
                if parsed.name != endgame.name:
                    raise TablebaseError(
                        f"{path}: contains {parsed.name} (expected {endgame.name}); delete it"
                    )
            except TablebaseError as error:
                problems.append(str(error))
                continue
            self.add(parsed, data)
            self._mapped[endgame.name] = path, content
        return problems

    def drop_damaged(self) -> Iterator[str]:
        """Remove mapped tables with a wrong checksum, and yield a message for each.

        This is safe while a search uses the tables.
        """
        for name, (path, content) in self._mapped.items():
            if not has_valid_checksum(content):
                # A search may be reading the table: it stays mapped.
                self._set_address(endgame_from_name(name), 0)
                self._data.pop(name, None)
                yield f"{path}: damaged table; delete it and build it again"

    def _set_address(self, endgame: EndgameType, address: int) -> None:
        pair = (*endgame.codes, 0, 0)[:2]
        swapped_colours = [(code + 4) % 10 + 1 if code else 0 for code in pair]
        for first, second in (pair, pair[::-1], swapped_colours, swapped_colours[::-1]):
            self._directory[CODE_COUNT * first + second] = address


@kernel
def tablebase_value(
    directory: Bits,
    turn: int,
    white_king: int,
    black_king: int,
    code1: int,
    square1: int,
    code2: int,
    square2: int,
) -> int:
    """Return the value of a position with at most two pieces besides the kings, or UNKNOWN.

    The codes `code1` and `code2` are 1 + piece type + 5 * side, or 0 for no piece.
    """
    signature = CODE_COUNT * code1 + code2
    base = load(directory, U64(signature))
    if base <= U64(_ALWAYS_DRAWN):
        return DRAWN if base else UNKNOWN
    layout = table_layout(signature)
    if layout & SWAP_PIECES:
        square1, square2 = square2, square1
    if layout & FLIP_COLOURS:
        turn = 1 - turn
        white_king, black_king = black_king ^ 56, white_king ^ 56
        square1 ^= 56
        square2 ^= 56
    index = table_index(layout, white_king, black_king, square1, square2)
    return load_byte(base, turn * layout_size(layout) + index)


@kernel
def probe_position(directory: Bits, position: Position) -> int:
    """Return the value of a position with at most TABLE_PIECES pieces, or UNKNOWN.

    Castling rights and en passant captures are ignored.
    """
    code1 = square1 = code2 = square2 = 0
    for kind in range(PAWN, QUEEN + 1):
        pieces = position.kinds[kind]
        while pieces:
            code2, square2 = code1, square1
            square1 = first_square(pieces)
            code1 = 1 + kind + (5 if position.sides[1] >> U64(square1) & U64(1) else 0)
            pieces &= pieces - U64(1)
    return tablebase_value(
        directory,
        position.turn,
        first_square(position.kinds[KING] & position.sides[0]),
        first_square(position.kinds[KING] & position.sides[1]),
        code1,
        square1,
        code2,
        square2,
    )


@kernel
def may_have_table(position: Position) -> bool:
    """Return whether the position has at most TABLE_PIECES pieces."""
    return count(position.sides[0] | position.sides[1]) <= TABLE_PIECES


@kernel
def tablebase_score(worker: Worker, ply: int, position: Position) -> int:
    """Return the exact score of a position for the side to move, or NO_SCORE.

    A win scores MATE minus the distance of the mate from the root in plies. NO_SCORE means that the
    table is missing, that the fifty-move rule could change the result, or that castling or en
    passant is possible.
    """
    if position.castling or position.en_passant != NO_SQUARE:
        return NO_SCORE
    value = probe_position(worker.tablebase, position)
    if value == UNKNOWN or position.halfmoves + value - 1 > FIFTY_MOVES:
        return NO_SCORE
    worker.tablebase_hits += 1
    if value == DRAWN:
        return 0
    score = MATE - ply - (value - 1)
    return -score if value & 1 else score


def moves_to_mate(value: int) -> int | None:
    """Convert a table value to the number of moves to mate, or None for a draw.

    The number is negative if the side to move loses, and 0 if it is already checkmated.
    """
    if value == DRAWN:
        return None
    plies = value - 1
    return -(plies // 2) if value & 1 else (plies + 1) // 2
