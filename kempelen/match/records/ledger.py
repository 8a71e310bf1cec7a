"""Store the settings and the finished games of tournaments in the ledger, an SQLite file.

Games are identified by tournament, pair and number. If a game is played twice, only the first
record is kept.
"""

import contextlib
import json
import os
import sqlite3
import stat
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from agent.io import strict_json
from agent.io.file_lock import lock_or_raise
from agent.io.files import atomic_writer, replace_atomically
from agent.io.sqlite_schema import unknown_object
from kempelen.console.settings_codec import decode, encode
from kempelen.console.terminal import print_error
from kempelen.match.config.settings import Settings, check_resumable
from kempelen.match.game.game_result import Termination
from kempelen.match.pairing.pairs import PairKey
from kempelen.match.records.game_record import GameRecord, encode_record

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
MEMORY = ":memory:"
RESULTS = ("1-0", "0-1", "1/2-1/2", "*")
# Earlier releases recorded these games, which were not played. They are played on resume.
NOT_PLAYED = (Termination.NOT_STARTED, Termination.WORKER_LOST)
# Exceptions that decoding a damaged record may raise.
DECODE_ERRORS = (ValueError, TypeError, LookupError, AttributeError, RecursionError, OverflowError)
# Seconds to wait for a lock of another program. A write blocks the clocks of running games, so the
# timeout is short; the runner retries failed writes.
OPEN_TIMEOUT = 5.0
WRITE_TIMEOUT = 0.05
DAMAGED_REMEDY = "the file is damaged (restore a backup, or use another --ledger)"
# Advice for the user by SQLite error code.
REMEDIES = {
    sqlite3.SQLITE_BUSY: "in use by another program (close that program)",
    sqlite3.SQLITE_LOCKED: "in use by another program (close that program)",
    sqlite3.SQLITE_FULL: "the disk is full (free some space)",
    sqlite3.SQLITE_READONLY: "the file must be writable",
    sqlite3.SQLITE_CANTOPEN: "the file and its folder must be writable",
    sqlite3.SQLITE_CORRUPT: DAMAGED_REMEDY,
    sqlite3.SQLITE_NOTADB: DAMAGED_REMEDY,
}


class LedgerError(Exception):
    """Error in a ledger. The message names the file and says how to fix the problem."""


class Ledger:
    """The games of one tournament, stored in a file, or in memory if `path` is None.

    The file is created together with its tournament, so an empty file means that data have been
    lost. If another program removes the file, it is written again. Games that could not be written
    are saved in the file `pending_path`, and imported on resume.
    """

    def __init__(self, path: str | None = None) -> None:
        """Open the file if it exists, and lock it. Raise LedgerError if this fails."""
        self.path = path
        self._name = ""
        self._players: tuple[str, ...] = ()
        self._lock: TextIO | None = None
        self._database: sqlite3.Connection | None = None
        self._status: os.stat_result | None = None  # of the file, when it was last checked
        self._log_status: os.stat_result | None = None  # of SQLite's log beside it
        self._other_pending: list[str] = []
        self._fallback: Path | None = None
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
        """Create the tournament, or continue it if `resume` is true.

        Raise LedgerError if the tournament exists and `resume` is false, or if the file is empty
        and `resume` is true. Raise SettingsError if the settings differ.
        """
        self._name = settings.name
        self._players = tuple(engine.name for engine in settings.engines)
        pending = self._read_pending()
        if pending and not resume:
            raise LedgerError(
                f"{self.pending_path}: has pending games of tournament {self._name!r} "
                "(use --resume to import them, or remove the file)"
            )
        if self._database is None:
            self._create(settings, resume=resume)
        else:
            self._resume(settings, resume=resume)
        with self._wrap_errors():
            with self._connection:
                for record in pending:
                    self._insert(record)
            self._set_write_timeout()
        if pending:
            with contextlib.suppress(OSError):  # importing a game twice does no harm
                self.save_pending(())

    def record(self, record: GameRecord) -> bool:
        """Write a game, and return whether it was new. Raise LedgerError on failure."""
        self.restore()
        with self._wrap_errors(), self._connection:
            return self._insert(record)

    def restore(self) -> None:
        """Write the file again if another program has removed it.

        Raise LedgerError if that fails, or if another program has replaced or truncated the file.
        """
        if self.path is None:
            return
        assert self._status is not None, "call begin first"
        try:
            status = os.stat(self.path)
        except FileNotFoundError:
            self._write_again(Path(os.path.realpath(self.path)))
            return
        except OSError as error:
            raise LedgerError(f"ledger {self.path}: {error.strerror}") from None
        if not os.path.samestat(status, self._status):
            self._remove_own_logs()
            raise LedgerError(
                f"ledger {self.path}: replaced by another file during the run (move that file away)"
            )
        if status.st_size < self._status.st_size:
            raise LedgerError(
                f"ledger {self.path}: truncated by another program during the run "
                "(games in it may be lost)"
            )
        self._status = status

    @property
    def is_in_place(self) -> bool:
        """Whether the open file has neither been removed nor replaced."""
        if self.path is None or self._status is None:
            return True
        try:
            return os.path.samestat(self._status, os.stat(self.path))
        except OSError:
            return False

    def save_pending(self, records: Sequence[GameRecord]) -> str:
        """Save games that cannot be written to the ledger. Return the path of the file.

        This is `pending_path`, or a file in the temporary directory if that fails. An existing file
        is replaced. Raise OSError if neither file can be written.
        """
        lines = [
            json.dumps({"tournament": self._name, "record": encode(record)}) for record in records
        ]
        if not lines and not self._other_pending:
            Path(self.pending_path).unlink(missing_ok=True)
            self._remove_fallback()
            return self.pending_path
        content = "".join(f"{line}\n" for line in (*self._other_pending, *lines)).encode()
        try:
            replace_atomically(Path(self.pending_path), content, durable=True)
        except OSError:
            # All users can write to the folder of this file, so its name must be unpredictable.
            if self._fallback is None:
                descriptor, name = tempfile.mkstemp(".unwritten", "kempelen-")
                os.close(descriptor)
                self._fallback = Path(name)
            replace_atomically(self._fallback, content, durable=True)
            return str(self._fallback)
        self._remove_fallback()
        return self.pending_path

    def _remove_fallback(self) -> None:
        if self._fallback is not None:
            self._fallback.unlink(missing_ok=True)
            self._fallback = None

    def records(self) -> Iterator[GameRecord]:
        """Yield the games in the order in which they were written.

        Raise LedgerError, which names the game, if a record is damaged.
        """
        with self._wrap_errors():
            rows = self._connection.execute(
                "SELECT pair, game, record FROM game WHERE tournament = ? ORDER BY rowid",
                (self._name,),
            )
            for pair, game, text in rows:
                try:
                    record = decode(GameRecord, strict_json.loads(text))
                    self._check(record, pair, game)
                except DECODE_ERRORS as error:
                    raise self.damaged_record_error(pair, game, error) from None
                yield record

    def results(self) -> dict[PairKey, dict[int, float | None]]:
        """Return the scores of the first player of each pair, by pair and game number."""
        results: dict[PairKey, dict[int, float | None]] = defaultdict(dict)
        for record in self.records():
            results[record.key][record.game] = record.first_score
        return dict(results)

    def damaged_record_error(self, pair: object, game: object, error: Exception) -> LedgerError:
        """Return an error that explains how to repair the damaged record."""
        where = f"tournament = '{self._name}' AND pair = '{pair}' AND game = {game}"
        return LedgerError(
            f"ledger {self.path}: the record of game {pair}.{game} is damaged: {error}\n"
            "Restore the file from a backup, or delete the record to replay the game:\n"
            f'  sqlite3 {self.path} "DELETE FROM game WHERE {where}"'
        )

    def close(self) -> None:
        if self._database is not None:
            self._database.close()
        if self._lock is not None:
            self._lock.close()

    @property
    def _connection(self) -> sqlite3.Connection:
        assert self._database is not None, "call begin first"
        return self._database

    @property
    def pending_path(self) -> str:
        """The path of the file for games that could not be written to the ledger."""
        return f"{self.path}.unwritten"

    def _open(self, path: str) -> None:
        with self._wrap_errors():
            self._database = sqlite3.connect(path, timeout=OPEN_TIMEOUT)
            version = self._database.execute("PRAGMA user_version").fetchone()[0]
            if version not in (0, SCHEMA_VERSION):
                raise LedgerError(
                    f"ledger {path}: unsupported schema version {version} "
                    f"(expected {SCHEMA_VERSION})"
                )
            self._database.execute("PRAGMA journal_mode=WAL")
            self._database.execute("PRAGMA synchronous=FULL")
            _check_schema(self._database, path)
            self._database.executescript(SCHEMA)
            self._database.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
        if path != MEMORY:
            self._status = os.stat(path)
            # On some network file systems, SQLite uses no such log.
            with contextlib.suppress(FileNotFoundError):
                self._log_status = os.stat(f"{os.path.realpath(path)}-wal")

    def _set_write_timeout(self) -> None:
        self._connection.execute(f"PRAGMA busy_timeout={round(1000 * WRITE_TIMEOUT)}")

    def _write_again(self, file: Path) -> None:
        """Copy the open file, which another program has removed, to its old path."""
        assert self._status is not None
        mode = 0o600 | stat.S_IMODE(self._status.st_mode)
        try:
            with atomic_writer(file, mode=mode) as temporary:
                with (
                    self._wrap_errors(),
                    contextlib.closing(sqlite3.connect(temporary.name)) as copy,
                ):
                    self._connection.backup(copy)
                    copy.execute("PRAGMA journal_mode=DELETE")  # complete without its log
                self._remove_logs(file)
        except OSError as error:
            raise LedgerError(f"ledger {self.path}: {error.strerror}") from None
        self._reopen(file)
        print_error(f"ledger {self.path}: removed by another program; written again")

    def _reopen(self, file: Path) -> None:
        """Open the file in place of the removed one. On failure, keep the games in memory."""
        memory = sqlite3.connect(MEMORY)
        with self._wrap_errors():
            self._connection.backup(memory)
        # This must come first, because SQLite removes the log beside the file when it is closed.
        self._connection.close()
        try:
            self._open(str(file))
            self._set_write_timeout()
        except (LedgerError, OSError) as error:
            self._connection.close()
            self._database = memory
            raise LedgerError(str(error)) from None
        memory.close()

    @staticmethod
    def _remove_logs(file: Path) -> None:
        for log in ("wal", "shm"):
            Path(f"{file}-{log}").unlink(missing_ok=True)

    def _remove_own_logs(self) -> None:
        """Remove the log beside a file that has replaced ours, to which SQLite would apply it."""
        file = Path(os.path.realpath(self.path or ""))
        with contextlib.suppress(OSError):
            status = os.stat(f"{file}-wal")
            if self._log_status is not None and os.path.samestat(self._log_status, status):
                self._remove_logs(file)

    def _create(self, settings: Settings, *, resume: bool) -> None:
        if self.path is None:
            self._open(MEMORY)
            with self._connection:
                self._connection.execute(INSERT_TOURNAMENT, _tournament_row(settings))
        else:
            # SQLite puts its log beside the real file, not beside a link to it.
            file = os.path.realpath(self.path)
            log = Path(f"{file}-wal")
            if resume and (Path(file).exists() or log.exists()):
                raise LedgerError(_empty_message(self.path))
            try:
                self._remove_logs(Path(file))
                with (
                    atomic_writer(Path(file)) as temporary,
                    self._wrap_errors(),
                    contextlib.closing(sqlite3.connect(temporary.name)) as database,
                ):
                    database.executescript(f"BEGIN; {SCHEMA}")
                    database.execute(INSERT_TOURNAMENT, _tournament_row(settings))
                    database.commit()
            except OSError as error:
                raise LedgerError(f"ledger {self.path}: {error.strerror}") from None
            self._open(self.path)

    def _resume(self, settings: Settings, *, resume: bool) -> None:
        with self._wrap_errors():
            rows = dict(self._connection.execute("SELECT name, settings FROM tournament"))
        if not rows and resume:
            raise LedgerError(_empty_message(self.path))
        if self._name in rows:
            if not resume:
                raise LedgerError(
                    f"ledger {self.path}: tournament {self._name!r} already exists "
                    "(use --resume to continue it, or another --name or --ledger)"
                )
            self._check_integrity()
            where = f"ledger {self.path}, {self._name!r}"
            check_resumable(_settings(rows[self._name], where), settings)
        with self._wrap_errors(), self._connection:
            self._connection.execute(INSERT_TOURNAMENT, _tournament_row(settings))
            self._connection.execute(
                "DELETE FROM game WHERE tournament = ? AND termination IN (?, ?)",
                (self._name, *map(str, NOT_PLAYED)),
            )

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
                json.dumps(encode_record(record), separators=(",", ":")),
            ),
        )
        return cursor.rowcount == 1

    def _check(self, record: GameRecord, pair: object, game: object) -> None:
        key = record.key
        if (record.pair, record.game) != (pair, game) or game not in (1, 2):
            raise ValueError(f"wrong game {record.pair}.{record.game}")
        if min(key.round, key.number) < 1 or not all(
            0 <= player < len(self._players) for player in (key.first, key.second)
        ):
            raise ValueError("unknown game")
        players = self._players[key.white(record.game)], self._players[key.black(record.game)]
        if (record.white, record.black) != players:
            raise ValueError(f"wrong players {record.white!r} and {record.black!r}")
        if record.result not in RESULTS:
            raise ValueError(f"invalid result {record.result!r}")

    def _check_integrity(self) -> None:
        """Raise LedgerError if the file is damaged. This takes about 1 s for 100,000 games."""
        with self._wrap_errors():
            problem = self._connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
        if problem != "ok":
            raise LedgerError(f"ledger {self.path}: {problem}; {DAMAGED_REMEDY}")

    def _read_pending(self) -> list[GameRecord]:
        if self.path is None or not Path(self.pending_path).exists():
            return []
        records = []
        try:
            for line in Path(self.pending_path).read_text("utf-8").splitlines():
                entry = strict_json.loads(line)
                if entry["tournament"] != self._name:
                    self._other_pending.append(line)
                    continue
                record = decode(GameRecord, entry["record"])
                self._check(record, record.pair, record.game)
                records.append(record)
        except (OSError, *DECODE_ERRORS) as error:
            raise LedgerError(
                f"{self.pending_path}: invalid file of pending games: {error} (repair or remove it)"
            ) from None
        return records

    @contextlib.contextmanager
    def _wrap_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            remedy = f"; {REMEDIES[code]}" if code in REMEDIES else ""
            raise LedgerError(f"ledger {self.path}: {error}{remedy}") from error
        except UnicodeDecodeError:  # the sqlite3 module could not decode SQLite's error message
            raise LedgerError(f"ledger {self.path}: {DAMAGED_REMEDY}") from None


def saved_settings(path: str, name: str | None = None) -> Settings:
    """Return the settings of a tournament. If `name` is None, the ledger must contain exactly one.

    Raise LedgerError if the ledger is unreadable or does not contain the tournament.
    """
    if not Path(path).is_file():
        raise LedgerError(f"ledger {path}: file not found")
    try:
        with contextlib.closing(sqlite3.connect(path)) as database:
            _check_schema(database, path)
            rows = dict(database.execute("SELECT name, settings FROM tournament").fetchall())
    except sqlite3.Error as error:
        raise LedgerError(f"ledger {path}: {error}") from error
    if name is None and len(rows) == 1:
        name = next(iter(rows))
    if name not in rows:
        wrong = "several tournaments" if name is None and rows else "unknown tournament"
        known = ", ".join(rows) or "none"
        raise LedgerError(f"ledger {path}: {wrong} (tournaments in it: {known})")
    return _settings(rows[name], f"ledger {path}, {name!r}")


def _check_schema(database: sqlite3.Connection, path: str) -> None:
    if (name := unknown_object(database, SCHEMA)) is not None:
        raise LedgerError(f"ledger {path}: not a ledger: it contains {name!r} (use another file)")


def _settings(text: str, where: str) -> Settings:
    try:
        return decode(Settings, strict_json.loads(text))
    except DECODE_ERRORS as error:
        raise LedgerError(
            f"{where}: invalid settings: {error}; if no other version of Kempelen wrote them, "
            f"{DAMAGED_REMEDY}"
        ) from None


def _tournament_row(settings: Settings) -> tuple[str, str, str]:
    return settings.name, json.dumps(encode(settings)), datetime.now(UTC).isoformat()


def _empty_message(path: str | None) -> str:
    return (
        f"ledger {path}: the file is empty, so --resume has nothing to continue "
        "(restore a backup, or remove the file to start again)"
    )


def _check_path(path: str) -> None:
    if not Path(path).absolute().parent.is_dir():
        raise LedgerError(f"ledger {path}: folder not found")
    if Path(path).exists() and not Path(path).is_file():
        raise LedgerError(f"ledger {path}: not a regular file")
