"""Move provider for chess opening books, which are used only in timed games."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from agent.games.variants import is_standard
from agent.limits import Cp, Info, Limits

if TYPE_CHECKING:
    import random

    import chess
    from chess.polyglot import Entry, MemoryMappedReader

    from openings.names import OpeningName

# Name and path of the built-in book.
SHIPPED = "shipped"
SHIPPED_BOOK = Path(__file__).with_name("kempelen.bin")
SEPARATOR = ";"
MAX_MOVES = 255


# Move choice: the highest weight, randomly in proportion to the weights, or uniformly at random.
VARIETIES = BEST, WEIGHTED, UNIFORM = "best", "weighted", "uniform"


class HasWeight(Protocol):
    @property
    def weight(self) -> int:
        """The relative frequency with which the move is played."""


WeightedEntry = TypeVar("WeightedEntry", bound=HasWeight)


def choose_entry(
    entries: Sequence[WeightedEntry], variety: str, rng: random.Random
) -> WeightedEntry:
    """Choose the entry to play. `variety` is one of the values in VARIETIES."""
    if variety == BEST:
        return max(entries, key=_weight)
    weights = [1] * len(entries) if variety == UNIFORM else list(map(_weight, entries))
    return rng.choices(entries, weights)[0]


def is_timed_move(limits: Limits[Any], lines: int) -> bool:
    """Return whether the search is for a move in a timed game rather than for analysis."""
    is_timed = limits.clock is not None or limits.movetime is not None
    is_analysis = limits.infinite or limits.mate is not None or bool(limits.search_moves)
    return is_timed and not is_analysis and lines == 1


class _Book:
    def __init__(
        self, name: str, reader: MemoryMappedReader, names: Mapping[int, OpeningName]
    ) -> None:
        self.name = name
        self.reader = reader
        self.names = names

    def close(self) -> None:
        """Close the book file, except for the built-in book, which is shared."""
        if self is not _shipped.get(SHIPPED):
            self.reader.close()


# The built-in book and its opening names are loaded on demand and shared by all providers.
_shipped: dict[str, _Book] = {}
_shipped_names: dict[str, Mapping[int, OpeningName]] = {}


class BookProvider:
    """Provides moves from opening books. All methods must be called in the search thread.

    - `analysing`: whether analysis mode is on, in which books are not used.
    - `depth`: the number of the last full move for which books are used.
    - `variety`: one of the values in VARIETIES.
    - `adjust_weights`: a function that adapts the weights of entries to the opponent, or None.
    - `report`: a function that receives messages for the user.
    """

    def __init__(self, report: Callable[[str], None], rng: random.Random | None = None) -> None:
        self.enabled = True
        self.analysing = False
        self.depth = MAX_MOVES
        self.variety = WEIGHTED
        self.adjust_weights: Callable[[chess.Board, list[Entry]], list[Entry]] | None = None
        self._report = report
        self._rng = rng
        self._files = SHIPPED
        self._books: list[_Book] | None = None

    def set_books(self, files: str) -> None:
        """Open the books in `files`, a list of paths separated by `;` in order of priority.

        If `files` is empty, no books are used. Unusable books are reported and skipped.
        """
        self.close()
        self._files = files
        self._open_all()  # Open the books now, to report errors immediately.

    def open(self) -> None:
        """Open the books if they are enabled and not yet open."""
        if self._books is None and self.enabled:
            self._open_all()

    def close(self) -> None:
        """Close the books. They are opened again when they are needed."""
        for book in self._books or ():
            book.close()
        self._books = None

    def probe(
        self, board: chess.Board, limits: Limits[chess.Move], lines: int
    ) -> Info[chess.Move] | None:
        """Return a book move and the most likely reply, or None. Report the name of the opening."""
        if not self._should_probe(board, limits, lines):
            return None
        for book, entries in self._books_with(board):
            entry = self._choose(
                entries if self.adjust_weights is None else self.adjust_weights(board, entries)
            )
            after = board.copy()
            after.push(entry.move)
            reply = max(_playable_entries(book.reader, after), key=_weight, default=None)
            name = self._opening_name(after)
            self._report(f"book {book.name}: {name}" if name else f"book {book.name}")
            pv = (entry.move, reply.move) if reply else (entry.move,)
            return Info(depth=1, score=Cp(0), pv=pv, seldepth=len(pv))
        return None

    def move_probabilities(self, board: chess.Board) -> list[tuple[chess.Move, float]]:
        """Return (move, probability) pairs from the first book that contains the position.

        The most likely move comes first. Books are used even if `enabled` is false.
        """
        for _, entries in self._books_with(board):
            entries.sort(key=_weight, reverse=True)
            total = sum(map(_weight, entries))
            return [(entry.move, entry.weight / total) for entry in entries]
        return []

    def _books_with(self, board: chess.Board) -> Iterator[tuple[_Book, list[Entry]]]:
        if not is_standard(board):  # positions have the same keys in variants
            return
        if self._books is None:
            self._open_all()
        for book in self._books or ():
            if entries := list(_playable_entries(book.reader, board)):
                yield book, entries

    def _open_all(self) -> None:
        from openings.book_common import BookError

        self._books = []
        for file in filter(None, map(str.strip, self._files.split(SEPARATOR))):
            try:
                self._books.append(self._open(file))
            except BookError as error:
                self._report(f"{error}; this book is not used")

    def _open(self, file: str) -> _Book:
        from openings.polyglot import open_book

        if file == SHIPPED:
            if SHIPPED not in _shipped:
                names = self._load_names(SHIPPED_BOOK)
                _shipped[SHIPPED] = _Book(SHIPPED_BOOK.name, open_book(SHIPPED_BOOK), names)
            return _shipped[SHIPPED]
        path = Path(os.path.expanduser(file))  # An unknown user's path ("~name") is left unchanged.
        return _Book(path.name, open_book(path), self._load_names(path))

    def _load_names(self, path: Path) -> Mapping[int, OpeningName]:
        from openings.book_common import BookError
        from openings.names import SUFFIX, read

        file = path.with_suffix(SUFFIX)
        try:
            if path != SHIPPED_BOOK and file.exists():
                return read(file)
            if SHIPPED not in _shipped_names:
                _shipped_names[SHIPPED] = read(SHIPPED_BOOK.with_suffix(SUFFIX))
            return _shipped_names[SHIPPED]
        except BookError as error:
            self._report(str(error))
            return {}

    def _should_probe(self, board: chess.Board, limits: Limits[chess.Move], lines: int) -> bool:
        is_active = self.enabled and not self.analysing and board.fullmove_number <= self.depth
        return is_active and is_timed_move(limits, lines)

    def _choose(self, entries: list[Entry]) -> Entry:
        if self._rng is None:
            import random

            self._rng = random.Random()
        return choose_entry(entries, self.variety, self._rng)

    def _opening_name(self, board: chess.Board) -> OpeningName | None:
        from openings.names import find_name

        known = [book.names for book in self._books or ()]
        return next((name for names in known if (name := find_name(names, board))), None)


def _playable_entries(reader: MemoryMappedReader, board: chess.Board) -> Iterator[Entry]:
    for entry in reader.find_all(board):
        board.push(entry.move)
        repeats = board.is_repetition(2)
        board.pop()
        if not repeats:
            yield entry


def _weight(entry: HasWeight) -> int:
    return entry.weight
