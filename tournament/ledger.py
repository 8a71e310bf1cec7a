"""The only truth about a tournament: an SQLite file of settings and finished games.

Schema: `tournament(name, settings, created)` with settings as JSON, and
`game(tournament, pair, game, ...)`, one row a finished game. The key is tournament, pair, game,
and the first write wins, so a game that is played twice is still one game.
"""

import contextlib
import json
import os
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from agent.locking import lock
from tournament.records import GameRecord
from tournament.schedule import PairKey
from tournament.settings import Settings, refuse_changes
from tournament.values import SettingsError, decode, encode

SCHEMA_VERSION = 1
SCHEMA = """
CREATE TABLE IF NOT EXISTS tournament (
    name TEXT PRIMARY KEY,
    settings TEXT NOT NULL,
    created TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS game (
    tournament TEXT NOT NULL REFERENCES tournament (name),
    pair TEXT NOT NULL,
    game INTEGER NOT NULL,
    white TEXT NOT NULL,
    black TEXT NOT NULL,
    result TEXT NOT NULL,
    termination TEXT NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (tournament, pair, game)
) STRICT;
"""


class LedgerError(Exception):
    """A ledger that cannot be used; the message names the file and the remedy."""


class Ledger:
    """One tournament's games in a ledger file, or in memory where no file is named."""

    def __init__(self, path: str | None = None) -> None:
        """Open or create the file and lock it against a second runner."""
        self.path = path
        self._name = ""
        self._lock: TextIO | None = None
        if path is not None:
            if not Path(path).absolute().parent.is_dir():
                raise LedgerError(f"ledger {path}: its folder does not exist")
            self._lock = _lock(path)
        self._database = sqlite3.connect(path or ":memory:")
        try:
            self._prepare()
        except sqlite3.Error as error:
            self.close()
            raise LedgerError(f"ledger {path}: {error}") from error
        except LedgerError:
            self.close()
            raise

    def _prepare(self) -> None:
        version = self._database.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, SCHEMA_VERSION):
            raise LedgerError(f"ledger {self.path}: written by another version of this program")
        self._database.execute("PRAGMA journal_mode=WAL")
        self._database.execute("PRAGMA synchronous=FULL")
        self._database.executescript(SCHEMA)
        self._database.execute(f"PRAGMA user_version={SCHEMA_VERSION}")

    def begin(self, settings: Settings, *, resume: bool) -> None:
        """Enter the tournament, or go on with it if `resume`.

        Raises LedgerError if it has begun and is not to be resumed, and SettingsError if its
        settings were others.
        """
        self._name = settings.name
        row = self._database.execute(
            "SELECT settings FROM tournament WHERE name = ?", (self._name,)
        ).fetchone()
        if row is not None:
            if not resume:
                raise LedgerError(
                    f"ledger {self.path} holds the tournament {self._name!r} already: "
                    "--resume goes on with it; or choose another --name or --ledger"
                )
            refuse_changes(decode(Settings, json.loads(row[0])), settings)
        with self._database:
            self._database.execute(
                "INSERT INTO tournament VALUES (?, ?, ?) "
                "ON CONFLICT (name) DO UPDATE SET settings = excluded.settings",
                (self._name, json.dumps(encode(settings)), datetime.now(UTC).isoformat()),
            )

    def record(self, record: GameRecord) -> bool:
        """Write a game; return False, and write nothing, if it has been written before."""
        with self._database:
            cursor = self._database.execute(
                "INSERT OR IGNORE INTO game VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    self._name,
                    record.pair,
                    record.game,
                    record.white,
                    record.black,
                    record.result,
                    str(record.termination),
                    json.dumps(encode(record), separators=(",", ":")),
                ),
            )
        return cursor.rowcount == 1

    def records(self) -> Iterator[GameRecord]:
        """Yield the games in the order in which they were written."""
        rows = self._database.execute(
            "SELECT record FROM game WHERE tournament = ? ORDER BY rowid", (self._name,)
        )
        for (text,) in rows:
            yield decode(GameRecord, json.loads(text))

    def results(self) -> dict[PairKey, dict[int, float | None]]:
        """Return, for each pair, the first player's score in each recorded game."""
        results: dict[PairKey, dict[int, float | None]] = defaultdict(dict)
        for record in self.records():
            results[record.key][record.game] = record.first_score
        return dict(results)

    def close(self) -> None:
        """Close the file and give its lock back."""
        self._database.close()
        if self._lock is not None:
            self._lock.close()


def saved_settings(path: str, name: str | None = None) -> Settings:
    """Return the settings of a tournament in a ledger: the named one, or the only one."""
    if not Path(path).is_file():
        raise LedgerError(f"ledger {path} does not exist")
    try:
        with contextlib.closing(sqlite3.connect(path)) as database:
            rows = dict(database.execute("SELECT name, settings FROM tournament").fetchall())
    except sqlite3.Error as error:
        raise LedgerError(f"ledger {path}: {error}") from error
    if name is None and len(rows) == 1:
        name = next(iter(rows))
    if name not in rows:
        raise LedgerError(f"ledger {path} holds the tournaments: {', '.join(rows) or 'none'}")
    return decode(Settings, json.loads(rows[name]))


class RecordFile:
    """A file of games that follows a ledger: written anew at the start, then game by game."""

    def __init__(self, path: str, ledger: Ledger, write: Callable[[GameRecord], str]) -> None:
        """Write all the ledger's games so far. write: gives a game as the file holds it."""
        self._write = write
        target = Path(path)
        if not target.absolute().parent.is_dir():
            raise SettingsError(f"file of games {path}: its folder does not exist")
        temporary = target.with_name(target.name + ".part")
        with temporary.open("w", encoding="utf-8") as file:
            for record in ledger.records():
                file.write(write(record))
        os.replace(temporary, target)
        self._file = target.open("a", encoding="utf-8")

    def add(self, record: GameRecord) -> None:
        """Add a game that the ledger has taken."""
        self._file.write(self._write(record))
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _lock(path: str) -> TextIO:
    """Return the open lock file of a ledger; the lock ends with this process at the latest."""
    try:
        return lock(path)
    except BlockingIOError:
        raise LedgerError(f"ledger {path} is in use by another runner") from None
    except OSError as error:
        raise LedgerError(f"ledger {path} cannot be locked: {error.strerror}") from None
