"""Move statistics from PGN collections of any size, in bounded memory."""

from __future__ import annotations

import heapq
import itertools
import struct
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import chess
from chess.polyglot import zobrist_hash

from agent.io.files import open_file
from agent.io.read_errors import convert_read_errors
from agent.io.read_report import ReadReport
from agent.io.text_files import open_text
from openings.book_common import BookError
from openings.pgn import PgnError, PgnGame, parse_san, read_games
from openings.polyglot import Entry, MoveStatistics, encode_move, scale_weights

# White's points, doubled to avoid fractions.
RESULTS = {"1-0": 2, "1/2-1/2": 1, "0-1": 0}
DEFAULT_DEPTH = 24

# Maximum number of moves in memory: with counts, and in the parser's cache.
_MAX_COUNTED = 300_000
_MAX_CACHED = 200_000
_MAX_RUNS = 64
_RECORD = struct.Struct(">QHQQ")
_CHUNK = 4096
_MAX_ELO_DIGITS = 4

_START_KEY = zobrist_hash(chess.Board())


@dataclass(frozen=True, slots=True)
class GameFilter:
    """Selects games by rating, player and date.

    `min_elo` is the minimum rating of both players. Only the moves of players whose name contains
    `player` are counted. `since` and `until` are inclusive dates such as `2024` or `2024.03.01`.
    """

    min_elo: int = 0
    player: str = ""
    since: str = ""
    until: str = ""

    def counted_sides(self, game: PgnGame) -> tuple[bool, bool]:
        """Return whether to count White's moves, and whether to count Black's moves."""
        tags = game.tags
        if game.result not in RESULTS or not game.is_standard:
            return False, False
        if self.min_elo and min(_elo(tags, "WhiteElo"), _elo(tags, "BlackElo")) < self.min_elo:
            return False, False
        if not self._is_in_date_range(tags.get("Date", "")):
            return False, False
        player = self.player.lower()
        white, black = (player in tags.get(side, "").lower() for side in ("White", "Black"))
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
    return int(text) if text.isdecimal() and len(text) <= _MAX_ELO_DIGITS else 0


class MoveCounts:
    """Counts of games and points for each position and move, in bounded memory.

    Points are doubled to avoid fractions. At `max_in_memory` different moves, the counts are
    written to temporary files, which are deleted when the context is left.
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
        """Count one game in which the move was played."""
        index = key << 16 | raw_move
        self._counts[index] = self._counts.get(index, 0) + (1 << 32 | doubled_points)
        if len(self._counts) >= self._max_in_memory:
            self._spill()

    def counts(self) -> Iterator[tuple[int, int, int, int]]:
        """Yield tuples of key, move, games and doubled points, sorted by key and move."""
        if not self._runs:
            yield from self._sorted_in_memory()
            return
        self._spill()
        yield from _merge_runs(map(_read_run, self._runs))

    def _sorted_in_memory(self) -> Iterator[tuple[int, int, int, int]]:
        for index, count in sorted(self._counts.items()):
            yield index >> 16, index & 0xFFFF, count >> 32, count & 0xFFFFFFFF

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
                f"{path.parent}: could not write temporary data: {error.strerror} "
                "(set TMPDIR to a folder with more space)"
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
        for count in same:
            games += count[2]
            points += count[3]
        yield key, raw_move, games, points


@dataclass
class MoveCounter:
    """Replays games and counts their first `plies` moves.

    The keys of `game_counts` are `used`, `damaged` and `left out` (rejected by the filter, or of a
    variant).
    """

    move_counts: MoveCounts
    plies: int = DEFAULT_DEPTH
    filter: GameFilter = field(default_factory=GameFilter)
    game_counts: Counter[str] = field(default_factory=Counter)
    _move_cache: dict[tuple[int, str], tuple[int, int]] = field(default_factory=dict)

    def add(self, game: PgnGame) -> None:
        """Count the moves of a game, and update `game_counts`.

        Raise PgnError if the game is damaged, or of a variant.
        """
        try:
            game.check_is_chess()
        except PgnError:
            self.game_counts["left out"] += 1
            raise
        white, black = self.filter.counted_sides(game)
        if not white and not black:
            self.game_counts["left out"] += 1
            return
        try:
            played = self._play(game.main_line(self.plies))
        except PgnError:
            self.game_counts["damaged"] += 1
            raise
        points = RESULTS[game.result]
        for ply, (key, raw_move) in enumerate(played):
            if (white, black)[ply % 2]:
                self.move_counts.add(key, raw_move, 2 - points if ply % 2 else points)
        self.game_counts["used"] += 1

    def _play(self, sans: list[str]) -> list[tuple[int, int]]:
        """Return (position key, encoded move) for each ply. Raise PgnError for illegal SAN."""
        played = []
        key = _START_KEY
        board: chess.Board | None = None
        for ply, san in enumerate(sans):
            cached = self._move_cache.get((key, san))
            if cached is None:
                if board is None:
                    board = chess.Board()
                    for earlier in sans[:ply]:
                        board.push_san(earlier)
                move = parse_san(board, san)
                raw_move = encode_move(board, move)
                board.push(move)
                cached = raw_move, zobrist_hash(board)
                if len(self._move_cache) >= _MAX_CACHED:
                    self._move_cache.clear()
                self._move_cache[key, san] = cached
            elif board is not None:
                board.push_san(san)
            played.append((key, cached[0]))
            key = cached[1]
        return played


def check_readable(path: Path) -> None:
    """Raise BookError if a file cannot be opened."""
    with convert_read_errors(path, BookError):
        open_file(path).close()


def count_moves(
    path: Path, collector: MoveCounter, progress: Callable[[int], None] = lambda _: None
) -> ReadReport:
    """Add the games of a PGN file to `collector`. Raise BookError on failure.

    `progress` regularly receives the number of bytes read.
    """
    report = ReadReport()
    with convert_read_errors(path, BookError), open_text(path) as file:
        for number, _ in enumerate(report.select(read_games(file), collector.add)):
            if number % 100 == 0:
                progress(file.buffer.tell())
    return report


def book_entries(tally: MoveCounts, min_games: int = 1) -> Iterator[Entry]:
    """Yield book entries for moves that were played in at least `min_games` games.

    As in Polyglot, the weight is twice the points, so a move that never scored has weight 0.
    """
    for _, counts in itertools.groupby(tally.counts(), key=lambda count: count[0]):
        entries = [
            Entry(key, raw_move, points, MoveStatistics(games, points / 2).pack())
            for key, raw_move, games, points in counts
            if games >= min_games
        ]
        if entries:
            yield from scale_weights(entries)
