"""The player's advisor for the opening: it answers from books, in their order.

A book is asked only in a game, which is where time decides: a clock or a time for the move. It is
silent in analysis: UCI_AnalyseMode, an infinite search, several lines, chosen root moves, or a
search for mate, and where only depth or nodes are given, which is how a search of a certain size
is asked for. While pondering it may answer: its move is then ready at the ponder hit.

Nothing is read, and nothing heavy imported, before a book is first needed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from agent.limits import Cp, Info, Limits

if TYPE_CHECKING:
    import random

    import chess
    from chess.polyglot import Entry, MemoryMappedReader

    from openings.names import OpeningName

# What stands for the book in this package, and where that is.
SHIPPED = "shipped"
SHIPPED_BOOK = Path(__file__).with_name("kempelen.bin")
SEPARATOR = ";"
MAX_MOVES = 255


# Which of a position's moves is played: the one of greatest weight, one by chance in the
# proportion of the weights, or any.
VARIETIES = BEST, WEIGHTED, UNIFORM = "best", "weighted", "uniform"


class HasWeight(Protocol):
    """An entry of a book."""

    @property
    def weight(self) -> int:
        """How often the move is to be chosen."""


WeightedEntry = TypeVar("WeightedEntry", bound=HasWeight)


def choose_entry(
    entries: Sequence[WeightedEntry], variety: str, rng: random.Random
) -> WeightedEntry:
    """Return the entry of the move to play, of a position's entries: one of VARIETIES says how."""
    if variety == BEST:
        return max(entries, key=_weight)
    weights = [1] * len(entries) if variety == UNIFORM else list(map(_weight, entries))
    return rng.choices(entries, weights)[0]


def is_timed_move(limits: Limits[Any], lines: int) -> bool:
    """Tell whether a move is asked for in a game, where time decides, and not for analysis."""
    timed = limits.clock is not None or limits.movetime is not None
    chosen = limits.infinite or limits.mate is not None or bool(limits.search_moves)
    return timed and not chosen and lines == 1


class _Book:
    """An open book."""

    def __init__(
        self, name: str, reader: MemoryMappedReader, names: Mapping[int, OpeningName]
    ) -> None:
        self.name = name
        self.reader = reader
        self.names = names

    def close(self) -> None:
        """Close its file, unless all advisors share it."""
        if self is not _shipped.get(SHIPPED):
            self.reader.close()


# The shipped book, and the names that come with it, once they are needed: for all advisors.
_shipped: dict[str, _Book] = {}
_shipped_names: dict[str, Mapping[int, OpeningName]] = {}


class BookProvider:
    """Knows the moves of books. All methods belong to the player's thread.

    enabled: play from books at all. analysing: be silent. depth: the last move number of the game
    to be played from a book. variety: one of VARIETIES. prefer: changes the weights of entries by
    what is known of the opponent. report: gets one line of text for each thing the user should
    know.
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
        """Use other books: paths separated by `;`, the earlier the more trusted; "" for none.

        One that cannot be used is named to the user and left out.
        """
        self.close()
        self._files = files
        self._open_all()  # even if there is no use for them now: what is wrong is said at once

    def open(self) -> None:
        """Open the books, unless they are open or there is no use for them."""
        if self._books is None and self.enabled:
            self._open_all()

    def close(self) -> None:
        """Close the books; they are opened again when they are needed."""
        for book in self._books or ():
            book.close()
        self._books = None

    def probe(
        self, board: chess.Board, limits: Limits[chess.Move], lines: int
    ) -> Info[chess.Move] | None:
        """Return a book's move and its best reply, and tell the book and the opening's name."""
        if not self._should_probe(board, limits, lines):
            return None
        for book, entries in self._books_with(board):
            entry = self._choose(
                entries if self.adjust_weights is None else self.adjust_weights(board, entries)
            )
            after = board.copy()
            after.push(entry.move)
            reply = max(_playable_entries(book.reader, after), key=_weight, default=None)
            self._report(f"book {book.name}: {self._opening_name(after) or 'no name'}")
            pv = (entry.move, reply.move) if reply else (entry.move,)
            return Info(depth=1, score=Cp(0), pv=pv, seldepth=len(pv))
        return None

    def move_probabilities(self, board: chess.Board) -> list[tuple[chess.Move, float]]:
        """Return what the first book that knows the position plays, and how often, from 0 to 1.

        The likeliest come first. This holds whether or not a move would be played from a book.
        """
        for _, entries in self._books_with(board):
            entries.sort(key=_weight, reverse=True)
            total = sum(map(_weight, entries))
            return [(entry.move, entry.weight / total) for entry in entries]
        return []

    def _books_with(self, board: chess.Board) -> Iterator[tuple[_Book, list[Entry]]]:
        """Generate the books that know a position, with its entries."""
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
                self._report(f"{error}; playing without it")

    def _open(self, file: str) -> _Book:
        from openings.polyglot import open_book

        if file == SHIPPED:
            if SHIPPED not in _shipped:
                names = self._load_names(SHIPPED_BOOK)
                _shipped[SHIPPED] = _Book(SHIPPED_BOOK.name, open_book(SHIPPED_BOOK), names)
            return _shipped[SHIPPED]
        path = Path(os.path.expanduser(file))  # which leaves what is nobody's home
        return _Book(path.name, open_book(path), self._load_names(path))

    def _load_names(self, path: Path) -> Mapping[int, OpeningName]:
        """Return the names that go with a book, or those of the shipped book if it has none."""
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
        wanted = self.enabled and not self.analysing and board.fullmove_number <= self.depth
        return wanted and is_timed_move(limits, lines)

    def _choose(self, entries: list[Entry]) -> Entry:
        if self._rng is None:
            import random

            self._rng = random.Random()
        return choose_entry(entries, self.variety, self._rng)

    def _opening_name(self, board: chess.Board) -> OpeningName | None:
        """Return what the opening is called, by the first book that has a name for it."""
        from openings.names import find_name

        known = [book.names for book in self._books or ()]
        return next((name for names in known if (name := find_name(names, board))), None)


def _playable_entries(reader: MemoryMappedReader, board: chess.Board) -> Iterator[Entry]:
    """Yield the moves that have a weight, without those that repeat a position of the game."""
    for entry in reader.find_all(board):
        board.push(entry.move)
        repeats = board.is_repetition(2)
        board.pop()
        if not repeats:
            yield entry


def _weight(entry: HasWeight) -> int:
    return entry.weight
