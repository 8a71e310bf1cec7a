"""File of games against opponents, with a header line and one JSON line per game.

Writers hold a lock, and readers ignore an incomplete last line. When the file exceeds the size
limit, the older half of the games is deleted.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

from agent.io.file_lock import lock_path
from agent.io.files import read_bytes, replace_atomically, require_regular
from agent.learning.opponent_game_record import GameRecord, from_json, is_same_name

HEADER = b'{"kempelen": "habits", "version": 1}\n'
MAX_BYTES = 8 << 20
# Maximum wait in seconds for a lock held by another process.
LOCK_TIMEOUT = 5.0
_POLL_INTERVAL = 0.01


class OpponentDatabaseError(Exception):
    """Raised if the file of games against opponents is unusable."""


class OpponentDatabase:
    """A file of games against opponents. Methods raise OpponentDatabaseError if it is unusable."""

    def __init__(self, path: str | os.PathLike[str], max_bytes: int = MAX_BYTES) -> None:
        self.path = Path(os.path.expanduser(path))
        self._max_bytes = max_bytes

    def read(self, opponent: str | None = None, game_name: str | None = None) -> list[GameRecord]:
        """Return the games, oldest first, optionally filtered by opponent and game."""
        games = [_parse_game(self.path, index, line) for index, line in enumerate(self._lines(), 2)]
        return [
            game
            for game in games
            if (opponent is None or is_same_name(game.opponent, opponent))
            and game_name in (None, game.game)
        ]

    def add(self, game: GameRecord) -> None:
        """Add a game. A file with an invalid header is not changed."""
        line = _format_game(game)
        with self._acquire_lock():
            try:
                size = self._append(line)
            except OSError as error:
                raise self._error(error) from None
            if size > self._max_bytes:
                lines = self._lines()
                self._write(lines[len(lines) // 2 :])

    def forget(self, opponent: str) -> int:
        """Delete all games against an opponent. Return the number of deleted games."""
        with self._acquire_lock():
            games = self.read()
            remaining = [
                _format_game(game) for game in games if not is_same_name(game.opponent, opponent)
            ]
            if len(remaining) < len(games):
                self._write(remaining)
            return len(games) - len(remaining)

    def _lines(self) -> list[bytes]:
        try:
            content = read_bytes(self.path, max(2 * self._max_bytes, MAX_BYTES))
        except FileNotFoundError:
            return []
        except OSError as error:
            raise self._error(error) from None
        if content:
            self._check(content[: len(HEADER)])
        lines = content[len(HEADER) :].split(b"\n")
        return lines[:-1]  # another process may still be writing the last line

    def _check(self, beginning: bytes) -> None:
        if beginning != HEADER:
            raise OpponentDatabaseError(
                f"{self.path}: not an opponents file (not changed; use another file)"
            )

    def _append(self, line: bytes) -> int:
        with contextlib.suppress(FileNotFoundError):
            require_regular(self.path)
        with open(self.path, "a+b") as file:
            size = os.fstat(file.fileno()).st_size
            if not size:
                file.write(HEADER + line)
                return len(HEADER) + len(line)
            file.seek(0)
            self._check(file.read(len(HEADER)))
            file.truncate(_end_of_lines(file, size))
            file.write(line)
            return file.tell()

    def _write(self, lines: Sequence[bytes]) -> None:
        content = HEADER + b"".join(line.rstrip(b"\n") + b"\n" for line in lines)
        try:
            replace_atomically(self.path, content)
        except OSError as error:
            raise self._error(error) from None

    def _acquire_lock(self, now: Callable[[], float] = time.monotonic) -> IO[str]:
        deadline = now() + LOCK_TIMEOUT
        while True:
            try:
                return lock_path(str(self.path))
            except BlockingIOError:
                if now() > deadline:
                    raise OpponentDatabaseError(f"{self.path}: locked by another process") from None
                time.sleep(_POLL_INTERVAL)
            except OSError as error:
                raise self._error(error) from None

    def _error(self, error: OSError) -> OpponentDatabaseError:
        return OpponentDatabaseError(f"{self.path}: {error.strerror or error}")


def _format_game(game: GameRecord) -> bytes:
    import json  # lazy import: not needed without an opponents file

    return json.dumps(game.to_json(), separators=(",", ":")).encode() + b"\n"


def _parse_game(path: Path, line_number: int, line: bytes) -> GameRecord:
    import json

    try:
        return from_json(json.loads(line))
    except (ValueError, RecursionError) as error:
        raise OpponentDatabaseError(
            f"{path}, line {line_number}: {error} "
            "(file is damaged, not changed; delete the line or use another file)"
        ) from None


def _end_of_lines(file: IO[bytes], size: int) -> int:
    end = size
    while end > 0:
        start = max(end - 65536, 0)
        file.seek(start)
        index = file.read(end - start).rfind(b"\n")
        if index >= 0:
            return start + index + 1
        end = start
    return 0
