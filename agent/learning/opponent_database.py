"""The file of games against opponents: a line of JSON each, below a line that says what it is.

Many engines may have one file: whoever writes holds a lock beside it, and whoever reads sees whole
games only, since what follows the last line end is not there yet. It is bounded: once it is
larger than LARGEST, the older half of the games goes.
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
# How long another process may hold the lock, in seconds.
LOCK_TIMEOUT = 5.0
_POLL_INTERVAL = 0.01


class OpponentDatabaseError(Exception):
    """A file of habits that cannot be used; the message names it and the remedy."""


class OpponentDatabase:
    """A file of games, which is made when the first is added."""

    def __init__(self, path: str | os.PathLike[str], max_bytes: int = MAX_BYTES) -> None:
        self.path = Path(os.path.expanduser(path))
        self._max_bytes = max_bytes

    def read(self, opponent: str | None = None, game_name: str | None = None) -> list[GameRecord]:
        """Return the games, the latest last; only those of an opponent and of a kind, if given.

        Raises OpponentDatabaseError.
        """
        games = [
            _parse_game(self.path, number, line) for number, line in enumerate(self._lines(), 2)
        ]
        return [
            each
            for each in games
            if (opponent is None or is_same_name(each.opponent, opponent))
            and game_name in (None, each.game)
        ]

    def add(self, game: GameRecord) -> None:
        """Add a game. Raises OpponentDatabaseError, and leaves the file as it is, if it is another file."""
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
        """Remove the games of an opponent; return how many there were. Raises OpponentDatabaseError."""
        with self._acquire_lock():
            games = self.read()
            kept = [
                _format_game(each) for each in games if not is_same_name(each.opponent, opponent)
            ]
            if len(kept) < len(games):
                self._write(kept)
            return len(games) - len(kept)

    def _lines(self) -> list[bytes]:
        """Return the lines of the games; OpponentDatabaseError for a file that holds something else."""
        try:
            content = read_bytes(self.path, max(2 * self._max_bytes, MAX_BYTES))
        except FileNotFoundError:
            return []
        except OSError as error:
            raise self._error(error) from None
        if content:
            self._check(content[: len(HEADER)])
        lines = content[len(HEADER) :].split(b"\n")
        return lines[:-1]  # what comes after the last line end is being written

    def _check(self, beginning: bytes) -> None:
        if beginning != HEADER:
            raise OpponentDatabaseError(
                f"{self.path} is no file of habits; it stays as it is: name another file"
            )

    def _append(self, line: bytes) -> int:
        """Write a line behind the last whole one; return how large the file is then."""
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
        """Return the lock, as soon as nobody else holds it."""
        until = now() + LOCK_TIMEOUT
        while True:
            try:
                return lock_path(str(self.path))
            except BlockingIOError:
                if now() > until:
                    raise OpponentDatabaseError(
                        f"{self.path}: another process keeps it locked: end that one"
                    ) from None
                time.sleep(_POLL_INTERVAL)
            except OSError as error:
                raise self._error(error) from None

    def _error(self, error: OSError) -> OpponentDatabaseError:
        return OpponentDatabaseError(f"cannot use {self.path}: {error.strerror or error}")


def _format_game(game: GameRecord) -> bytes:
    import json  # which a session without habits does not need

    return json.dumps(game.to_json(), separators=(",", ":")).encode() + b"\n"


def _parse_game(path: Path, number: int, line: bytes) -> GameRecord:
    import json

    try:
        return from_json(json.loads(line))
    except (ValueError, RecursionError) as error:
        raise OpponentDatabaseError(
            f"{path}, line {number}: {error}; the file is damaged and stays as it is: "
            "delete that line, or name another file"
        ) from None


def _end_of_lines(file: IO[bytes], size: int) -> int:
    """Return where the last whole line ends."""
    end = size
    while end > 0:
        begin = max(end - 65536, 0)
        file.seek(begin)
        found = file.read(end - begin).rfind(b"\n")
        if found >= 0:
            return begin + found + 1
        end = begin
    return 0
