"""Polyglot book files: what an entry holds, written here and read by the `chess` package.

A book is a sorted run of 16-byte entries, big-endian: the position's key (8 bytes), the move, the
weight and a number for learning (2, 2 and 4 bytes). Source: Michel Van den Bergh, 'Polyglot book
format'. Weight 0 means: known, but not to be played.

In the learning number, which other programs leave at 0, books built here keep what a collection of
games says of the move: see `MoveStatistics`.
"""

from __future__ import annotations

import heapq
import itertools
import os
import struct
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import chess
import chess.polyglot

from agent.io.files import replace_file, require_regular, resolve_target
from openings.book_common import BookError

MAX_WEIGHT = 0xFFFF
# A foreign file is recognised by keys that do not ascend: so many places are looked at.
SAMPLES = 64

_ENTRY = struct.Struct(">QHHI")
_TAGGED = 1 << 31
_MAX_GAMES = (1 << 21) - 1


class Entry(NamedTuple):
    """One move of one position; raw_move: see `pack`."""

    key: int
    raw_move: int
    weight: int
    learn: int = 0


@dataclass(frozen=True, slots=True)
class MoveStatistics:
    """How a move did in a collection: games, and the mover's points in them (win 1, draw 1/2)."""

    games: int
    points: float

    def pack(self) -> int:
        """Return the learning number: a tag bit, 21 bits of games, 10 bits of score in permille."""
        permille = round(1000 * self.points / self.games)
        return _TAGGED | min(self.games, _MAX_GAMES) << 10 | permille

    @staticmethod
    def unpack(learn: int) -> MoveStatistics | None:
        """Return what a learning number says, or None if it is another program's."""
        games, permille = learn >> 10 & _MAX_GAMES, learn & 0x3FF
        if not learn & _TAGGED or not games or permille > 1000:
            return None
        return MoveStatistics(games, games * permille / 1000)


def encode_move(board: chess.Board, move: chess.Move) -> int:
    """Return the 16 bits of a legal move: castling as king takes rook, promotion 1 to 4."""
    target = move.to_square
    if board.is_castling(move) and not board.rooks & board.occupied_co[board.turn] & (1 << target):
        file = 7 if board.is_kingside_castling(move) else 0
        target = chess.square(file, chess.square_rank(target))
    return (move.promotion or 1) - 1 << 12 | move.from_square << 6 | target


@contextmanager
def opened_book(path: Path) -> Iterator[chess.polyglot.MemoryMappedReader]:
    """Open a book for a while; raises BookError."""
    reader = open_book(path)
    try:
        yield reader
    finally:
        reader.close()


def open_book(path: Path) -> chess.polyglot.MemoryMappedReader:
    """Open a book; raises BookError if it is missing, empty or not a Polyglot book."""
    try:
        require_regular(path)
        reader = chess.polyglot.open_reader(path)
    except OSError as error:
        reason = error.strerror or "it is damaged or not a Polyglot book"
        raise BookError(f"cannot read the book {path}: {reason}") from None
    places = range(0, len(reader), max(len(reader) // SAMPLES, 1))
    keys = [reader[place].key for place in places]
    if not keys or keys != sorted(keys):
        reader.close()
        reason = "it is not a Polyglot book" if keys else "it is empty"
        raise BookError(f"cannot read the book {path}: {reason}")
    return reader


def read(path: Path) -> Iterator[Entry]:
    """Yield the entries of a book in their order; raises BookError."""
    with opened_book(path) as reader:
        for entry in reader:
            yield Entry(entry.key, entry.raw_move, entry.weight, entry.learn)


def write(path: Path, entries: Iterable[Entry]) -> int:
    """Write entries, sorted by key, to a book, whole or not at all; return their number.

    The moves of a position are put in the order of their weights. Raises BookError.
    """
    count = 0
    try:
        with atomic_replace(path) as temporary, temporary.open("wb") as file:
            for _, position in itertools.groupby(entries, key=lambda entry: entry.key):
                for entry in sorted(position, key=lambda each: (-each.weight, each.raw_move)):
                    file.write(_ENTRY.pack(*entry))
                    count += 1
    except OSError as error:
        raise BookError(f"cannot write the book {path}: {error.strerror}") from None
    return count


@contextmanager
def atomic_replace(path: Path) -> Iterator[Path]:
    """Give a temporary file beside `path` that takes its place at the end, if all went well.

    Raises OSError where it cannot.
    """
    path = resolve_target(path)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o644)
        replace_file(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def merge(books: Iterable[Iterable[Entry]], *, add: bool = False) -> Iterator[Entry]:
    """Merge sorted books into one sorted run, in memory bounded by one position's moves.

    A position is taken from the first book that has it; with `add` the weights and statistics
    of all books are added up, the weights scaled down where they grow too large.
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
    known = [found for entry in entries if (found := MoveStatistics.unpack(entry.learn))]
    learn = entries[0].learn
    if known:
        games, points = sum(each.games for each in known), sum(each.points for each in known)
        learn = MoveStatistics(games, points).pack()
    weight = sum(entry.weight for entry in entries)
    return entries[0]._replace(weight=weight, learn=learn)


def prune(entries: Iterable[Entry], best: int | None = None, share: float = 0.0) -> Iterator[Entry]:
    """Keep of each position the `best` heaviest moves, and those of at least a share of weight.

    share: from 0 to 1. Moves of weight 0 are left out.
    """
    for _, position in itertools.groupby(entries, key=lambda entry: entry.key):
        moves = sorted(position, key=lambda entry: (-entry.weight, entry.raw_move))
        least = share * sum(entry.weight for entry in moves)
        yield from (each for each in moves[:best] if each.weight and each.weight >= least)


def scale_weights(entries: list[Entry]) -> list[Entry]:
    """Fit one position's weights into 16 bits, keeping their proportions; none above 0 gets 0."""
    most = max(entry.weight for entry in entries)
    if most <= MAX_WEIGHT:
        return entries
    return [
        entry._replace(weight=max(entry.weight * MAX_WEIGHT // most, min(entry.weight, 1)))
        for entry in entries
    ]
