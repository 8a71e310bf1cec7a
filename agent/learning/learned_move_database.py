"""SQLite database of learned moves.

Each write merges new moves with the stored moves in one transaction, and gives them a higher
sequence number, the stamp. Readers fetch only the moves with new stamps.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, fields
from pathlib import Path
from typing import TYPE_CHECKING

from agent.io.files import require_regular
from agent.io.message import Message, MessageError
from agent.io.sqlite_schema import unknown_object
from agent.learning.learned_move import LearnedMove

if TYPE_CHECKING:
    import sqlite3

# Identify the file type among SQLite databases, and the schema version.
APPLICATION_ID = 0x4B454D50
SCHEMA_VERSION = 1
# Maximum number of stored moves, about 20 MB. The least useful moves are deleted first.
MAX_MOVES = 100_000
MAX_BYTES = 256 << 20  # a learned move takes a few hundred bytes
# Lock timeouts. A transaction takes a few milliseconds. During a game a clock is running, so the
# timeout is short; failed writes are retried later.
BUSY_TIMEOUT_S = 10.0
IN_GAME_BUSY_TIMEOUT_S = 0.5
SCHEMA = f"""
CREATE TABLE IF NOT EXISTS lesson (
    game TEXT NOT NULL,
    position TEXT NOT NULL,
    move TEXT NOT NULL,
    after TEXT NOT NULL,
    reply TEXT NOT NULL,
    predicted REAL NOT NULL,
    found REAL NOT NULL,
    depth INTEGER NOT NULL,
    times INTEGER NOT NULL,
    used INTEGER NOT NULL,
    stamp INTEGER NOT NULL,
    PRIMARY KEY (game, position, move)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_stamp ON lesson (stamp);
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {SCHEMA_VERSION};
"""
COLUMNS = ", ".join(field.name for field in fields(LearnedMove))
# Finds invalid rows, which would break searches, or counts that would overflow.
_INVALID_ROWS_QUERY = (
    "SELECT 1 FROM lesson WHERE NOT (predicted BETWEEN -1e9 AND 1e9 AND found BETWEEN -1e9 AND 1e9 "
    "AND depth BETWEEN -1e9 AND 1e9 AND times BETWEEN 1 AND 1e15 AND used BETWEEN 0 AND 1e15 "
    "AND stamp BETWEEN 0 AND 1e15) LIMIT 1"
)
# The least useful moves are those seen least often, then those seen longest ago.
LEAST_USEFUL_ORDER = "ORDER BY times + used, stamp LIMIT ?"


class LearningDatabaseError(MessageError):
    """Raised if the database file is unusable."""


class LearnedMoveDatabase:
    """A file of learned moves. All operations raise LearningDatabaseError if it is unusable.

    Several processes may use the file at the same time. The first write creates it. `busy_timeout`
    is the time in seconds to wait for other processes.
    """

    def __init__(self, path: str | os.PathLike[str], max_moves: int = MAX_MOVES) -> None:
        self.path = Path(path)
        self._max_moves = max_moves
        self.busy_timeout = BUSY_TIMEOUT_S
        self._stamp = -1  # stamp of the newest move read so far
        if not self.path.absolute().parent.is_dir():
            raise LearningDatabaseError("experience {}: folder does not exist", path)
        try:
            with contextlib.suppress(FileNotFoundError):
                require_regular(path)
        except OSError as error:
            raise LearningDatabaseError("experience {}: {}", path, error) from None
        if self._exists():
            if self.path.stat().st_size > MAX_BYTES:
                reason = Message("file is too large (at most {} KiB)", MAX_BYTES >> 10)
                raise LearningDatabaseError("experience {}: {}", path, reason)
            with self._connect() as database:
                status = database.execute("PRAGMA quick_check(1)").fetchone()[0]
                if status != "ok" or database.execute(_INVALID_ROWS_QUERY).fetchone():
                    raise LearningDatabaseError("experience {}: {}", path, _DAMAGED)

    def read_new(self) -> list[LearnedMove]:
        """Return the moves that any process has written since the last call."""
        if not self._exists():
            return []
        with self._connect() as database:
            newest = database.execute("SELECT coalesce(max(stamp), -1) FROM lesson").fetchone()[0]
            if newest < self._stamp:  # another process has deleted moves and restarted the stamps
                self._stamp = -1
            rows = database.execute(
                f"SELECT {COLUMNS}, stamp FROM lesson WHERE stamp > ?", (self._stamp,)
            ).fetchall()
            if rows:
                self._stamp = max(row[-1] for row in rows)
        return [LearnedMove(*row[:-1]) for row in rows]

    def read_all(self) -> list[LearnedMove]:
        """Return all moves, those with the largest total prediction error first."""
        if not self._exists():
            return []
        with self._connect() as database:
            rows = database.execute(
                f"SELECT {COLUMNS} FROM lesson "
                "ORDER BY abs(found - predicted) * times DESC, game, position, move"
            )
            return [LearnedMove(*row) for row in rows]

    def add(self, lessons: Sequence[LearnedMove], *, later: bool = True) -> None:
        """Merge moves with the stored records of the same moves, in one transaction.

        If `later` is true, the new records contain later outcomes of the stored moves. Otherwise
        they are independent. If there are too many moves, the least useful ones are deleted.
        """
        with self._connect() as database, self._transaction(database) as stamp:
            for lesson in lessons:
                row = database.execute(
                    f"SELECT {COLUMNS} FROM lesson WHERE game = ? AND position = ? AND move = ?",
                    lesson.key,
                ).fetchone()
                if row is not None:
                    known = LearnedMove(*row)
                    lesson = known.updated_with(lesson) if later else known.merged_with(lesson)
                placeholders = ", ".join("?" * (len(fields(LearnedMove)) + 1))
                database.execute(
                    f"INSERT OR REPLACE INTO lesson ({COLUMNS}, stamp) VALUES ({placeholders})",
                    (*astuple(lesson), stamp),
                )
            _delete_least_useful(database, self._max_moves, slack=self._max_moves // 10)

    def add_use_counts(self, uses: Iterable[tuple[tuple[str, str, str], int]]) -> None:
        """Add to the `used` counts of moves. `uses` contains pairs of a move's key and a count."""
        if not self._exists():
            return
        with self._connect() as database, self._transaction(database):
            database.executemany(
                "UPDATE lesson SET used = used + ? WHERE game = ? AND position = ? AND move = ?",
                [(count, *key) for key, count in uses],
            )

    def prune(self, max_moves: int) -> int:
        """Keep only the `max_moves` most useful moves. Return the number of deleted moves."""
        if not self._exists():
            return 0
        with self._connect() as database:
            with self._transaction(database):
                deleted = _delete_least_useful(database, max_moves)
            database.execute("VACUUM")
        return deleted

    def _exists(self) -> bool:
        return self.path.exists() and self.path.stat().st_size > 0

    @contextlib.contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        import sqlite3

        remedies = {
            sqlite3.SQLITE_BUSY: Message("the file is in use by another program"),
            sqlite3.SQLITE_LOCKED: Message("the file is in use by another program"),
            sqlite3.SQLITE_FULL: Message("free some disk space"),
            sqlite3.SQLITE_READONLY: Message("the file must be writable"),
            sqlite3.SQLITE_CANTOPEN: Message("the file and its folder must be writable"),
            sqlite3.SQLITE_ERROR: _DAMAGED,  # for example, a missing table
            sqlite3.SQLITE_CORRUPT: _DAMAGED,
            sqlite3.SQLITE_NOTADB: _DAMAGED,
        }
        try:
            database = sqlite3.connect(self.path, timeout=self.busy_timeout, isolation_level=None)
            with contextlib.closing(database):
                if self._exists():
                    self._check(database)
                yield database
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            reason = Message("{} ({})", error, remedies[code]) if code in remedies else error
            raise LearningDatabaseError("experience {}: {}", self.path, reason) from None
        except UnicodeDecodeError:  # the text of an SQLite error is not UTF-8
            raise LearningDatabaseError("experience {}: {}", self.path, _DAMAGED) from None

    def _check(self, database: sqlite3.Connection) -> None:
        application, version = (
            database.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("application_id", "user_version")
        )
        own_version = version == SCHEMA_VERSION
        if application != APPLICATION_ID or (own_version and unknown_object(database, SCHEMA)):
            raise LearningDatabaseError(
                "experience {}: not an experience file (use another file)", self.path
            )
        if not own_version:
            raise LearningDatabaseError(
                "experience {}: written by another version of this program (use another file)",
                self.path,
            )

    @contextlib.contextmanager
    def _transaction(self, database: sqlite3.Connection) -> Iterator[int]:
        database.execute("BEGIN IMMEDIATE")
        try:
            for statement in SCHEMA.split(";"):
                database.execute(statement)
            stamp = database.execute("SELECT coalesce(max(stamp), 0) + 1 FROM lesson").fetchone()
            yield int(stamp[0])
            database.execute("COMMIT")
        except BaseException:
            if database.in_transaction:
                database.execute("ROLLBACK")
            raise


_DAMAGED = Message("the file is damaged; restore it from a copy or use another file")


def _delete_least_useful(database: sqlite3.Connection, max_moves: int, slack: int = 0) -> int:
    """If there are more than `max_moves` moves, delete the least useful ones.

    Keep `max_moves - slack` moves. Return the number of deleted moves.
    """
    count = database.execute("SELECT count(*) FROM lesson").fetchone()[0]
    if count <= max_moves:
        return 0
    surplus = count - max_moves + slack
    database.execute(
        "DELETE FROM lesson WHERE (game, position, move) IN "
        f"(SELECT game, position, move FROM lesson {LEAST_USEFUL_ORDER})",
        (surplus,),
    )
    return int(surplus)
