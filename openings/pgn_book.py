"""What games say of the moves of the opening: PGN collections of any size, in bounded memory.

Games are read as text, one after the other. A move that was seen before in the same position is
looked up and not parsed again, which is most moves of an opening; only a new one needs a board.
The counts go to a `Tally`, which keeps what does not fit into memory in sorted runs on disk.
"""

from __future__ import annotations

import heapq
import itertools
import re
import struct
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import chess
from chess.polyglot import zobrist_hash

from agent.io.files import iter_lines, open_file
from agent.io.read_errors import convert_read_errors
from openings.book_common import BookError
from openings.polyglot import Entry, MoveStatistics, encode_move, scale_weights

# Points of White, doubled so that they are whole numbers.
RESULTS = {"1-0": 2, "1/2-1/2": 1, "0-1": 0}
DEFAULT_DEPTH = 24

# How many moves of how many positions are held in memory, counted and remembered.
_MAX_COUNTED = 300_000
_MAX_CACHED = 200_000
_MAX_RUNS = 64
_RECORD = struct.Struct(">QHQQ")
_CHUNK = 4096
_MAX_GAME_LENGTH = 4 << 20

_TAG = re.compile(r'\[\s*(\w+)\s+"((?:[^"\\]|\\.)*)"\s*\]')
_TOKEN = re.compile(
    r"""(?P<comment>\{[^}]*\}?|;[^\n]*)
    | (?P<open>\() | (?P<close>\))
    | (?P<result>1-0|0-1|1/2-1/2|\*)
    | (?P<skip>\d+\s*\.+|\$\d+|[!?]+|\d+(?=\s|$)|e\.p\.)
    | (?P<move>[A-Za-z][\w=@+\#-]*|0-0[\w+\#-]*|--)
    | (?P<other>\S)""",
    re.VERBOSE,
)
_START_KEY = zobrist_hash(chess.Board())


class DamagedGameError(Exception):
    """A game whose moves cannot be played."""


@dataclass(frozen=True, slots=True)
class PgnGame:
    """The text of one game: its tags, and its moves with all that stands between them."""

    tags: dict[str, str]
    moves: str

    @property
    def result(self) -> str:
        """The result by its tag."""
        return self.tags.get("Result", "*")

    def main_line(self, plies: int) -> list[str]:
        """Return the first moves, without comments and variations.

        Raises DamagedGameError where something among them is no move.
        """
        found: list[str] = []
        nested = 0
        for token in _TOKEN.finditer(self.moves):
            kind = token.lastgroup
            if kind == "open":
                nested += 1
            elif kind == "close":
                nested -= 1
                if nested < 0:
                    raise DamagedGameError(")")
            elif nested or kind in ("comment", "skip"):
                continue
            elif kind == "result" or len(found) == plies:
                break
            elif kind == "other":
                raise DamagedGameError(token[0])
            else:
                found.append(token[0])
        return found


def read(text: Iterable[str]) -> Iterator[PgnGame]:
    """Split the lines of a PGN file into games.

    One of more than _MAX_GAME_LENGTH characters, as where a comment is not closed, ends there.
    """
    tags: dict[str, str] = {}
    moves: list[str] = []
    size = 0
    in_comment = False
    for line in text:
        size += len(line)
        if size > _MAX_GAME_LENGTH:
            yield PgnGame(tags, "".join(moves))
            tags, moves, size, in_comment = {}, [], len(line), False
        tag = None if in_comment or not line.startswith("[") else _TAG.match(line)
        if tag:
            if moves:
                yield PgnGame(tags, "".join(moves))
                tags, moves, size = {}, [], len(line)
            tags[tag[1]] = tag[2]
        elif not line.startswith("%") and (moves or line.strip()):
            moves.append(line)
            in_comment = _ends_in_comment(line, in_comment)
    if tags or moves:
        yield PgnGame(tags, "".join(moves))


def _ends_in_comment(line: str, inside: bool) -> bool:
    """Tell whether a brace is open at the end of a line; one in a `;` comment does not count."""
    for character in line:
        if inside:
            inside = character != "}"
        elif character == ";":
            return False
        else:
            inside = character == "{"
    return inside


@dataclass(frozen=True, slots=True)
class GameFilter:
    """Which games count. min_elo: of both players. player: part of a name; only their moves count.

    since, until: dates as PGN has them, `2024`, `2024.03` or `2024.03.01`, both included.
    """

    min_elo: int = 0
    player: str = ""
    since: str = ""
    until: str = ""

    def counted_sides(self, game: PgnGame) -> tuple[bool, bool]:
        """Tell whether the moves of White and of Black count."""
        tags = game.tags
        usual = tags.get("Variant", "Standard").lower() in ("standard", "chess", "normal")
        if game.result not in RESULTS or not usual or "FEN" in tags:
            return False, False
        if self.min_elo and min(_elo(tags, "WhiteElo"), _elo(tags, "BlackElo")) < self.min_elo:
            return False, False
        if not self._is_in_date_range(tags.get("Date", "")):
            return False, False
        wanted = self.player.lower()
        white, black = (wanted in tags.get(side, "").lower() for side in ("White", "Black"))
        return white, black

    def _is_in_date_range(self, date: str) -> bool:
        if not self.since and not self.until:
            return True
        if not date[:4].isdecimal():
            return False
        known = date.split("?")[0].rstrip(".")
        within = not self.since or known >= self.since[: len(known)]
        return within and (not self.until or known[: len(self.until)] <= self.until)


def _elo(tags: dict[str, str], name: str) -> int:
    text = tags.get(name, "")
    return int(text) if text.isdecimal() else 0


class MoveCounts:
    """Games and doubled points by position and move, sorted by both in the end.

    What is counted beyond `most` moves lies in a folder for the time being; leaving the context
    removes it.
    """

    def __init__(self, max_in_memory: int = _MAX_COUNTED, folder: Path | None = None) -> None:
        self._max_in_memory = max_in_memory
        self._counts: dict[int, int] = {}
        self._folder = tempfile.TemporaryDirectory(prefix="kempelen-book-", dir=folder)
        self._runs: list[Path] = []
        self._run_numbers = itertools.count()

    def __enter__(self) -> MoveCounts:
        return self

    def __exit__(self, *error: object) -> None:
        self._folder.cleanup()

    def add(self, key: int, raw_move: int, doubled_points: int) -> None:
        """Count one game in which a move was played."""
        place = key << 16 | raw_move
        self._counts[place] = self._counts.get(place, 0) + (1 << 32 | doubled_points)
        if len(self._counts) >= self._max_in_memory:
            self._spill()

    def counts(self) -> Iterator[tuple[int, int, int, int]]:
        """Yield key, move, games and doubled points, sorted by key and move."""
        if not self._runs:
            yield from self._sorted_in_memory()
            return
        self._spill()
        yield from _merge_runs(map(_read_run, self._runs))

    def _sorted_in_memory(self) -> Iterator[tuple[int, int, int, int]]:
        for place, count in sorted(self._counts.items()):
            yield place >> 16, place & 0xFFFF, count >> 32, count & 0xFFFFFFFF

    def _spill(self) -> None:
        if self._counts:
            self._runs.append(self._write_run(self._sorted_in_memory()))
            self._counts.clear()
        if len(self._runs) >= _MAX_RUNS:
            old, self._runs = self._runs, []
            self._runs.append(self._write_run(_merge_runs(map(_read_run, old))))
            for path in old:
                path.unlink()

    def _write_run(self, counts: Iterable[tuple[int, int, int, int]]) -> Path:
        path = Path(self._folder.name) / f"{next(self._run_numbers)}.run"
        try:
            with path.open("wb") as file:
                for count in counts:
                    file.write(_RECORD.pack(*count))
        except OSError as error:
            raise BookError(
                f"no room for what is counted in {path.parent}: {error.strerror}; "
                "set TMPDIR to a larger folder"
            ) from None
        return path


def _read_run(path: Path) -> Iterator[tuple[int, int, int, int]]:
    with path.open("rb") as file:
        while block := file.read(_RECORD.size * _CHUNK):
            yield from _RECORD.iter_unpack(block)


def _merge_runs(
    runs: Iterable[Iterator[tuple[int, int, int, int]]],
) -> Iterator[tuple[int, int, int, int]]:
    merged = heapq.merge(*runs)
    for (key, raw_move), same in itertools.groupby(merged, key=lambda count: count[:2]):
        games = points = 0
        for each in same:
            games += each[2]
            points += each[3]
        yield key, raw_move, games, points


@dataclass
class MoveCounter:
    """Plays games through and counts their moves.

    plies: how deep. games counts, by what became of them: `used`, `left out` (by the filter, or
    without a result) and `damaged`.
    """

    move_counts: MoveCounts
    plies: int = DEFAULT_DEPTH
    filter: GameFilter = field(default_factory=GameFilter)
    game_counts: Counter[str] = field(default_factory=Counter)
    _move_cache: dict[tuple[int, str], tuple[int, int]] = field(default_factory=dict)

    def add(self, game: PgnGame) -> None:
        """Count a game, or note why not."""
        white, black = self.filter.counted_sides(game)
        if not white and not black:
            self.game_counts["left out"] += 1
            return
        try:
            played = self._play(game.main_line(self.plies))
        except (DamagedGameError, ValueError):
            self.game_counts["damaged"] += 1
            return
        points = RESULTS[game.result]
        for ply, (key, raw_move) in enumerate(played):
            if (white, black)[ply % 2]:
                self.move_counts.add(key, raw_move, 2 - points if ply % 2 else points)
        self.game_counts["used"] += 1

    def _play(self, words: list[str]) -> list[tuple[int, int]]:
        """Return key and move of each step; raises ValueError at an illegal one."""
        played = []
        key = _START_KEY
        board: chess.Board | None = None
        for ply, word in enumerate(words):
            known = self._move_cache.get((key, word))
            if known is None:
                if board is None:
                    board = chess.Board()
                    for earlier in words[:ply]:
                        board.push_san(earlier)
                move = board.parse_san(word)
                if not move:
                    raise ValueError(word)
                raw_move = encode_move(board, move)
                board.push(move)
                known = raw_move, zobrist_hash(board)
                if len(self._move_cache) >= _MAX_CACHED:
                    self._move_cache.clear()
                self._move_cache[key, word] = known
            elif board is not None:
                board.push_san(word)
            played.append((key, known[0]))
            key = known[1]
        return played


def check_readable(path: Path) -> None:
    """Raise BookError if a file cannot be opened, before long work on others."""
    with convert_read_errors(path, BookError):
        open_file(path).close()


def count_moves(
    path: Path, collector: MoveCounter, progress: Callable[[int], None] = lambda _: None
) -> None:
    """Count all games of a file; progress: is told how many bytes are read. Raises BookError."""
    with convert_read_errors(path, BookError), open_file(path) as file:
        for number, game in enumerate(read(_lines(file)), 1):
            collector.add(game)
            if number % 100 == 0:
                progress(file.tell())


def _lines(file: BinaryIO) -> Iterator[str]:
    for line in iter_lines(file):
        try:
            yield line.decode("utf-8-sig")
        except UnicodeDecodeError:  # old collections are Latin-1
            yield line.decode("latin-1")


def book_entries(tally: MoveCounts, min_games: int = 1) -> Iterator[Entry]:
    """Yield a book's entries: moves of at least so many games, weighted by their points.

    The weight is twice the points, as Polyglot has it, so a move that never scored has none.
    """
    for _, counts in itertools.groupby(tally.counts(), key=lambda count: count[0]):
        kept = [
            Entry(key, raw_move, points, MoveStatistics(games, points / 2).pack())
            for key, raw_move, games, points in counts
            if games >= min_games
        ]
        if kept:
            yield from scale_weights(kept)
