"""The file of lessons: an SQLite database that any number of processes read and write at a time.

SQLite locks it for each transaction, which adds to what is there and replaces nothing that another
process has learned: no lesson is lost. Whoever has read it reads later only what has changed since,
by the stamps that each transaction sets.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, fields
from pathlib import Path
from typing import TYPE_CHECKING

from agent.io.files import require_regular
from agent.learning.learned_move import LearnedMove

if TYPE_CHECKING:
    import sqlite3

# What tells our files from other databases, and which form of them this is.
APPLICATION_ID = 0x4B454D50
SCHEMA_VERSION = 1
# More lessons than this are not kept: those of least use go. They take some 20 megabytes.
MAX_MOVES = 100_000
MAX_BYTES = 256 << 20  # bytes; a lesson takes some hundreds
# Seconds that others are waited for, and in a game, where a clock is running and what cannot be
# written is written later. A transaction takes some milliseconds.
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
# What no program of ours has written, and searches cannot count with.
_INVALID_ROWS_QUERY = (
    "SELECT 1 FROM lesson "
    "WHERE abs(predicted) > 1e9 OR abs(found) > 1e9 OR times < 1 OR abs(depth) > 1e9 LIMIT 1"
)
# Of least use is what was met the fewest times, and among these what was met longest ago.
LEAST_USEFUL_ORDER = "ORDER BY times + used, stamp LIMIT ?"


class LearningDatabaseError(Exception):
    """A file that cannot be used; the message names it and the remedy."""


class LearnedMoveDatabase:
    """The lessons in a file, which is made when the first is written.

    most: how many are kept. patience: seconds that other processes may keep us waiting.
    """

    def __init__(self, path: str | os.PathLike[str], most: int = MAX_MOVES) -> None:
        """Look at the file; raises LearningDatabaseError if it is something else, or damaged."""
        self.path = Path(path)
        self._max_moves = most
        self.busy_timeout = BUSY_TIMEOUT_S
        self._stamp = -1  # of the newest lesson that was read
        if not self.path.absolute().parent.is_dir():
            raise LearningDatabaseError(f"experience {path}: its folder does not exist")
        try:
            with contextlib.suppress(FileNotFoundError):
                require_regular(path)
        except OSError as error:
            raise LearningDatabaseError(f"experience {path}: {error.strerror}") from None
        if self._exists():
            if self.path.stat().st_size > MAX_BYTES:
                reason = f"it is larger than {MAX_BYTES >> 10} KiB: name another file"
                raise LearningDatabaseError(f"experience {path}: {reason}")
            with self._connect() as database:
                found = database.execute("PRAGMA quick_check(1)").fetchone()[0]
                if found != "ok" or database.execute(_INVALID_ROWS_QUERY).fetchone():
                    raise LearningDatabaseError(f"experience {path}: {_DAMAGED}")

    def read_new(self) -> list[LearnedMove]:
        """Return the lessons that were written, by anyone, since this was last asked."""
        if not self._exists():
            return []
        with self._connect() as database:
            newest = database.execute("SELECT coalesce(max(stamp), -1) FROM lesson").fetchone()[0]
            if newest < self._stamp:  # others have dropped lessons, and count on from there
                self._stamp = -1
            rows = database.execute(
                f"SELECT {COLUMNS}, stamp FROM lesson WHERE stamp > ?", (self._stamp,)
            ).fetchall()
            if rows:
                self._stamp = max(row[-1] for row in rows)
        return [LearnedMove(*row[:-1]) for row in rows]

    def read_all(self) -> list[LearnedMove]:
        """Return all lessons, the greatest surprises first."""
        if not self._exists():
            return []
        with self._connect() as database:
            rows = database.execute(
                f"SELECT {COLUMNS} FROM lesson "
                "ORDER BY abs(found - predicted) * times DESC, game, position, move"
            )
            return [LearnedMove(*row) for row in rows]

    def add(self, lessons: Sequence[LearnedMove], *, later: bool = True) -> None:
        """Write lessons, all or none, each together with what is known of its move.

        later: they follow on what is known, else they were learned without it. Those of least use
        go where they are too many. Raises LearningDatabaseError if they cannot be written.
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
                places = ", ".join("?" * (len(fields(LearnedMove)) + 1))
                database.execute(
                    f"INSERT OR REPLACE INTO lesson ({COLUMNS}, stamp) VALUES ({places})",
                    (*astuple(lesson), stamp),
                )
            _delete_least_useful(database, self._max_moves, slack=self._max_moves // 10)

    def add_use_counts(self, uses: Iterable[tuple[tuple[str, str, str], int]]) -> None:
        """Count how often lessons have steered a search; raises LearningDatabaseError."""
        if not self._exists():
            return
        with self._connect() as database, self._transaction(database):
            database.executemany(
                "UPDATE lesson SET used = used + ? WHERE game = ? AND position = ? AND move = ?",
                [(count, *key) for key, count in uses],
            )

    def prune(self, most: int) -> int:
        """Keep the most useful lessons alone, so many; return how many went."""
        if not self._exists():
            return 0
        with self._connect() as database:
            with self._transaction(database):
                gone = _delete_least_useful(database, most)
            database.execute("VACUUM")
        return gone

    def _exists(self) -> bool:
        return self.path.exists() and self.path.stat().st_size > 0

    @contextlib.contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        """Open the file; what goes wrong with it names it, and the remedy."""
        import sqlite3

        remedies = {
            sqlite3.SQLITE_BUSY: "another program uses it: end that one",
            sqlite3.SQLITE_LOCKED: "another program uses it: end that one",
            sqlite3.SQLITE_FULL: "make room on its disk",
            sqlite3.SQLITE_READONLY: "it must be writable",
            sqlite3.SQLITE_CANTOPEN: "it and its folder must be writable",
            sqlite3.SQLITE_ERROR: _DAMAGED,  # such as a table that is not there
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
            reason = f"{error}; {remedies[code]}" if code in remedies else str(error)
            raise LearningDatabaseError(f"experience {self.path}: {reason}") from None
        except UnicodeDecodeError:  # in the words of an error of SQLite's
            raise LearningDatabaseError(f"experience {self.path}: {_DAMAGED}") from None

    def _check(self, database: sqlite3.Connection) -> None:
        application, form = (
            database.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("application_id", "user_version")
        )
        if application != APPLICATION_ID:
            raise LearningDatabaseError(
                f"experience {self.path}: it holds no experience; name another file"
            )
        if form != SCHEMA_VERSION:
            raise LearningDatabaseError(
                f"experience {self.path}: written by another version of this program; "
                "name another file"
            )

    @contextlib.contextmanager
    def _transaction(self, database: sqlite3.Connection) -> Iterator[int]:
        """Make what is written in the block seen as a whole or not at all; gives its stamp."""
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


_DAMAGED = "it is damaged: restore it from a copy, or name another file"


def _delete_least_useful(database: sqlite3.Connection, most: int, slack: int = 0) -> int:
    """Drop the least useful lessons if there are more than so many; return how many went.

    slack: so many fewer are left then, so that a full file is not sorted each time.
    """
    count = database.execute("SELECT count(*) FROM lesson").fetchone()[0]
    if count <= most:
        return 0
    gone = count - most + slack
    database.execute(
        "DELETE FROM lesson WHERE (game, position, move) IN "
        f"(SELECT game, position, move FROM lesson {LEAST_USEFUL_ORDER})",
        (gone,),
    )
    return int(gone)
