"""Polyglot book files: the entry format, writing, and merging.

A book is a sorted list of 16-byte big-endian entries. An entry contains the position's key (8
bytes), the move (2 bytes), the weight (2 bytes) and a learning value (4 bytes). A move of weight 0
is never played. Kempelen stores game statistics in the learning value (see `MoveStatistics`).
Source: Michel Van den Bergh, 'Polyglot book format'.
"""

from __future__ import annotations

import heapq
import itertools
import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import chess
import chess.polyglot

from agent.io.files import atomic_writer, require_regular
from openings.book_common import BookError

MAX_WEIGHT = 0xFFFF
# Number of entries that are checked: their keys must be ascending and their moves possible.
SAMPLES = 64
# Maximum size in bytes of a book that is sorted in memory.
MAX_UNSORTED_SIZE = 256 << 20

_ENTRY = struct.Struct(">QHHI")
_TAGGED = 1 << 31
_MAX_GAMES = (1 << 21) - 1


class Entry(NamedTuple):
    """A book entry. `raw_move` is a move in the format of `encode_move`."""

    key: int
    raw_move: int
    weight: int
    learn: int = 0


@dataclass(frozen=True, slots=True)
class MoveStatistics:
    """The number of games with a move, and the points of the side that played the move.

    A win counts as 1 point and a draw as 1/2 point.
    """

    games: int
    points: float

    def pack(self) -> int:
        """Return a learning value with a tag bit, 21 bits for games and 10 bits for permille."""
        permille = round(1000 * self.points / self.games)
        return _TAGGED | min(self.games, _MAX_GAMES) << 10 | permille

    @staticmethod
    def unpack(learn: int) -> MoveStatistics | None:
        """Decode a learning value. Return None if it has another format."""
        games, permille = learn >> 10 & _MAX_GAMES, learn & 0x3FF
        if not learn & _TAGGED or not games or permille > 1000:
            return None
        return MoveStatistics(games, games * permille / 1000)


def encode_move(board: chess.Board, move: chess.Move) -> int:
    """Encode a legal move in 16 bits.

    Castling is encoded as king takes rook, and the promotion piece as 1 to 4.
    """
    target = move.to_square
    if board.is_castling(move) and not board.rooks & board.occupied_co[board.turn] & (1 << target):
        file = 7 if board.is_kingside_castling(move) else 0
        target = chess.square(file, chess.square_rank(target))
    return (move.promotion or 1) - 1 << 12 | move.from_square << 6 | target


@contextmanager
def opened_book(path: Path) -> Iterator[chess.polyglot.MemoryMappedReader]:
    """Open a book as a context manager. Raise BookError on failure."""
    reader = open_book(path)
    try:
        yield reader
    finally:
        reader.close()


def open_book(path: Path) -> chess.polyglot.MemoryMappedReader:
    """Open a book. A book that is not sorted is sorted in memory.

    Raise BookError if the file is missing, empty or not a Polyglot book.
    """
    try:
        require_regular(path)
        reader = chess.polyglot.open_reader(path)
    except OSError as error:
        reason = error.strerror or "damaged, or not a Polyglot book"
        raise BookError(f"could not open book {path}: {reason}") from None
    samples = [reader[i] for i in range(0, len(reader), max(len(reader) // SAMPLES, 1))]
    keys = [entry.key for entry in samples]
    if keys and keys == sorted(keys):
        return reader
    if not keys:
        reason = "the file is empty"
    elif not all(_is_possible_move(entry.raw_move) for entry in samples):
        reason = "not a Polyglot book"
    elif reader.mmap.size() > MAX_UNSORTED_SIZE:
        reason = f"not sorted, and too large to sort (at most {MAX_UNSORTED_SIZE >> 20} MB)"
    else:
        _sort_in_memory(reader)
        return reader
    reader.close()
    raise BookError(f"could not open book {path}: {reason}")


def _is_possible_move(raw_move: int) -> bool:
    """Return whether some piece can move so on an empty board. Castling is like a rook's move."""
    promotion, start, end = raw_move >> 12, raw_move >> 6 & 63, raw_move & 63
    files = abs(chess.square_file(start) - chess.square_file(end))
    ranks = abs(chess.square_rank(start) - chess.square_rank(end))
    if promotion:
        rows = chess.square_rank(start), chess.square_rank(end)
        return promotion <= 4 and files <= 1 and rows in ((6, 7), (1, 0))
    return start != end and (not files or not ranks or files == ranks or files * ranks == 2)


def _sort_in_memory(reader: chess.polyglot.MemoryMappedReader) -> None:
    import numpy as np  # lazy import: rarely needed

    content = reader.mmap[:]
    keys = np.frombuffer(content, ">u8")[::2]
    order = np.argsort(keys, kind="stable")
    reader.mmap.close()
    reader.mmap = _Content(np.frombuffer(content, "V16")[order].tobytes())  # type: ignore[assignment]


class _Content(bytearray):
    """The content of a book in memory, with the methods of `mmap.mmap` that a reader calls."""

    def size(self) -> int:
        return len(self)

    def close(self) -> None:
        self.clear()


def read(path: Path) -> Iterator[Entry]:
    """Yield the entries of a book in file order. Raise BookError if it cannot be opened."""
    with opened_book(path) as reader:
        for entry in reader:
            yield Entry(entry.key, entry.raw_move, entry.weight, entry.learn)


def write(path: Path, entries: Iterable[Entry]) -> int:
    """Write entries, which must be sorted by key, to a book atomically. Return their number.

    The moves for each position are sorted by weight. Raise BookError if writing fails.
    """
    count = 0
    try:
        with atomic_writer(path) as file:
            for _, position in itertools.groupby(entries, key=lambda entry: entry.key):
                for entry in sorted(position, key=lambda entry: (-entry.weight, entry.raw_move)):
                    file.write(_ENTRY.pack(*entry))
                    count += 1
    except OSError as error:
        raise BookError(f"could not write book {path}: {error.strerror}") from None
    return count


def merge(books: Iterable[Iterable[Entry]], *, add: bool = False) -> Iterator[Entry]:
    """Merge sorted books into one sorted sequence.

    By default, the first book that contains a position provides all entries for it. If `add` is
    true, weights and statistics are added, and large weights are scaled down.
    """
    ranked = [_with_rank(rank, book) for rank, book in enumerate(books)]
    for _, position in itertools.groupby(heapq.merge(*ranked), key=lambda item: item[0]):
        items = list(position)
        if not add:
            yield from (entry for _, rank, entry in items if rank == items[0][1])
            continue
        by_move: dict[int, list[Entry]] = {}
        for _, _, entry in items:
            by_move.setdefault(entry.raw_move, []).append(entry)
        yield from scale_weights([_add_up(entries) for entries in by_move.values()])


def _with_rank(rank: int, book: Iterable[Entry]) -> Iterator[tuple[int, int, Entry]]:
    return ((entry.key, rank, entry) for entry in book)


def _add_up(entries: list[Entry]) -> Entry:
    statistics = [unpacked for entry in entries if (unpacked := MoveStatistics.unpack(entry.learn))]
    learn = entries[0].learn
    if statistics:
        games = sum(item.games for item in statistics)
        points = sum(item.points for item in statistics)
        learn = MoveStatistics(games, points).pack()
    weight = sum(entry.weight for entry in entries)
    return entries[0]._replace(weight=weight, learn=learn)


def prune(entries: Iterable[Entry], best: int | None = None, share: float = 0.0) -> Iterator[Entry]:
    """Keep at most the `best` moves with the greatest weights for each position.

    Moves of weight 0, or with less than the fraction `share` of the total weight, are dropped.
    """
    for _, position in itertools.groupby(entries, key=lambda entry: entry.key):
        moves = sorted(position, key=lambda entry: (-entry.weight, entry.raw_move))
        minimum = share * sum(entry.weight for entry in moves)
        yield from (move for move in moves[:best] if move.weight and move.weight >= minimum)


def scale_weights(entries: list[Entry]) -> list[Entry]:
    """Scale down the weights for one position to 16 bits. Positive weights remain positive."""
    maximum = max(entry.weight for entry in entries)
    if maximum <= MAX_WEIGHT:
        return entries
    return [
        entry._replace(weight=max(entry.weight * MAX_WEIGHT // maximum, min(entry.weight, 1)))
        for entry in entries
    ]
