"""The only truth about a tournament: an SQLite file of settings and finished games.

Schema: `tournament(name, settings, created)` with settings as JSON, and
`game(tournament, pair, game, ...)`, one row a finished game. The key is tournament, pair, game,
and the first write wins, so a game that is played twice is still one game.
"""

import contextlib
import json
import os
import sqlite3
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from agent.io.file_lock import lock_or_raise
from agent.io.files import replace_atomically, replace_file
from kempelen.console.settings_codec import decode, encode
from kempelen.match.config.settings import Settings, check_resumable
from kempelen.match.pairing.pairs import PairKey
from kempelen.match.records.game_record import GameRecord

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
INSERT_TOURNAMENT = (
    "INSERT INTO tournament VALUES (?, ?, ?) "
    "ON CONFLICT (name) DO UPDATE SET settings = excluded.settings"
)
RESULTS = ("1-0", "0-1", "1/2-1/2", "*")
# How it shows that text is not what was written.
DECODE_ERRORS = (ValueError, TypeError, LookupError, AttributeError, RecursionError, OverflowError)
# Seconds that a ledger may be locked by another program when it is opened, and, so that no clock
# of a game that is being played suffers, while games are played: there the runner tries again.
OPEN_TIMEOUT = 5.0
WRITE_TIMEOUT = 0.05
DAMAGED_REMEDY = "it is damaged: restore it from a copy, or begin another with --ledger"
# What to do about SQLite's errors, by their codes.
REMEDIES = {
    sqlite3.SQLITE_BUSY: "another program uses it: end that one",
    sqlite3.SQLITE_LOCKED: "another program uses it: end that one",
    sqlite3.SQLITE_FULL: "make room on its disk",
    sqlite3.SQLITE_READONLY: "it must be writable",
    sqlite3.SQLITE_CANTOPEN: "it and its folder must be writable",
    sqlite3.SQLITE_CORRUPT: DAMAGED_REMEDY,
    sqlite3.SQLITE_NOTADB: DAMAGED_REMEDY,
}


class LedgerError(Exception):
    """A ledger that cannot be used; the message names the file and the remedy."""


class Ledger:
    """One tournament's games in a ledger file, or in memory where no file is named.

    The file appears when it holds a tournament, so one that holds none has been emptied. Games
    that could not be written to it may be kept in a file beside it; they are taken in when the
    tournament is resumed.
    """

    def __init__(self, path: str | None = None) -> None:
        """Open the file, if it is there, and lock it against a second runner."""
        self.path = path
        self._name = ""
        self._players: tuple[str, ...] = ()
        self._lock: TextIO | None = None
        self._database: sqlite3.Connection | None = None
        self._others: list[str] = []
        if path is None:
            return
        try:
            _check_path(path)
            self._lock = lock_or_raise(
                path, lambda why: LedgerError(f"ledger {why}"), "in use by another runner"
            )
            if Path(path).exists() and Path(path).stat().st_size:
                self._open(path)
        except OSError as error:
            raise LedgerError(f"ledger {path}: {error.strerror}") from None
        except LedgerError:
            self.close()
            raise

    def begin(self, settings: Settings, *, resume: bool) -> None:
        """Enter the tournament, or go on with it if `resume`.

        Raises LedgerError if it has begun and is not to be resumed, or is to be resumed and gone,
        and SettingsError if its settings were others.
        """
        self._name = settings.name
        self._players = tuple(engine.name for engine in settings.engines)
        kept = self._read_pending()
        if kept and not resume:
            raise LedgerError(
                f"{self.pending_path} holds games of the tournament {self._name!r}: --resume takes them "
                "in; remove it to begin anew"
            )
        if self._database is None:
            self._create(settings, resume=resume)
        else:
            self._resume(settings, resume=resume)
        with self._wrap_errors():
            with self._connection:
                for record in kept:
                    self._insert(record)
            self._connection.execute(f"PRAGMA busy_timeout={round(1000 * WRITE_TIMEOUT)}")
        if kept:
            with contextlib.suppress(OSError):  # they are taken in once, however often they come
                self.save_pending(())

    def record(self, record: GameRecord) -> bool:
        """Write a game; return False, and write nothing, if it has been written before.

        Raises LedgerError if it cannot be written, now or ever.
        """
        with self._wrap_errors(), self._connection:
            return self._insert(record)

    def save_pending(self, records: Sequence[GameRecord]) -> str:
        """Keep games that cannot be written, and return where.

        That is `beside` the ledger, or, where that fails, in the folder of temporary files. They
        take the place of those kept before. Raises OSError if neither can be.
        """
        elsewhere = Path(tempfile.gettempdir()) / f"kempelen-{os.getpid()}.unwritten"
        elsewhere.unlink(missing_ok=True)
        lines = [
            json.dumps({"tournament": self._name, "record": encode(record)}) for record in records
        ]
        if not lines and not self._others:
            Path(self.pending_path).unlink(missing_ok=True)
            return self.pending_path
        content = "".join(f"{line}\n" for line in (*self._others, *lines)).encode()
        try:
            replace_atomically(Path(self.pending_path), content, durable=True)
            return self.pending_path
        except OSError:
            replace_atomically(elsewhere, content, durable=True)
            return str(elsewhere)

    def records(self) -> Iterator[GameRecord]:
        """Yield the games in the order in which they were written.

        Raises LedgerError, naming the game, where a record is damaged.
        """
        with self._wrap_errors():
            rows = self._connection.execute(
                "SELECT pair, game, record FROM game WHERE tournament = ? ORDER BY rowid",
                (self._name,),
            )
            for pair, game, text in rows:
                try:
                    record = decode(GameRecord, json.loads(text))
                    self._check(record, pair, game)
                except DECODE_ERRORS as error:
                    raise self.damaged_record_error(pair, game, error) from None
                yield record

    def results(self) -> dict[PairKey, dict[int, float | None]]:
        """Return, for each pair, the first player's score in each recorded game."""
        results: dict[PairKey, dict[int, float | None]] = defaultdict(dict)
        for record in self.records():
            results[record.key][record.game] = record.first_score
        return dict(results)

    def damaged_record_error(self, pair: object, game: object, error: Exception) -> LedgerError:
        """Return the error that says that a game's record is damaged, and how to go on."""
        where = f"tournament = '{self._name}' AND pair = '{pair}' AND game = {game}"
        return LedgerError(
            f"ledger {self.path}: the record of game {pair}.{game} is damaged: {error}\n"
            "Restore the file from a copy; or delete the record, and the game is played again:\n"
            f'  sqlite3 {self.path} "DELETE FROM game WHERE {where}"'
        )

    def close(self) -> None:
        """Close the file and give its lock back."""
        if self._database is not None:
            self._database.close()
        if self._lock is not None:
            self._lock.close()

    @property
    def _connection(self) -> sqlite3.Connection:
        assert self._database is not None, "begin comes first"
        return self._database

    @property
    def pending_path(self) -> str:
        """The file from which a resumed tournament takes in games that could not be written."""
        return f"{self.path}.unwritten"

    def _open(self, path: str) -> None:
        with self._wrap_errors():
            self._database = sqlite3.connect(path, timeout=OPEN_TIMEOUT)
            version = self._database.execute("PRAGMA user_version").fetchone()[0]
            if version not in (0, SCHEMA_VERSION):
                raise LedgerError(f"ledger {path}: written by another version of this program")
            self._database.execute("PRAGMA journal_mode=WAL")
            self._database.execute("PRAGMA synchronous=FULL")
            self._database.executescript(SCHEMA)
            self._database.execute(f"PRAGMA user_version={SCHEMA_VERSION}")

    def _create(self, settings: Settings, *, resume: bool) -> None:
        """Make the file, with the tournament in it from its first moment on."""
        if self.path is None:
            self._open(":memory:")
            with self._connection:
                self._connection.execute(INSERT_TOURNAMENT, _tournament_row(settings))
        else:
            file = os.path.realpath(self.path)  # beside which SQLite has its others
            log = Path(f"{file}-wal")
            if resume and (Path(file).exists() or log.exists()):
                raise LedgerError(_emptied(self.path))
            temporary = Path(f"{file}.new")
            try:
                for stale in (temporary, log, Path(f"{file}-shm")):
                    stale.unlink(missing_ok=True)
                with (
                    self._wrap_errors(),
                    contextlib.closing(sqlite3.connect(temporary)) as database,
                ):
                    database.executescript(f"BEGIN; {SCHEMA}")
                    database.execute(INSERT_TOURNAMENT, _tournament_row(settings))
                    database.commit()
                replace_file(temporary, Path(file))
            except OSError as error:
                raise LedgerError(f"ledger {self.path}: {error.strerror}") from None
            self._open(self.path)

    def _resume(self, settings: Settings, *, resume: bool) -> None:
        """Enter the tournament into a file that is there."""
        with self._wrap_errors():
            rows = dict(self._connection.execute("SELECT name, settings FROM tournament"))
        if not rows and resume:
            raise LedgerError(_emptied(self.path))
        if self._name in rows:
            if not resume:
                raise LedgerError(
                    f"ledger {self.path} holds the tournament {self._name!r} already: "
                    "--resume goes on with it; or choose another --name or --ledger"
                )
            self._check_integrity()
            where = f"ledger {self.path}, {self._name!r}"
            check_resumable(_settings(rows[self._name], where), settings)
        with self._wrap_errors(), self._connection:
            self._connection.execute(INSERT_TOURNAMENT, _tournament_row(settings))

    def _insert(self, record: GameRecord) -> bool:
        cursor = self._connection.execute(
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

    def _check(self, record: GameRecord, pair: object, game: object) -> None:
        """Raise ValueError for a record that is not the one of this game of the tournament."""
        key = record.key
        if (record.pair, record.game) != (pair, game) or game not in (1, 2):
            raise ValueError(f"it says that it is of game {record.pair}.{record.game}")
        if min(key.round, key.number) < 1 or not all(
            0 <= player < len(self._players) for player in (key.first, key.second)
        ):
            raise ValueError("there is no such game")
        players = self._players[key.white(record.game)], self._players[key.black(record.game)]
        if (record.white, record.black) != players:
            raise ValueError(f"its players are {record.white!r} and {record.black!r}")
        if record.result not in RESULTS:
            raise ValueError(f"its result is {record.result!r}")

    def _check_integrity(self) -> None:
        """Raise LedgerError for a file that is damaged; that takes a second for 100,000 games."""
        with self._wrap_errors():
            found = self._connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
        if found != "ok":
            raise LedgerError(f"ledger {self.path}: {found}; {DAMAGED_REMEDY}")

    def _read_pending(self) -> list[GameRecord]:
        """Return this tournament's games that wait beside the ledger."""
        if self.path is None or not Path(self.pending_path).exists():
            return []
        records = []
        try:
            for line in Path(self.pending_path).read_text("utf-8").splitlines():
                entry = json.loads(line)
                if entry["tournament"] != self._name:
                    self._others.append(line)
                    continue
                record = decode(GameRecord, entry["record"])
                self._check(record, record.pair, record.game)
                records.append(record)
        except (OSError, *DECODE_ERRORS) as error:
            raise LedgerError(
                f"{self.pending_path}, which holds games that wait for their ledger: {error}; "
                "mend or remove it"
            ) from None
        return records

    @contextlib.contextmanager
    def _wrap_errors(self) -> Iterator[None]:
        """Name the file, and the remedy, in what goes wrong with it."""
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            remedy = f"; {REMEDIES[code]}" if code in REMEDIES else ""
            raise LedgerError(f"ledger {self.path}: {error}{remedy}") from error
        except UnicodeDecodeError:  # in the words of an error of SQLite's
            raise LedgerError(f"ledger {self.path}: {DAMAGED_REMEDY}") from None


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
    return _settings(rows[name], f"ledger {path}, {name!r}")


def _settings(text: str, where: str) -> Settings:
    try:
        return decode(Settings, json.loads(text))
    except DECODE_ERRORS as error:
        raise LedgerError(
            f"{where}: its settings cannot be read: {error}; {DAMAGED_REMEDY}"
        ) from None


def _tournament_row(settings: Settings) -> tuple[str, str, str]:
    return settings.name, json.dumps(encode(settings)), datetime.now(UTC).isoformat()


def _emptied(path: str | None) -> str:
    return (
        f"ledger {path} is empty, and there is nothing for --resume to go on with: restore it "
        "from a copy; or remove it, to begin anew"
    )


def _check_path(path: str) -> None:
    """Raise LedgerError where there can be no ledger."""
    if not Path(path).absolute().parent.is_dir():
        raise LedgerError(f"ledger {path}: its folder does not exist")
    if Path(path).exists() and not Path(path).is_file():
        kind = "a folder" if Path(path).is_dir() else "no file"
        raise LedgerError(f"ledger {path} is {kind}; name a file")
