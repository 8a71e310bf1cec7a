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

from agent.border.files import read_bytes, replace_atomically, require_regular
from agent.border.locking import lock
from opponents.past_game import PastGame, from_json, same

HEADER = b'{"kempelen": "habits", "version": 1}\n'
LARGEST = 8 << 20
# How long another process may hold the lock, in seconds.
PATIENCE = 5.0
_GLANCE = 0.01


class HabitsError(Exception):
    """A file of habits that cannot be used; the message names it and the remedy."""


class HabitsFile:
    """A file of games, which is made when the first is added."""

    def __init__(self, path: str | os.PathLike[str], largest: int = LARGEST) -> None:
        self.path = Path(os.path.expanduser(path))
        self._largest = largest

    def read(self, opponent: str | None = None, kind: str | None = None) -> list[PastGame]:
        """Return the games, the latest last; only those of an opponent and of a kind, if given.

        Raises HabitsError.
        """
        games = [_game(self.path, number, line) for number, line in enumerate(self._lines(), 2)]
        return [
            each
            for each in games
            if (opponent is None or same(each.opponent, opponent)) and kind in (None, each.game)
        ]

    def add(self, game: PastGame) -> None:
        """Add a game. Raises HabitsError, and leaves the file as it is, if it is another file."""
        line = _line(game)
        with self._locked():
            try:
                size = self._appended(line)
            except OSError as error:
                raise self._blame(error) from None
            if size > self._largest:
                lines = self._lines()
                self._write(lines[len(lines) // 2 :])

    def forget(self, opponent: str) -> int:
        """Remove the games of an opponent; return how many there were. Raises HabitsError."""
        with self._locked():
            games = self.read()
            kept = [_line(each) for each in games if not same(each.opponent, opponent)]
            if len(kept) < len(games):
                self._write(kept)
            return len(games) - len(kept)

    def _lines(self) -> list[bytes]:
        """Return the lines of the games; HabitsError for a file that holds something else."""
        try:
            content = read_bytes(self.path, max(2 * self._largest, LARGEST))
        except FileNotFoundError:
            return []
        except OSError as error:
            raise self._blame(error) from None
        if content:
            self._check(content[: len(HEADER)])
        lines = content[len(HEADER) :].split(b"\n")
        return lines[:-1]  # what comes after the last line end is being written

    def _check(self, beginning: bytes) -> None:
        if beginning != HEADER:
            raise HabitsError(
                f"{self.path} is no file of habits; it stays as it is: name another file"
            )

    def _appended(self, line: bytes) -> int:
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
            raise self._blame(error) from None

    def _locked(self, now: Callable[[], float] = time.monotonic) -> IO[str]:
        """Return the lock, as soon as nobody else holds it."""
        until = now() + PATIENCE
        while True:
            try:
                return lock(str(self.path))
            except BlockingIOError:
                if now() > until:
                    raise HabitsError(
                        f"{self.path}: another process keeps it locked: end that one"
                    ) from None
                time.sleep(_GLANCE)
            except OSError as error:
                raise self._blame(error) from None

    def _blame(self, error: OSError) -> HabitsError:
        return HabitsError(f"cannot use {self.path}: {error.strerror or error}")


def _line(game: PastGame) -> bytes:
    import json  # which a session without habits does not need

    return json.dumps(game.to_json(), separators=(",", ":")).encode() + b"\n"


def _game(path: Path, number: int, line: bytes) -> PastGame:
    import json

    try:
        return from_json(json.loads(line))
    except (ValueError, RecursionError) as error:
        raise HabitsError(
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
