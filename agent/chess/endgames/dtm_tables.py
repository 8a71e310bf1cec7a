"""Endgame tables: their files, and how the kernel looks a position up in them.

A table tells the distance to mate, one byte a position: DRAWN, BROKEN (no such position), or plies
to mate plus 1, so that an odd value is lost and an even one won for the side to move. Castling
rights and en passant are not in the tables: a position with an en passant capture is looked up
one ply deeper, one with castling rights not at all.

A file is a header of 64 bytes (magic, version, name, number of bytes, their SHA-256) and, for the
stronger side to move and then for the weaker, a byte for each index; see `ending_index`.
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
NO_SCORE = MATE + 2  # beyond every score
TABLE_PIECES = MAX_PIECES

_ALWAYS_DRAWN = 1  # in place of the address of a table

_MAGIC = b"KEMPDTM\n"
_VERSION = 1
_HEADER = struct.Struct("<8sI12sQ32s")

Bytes = npt.NDArray[np.uint8]


class TablebaseError(Exception):
    """A table cannot be used; the message names the file and the remedy."""


def pack_header(name: str, data: Bytes) -> bytes:
    """Return the header of the file that holds `data`."""
    digest = hashlib.sha256(data.data).digest()
    return _HEADER.pack(_MAGIC, _VERSION, name.encode(), len(data), digest)


def parse_table(content: Bytes, place: str) -> tuple[EndgameType, Bytes]:
    """Return the ending and the values in a file's content; raise TablebaseError if it has others.

    The checksum is left to `is_intact`.
    """
    if len(content) < _HEADER.size:
        raise TablebaseError(f"{place} is not an endgame table: it is too short; delete it")
    magic, version, name, length, _ = _HEADER.unpack(content[: _HEADER.size].tobytes())
    if magic != _MAGIC:
        raise TablebaseError(f"{place} is not an endgame table; delete it")
    if version != _VERSION:
        raise TablebaseError(
            f"{place} has version {version}, not {_VERSION}; delete it and build anew"
        )
    try:
        endgame = endgame_from_name(name.rstrip(b"\0").decode("ascii", "replace"))
    except ValueError as error:
        raise TablebaseError(f"{place}: {error}; delete it") from None
    data = content[_HEADER.size :]
    if length != 2 * endgame.size or len(data) != length:
        raise TablebaseError(f"{place} is incomplete; delete it and build it anew")
    return endgame, data


def has_valid_checksum(content: Bytes) -> bool:
    """Tell whether the values in a file's content have the header's checksum."""
    digest = _HEADER.unpack(content[: _HEADER.size].tobytes())[-1]
    return bool(hashlib.sha256(content[_HEADER.size :].data).digest() == digest)


def map_file(path: Path) -> Bytes:
    """Return the content of a table's file, mapped into memory; raise TablebaseError if it cannot."""
    try:
        require_regular(path)
        return np.memmap(path, dtype=np.uint8, mode="r")
    except (OSError, ValueError) as error:  # an empty file cannot be mapped
        raise TablebaseError(f"{path} cannot be read: {error}") from None


class DtmTables:
    """Endgame tables in memory, and the directory in which the kernel finds them.

    Must live as long as a search uses it. address: of the directory.
    """

    def __init__(self) -> None:
        self._directory = np.zeros(SIGNATURE_COUNT, dtype=np.uint64)
        self._data: dict[str, Bytes] = {}
        self._mapped: dict[str, tuple[Path, Bytes]] = {}  # files and their whole content
        for strong in INSUFFICIENT_MATERIAL:
            self._set_address(endgame_of_pieces(strong, ()), _ALWAYS_DRAWN)

    @property
    def address(self) -> int:
        """Where the kernel finds the tables."""
        return self._directory.ctypes.data

    @property
    def names(self) -> list[str]:
        """The endings there are tables of."""
        return list(self._data)

    def __getitem__(self, name: str) -> Bytes:
        """Return the values of one ending."""
        return self._data[name]

    def __contains__(self, name: str) -> bool:
        return name in self._data

    def add(self, endgame: EndgameType, data: Bytes) -> None:
        """Take in the values of an ending, instead of those it had."""
        self._data[endgame.name] = data
        self._set_address(endgame, data.ctypes.data)

    def map_folder(self, folder: Path) -> list[str]:
        """Take in all tables of a folder; return what is wrong with those that are not."""
        try:
            present = set(os.listdir(folder))
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            return [f"{folder} cannot be read: {error}"]
        problems = []
        for endgame in all_endgames():
            path = folder / (endgame.name + SUFFIX)
            if endgame.name in self._data or path.name not in present:
                continue
            try:
                content = map_file(path)
                found, data = parse_table(content, str(path))
                if found.name != endgame.name:
                    raise TablebaseError(f"{path} holds {found.name}; delete it")
            except TablebaseError as error:
                problems.append(str(error))
                continue
            self.add(found, data)
            self._mapped[endgame.name] = path, content
        return problems

    def drop_damaged(self) -> Iterator[str]:
        """Compare the files that were mapped with their checksums; yield what is wrong.

        A damaged table is found no more. That may be done while a search uses the tables.
        """
        for name, (path, content) in self._mapped.items():
            if not has_valid_checksum(content):
                self._set_address(
                    endgame_from_name(name), 0
                )  # a search may be reading it: it stays mapped
                self._data.pop(name, None)
                yield f"{path} is damaged; delete it and build it anew"

    def _set_address(self, endgame: EndgameType, address: int) -> None:
        """Enter an ending under every signature that it goes by: colours and order may change."""
        pair = (*endgame.codes, 0, 0)[:2]
        turned = [(code + 4) % 10 + 1 if code else 0 for code in pair]
        for first, second in (pair, pair[::-1], turned, turned[::-1]):
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
    """Return the table's byte for a position with up to two pieces besides the kings, or UNKNOWN.

    A code is 1 + kind + 5 * side, or 0 for no piece.
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
    """Return the table's byte for a position of up to TABLE_PIECES pieces, or UNKNOWN.

    Castling and en passant are the caller's affair.
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
    """Tell whether the tables may have the position."""
    return count(position.sides[0] | position.sides[1]) <= TABLE_PIECES


@kernel
def tablebase_score(worker: Worker, ply: int, position: Position) -> int:
    """Return the exact score of a small position for the side to move, or NO_SCORE.

    A mate is MATE minus its distance from the root. There is no score where the fifty-move rule
    may come between, nor with castling rights, en passant or no table.
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
    """Return a byte as moves to mate, negative for the side that is mated, None for a draw.

    A side that is mated already has no moves left: 0.
    """
    if value == DRAWN:
        return None
    plies = value - 1
    return -(plies // 2) if value & 1 else (plies + 1) // 2
