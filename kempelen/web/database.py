from __future__ import annotations

import os
import sqlite3
import threading
from pathlib import Path
from typing import Any

from agent.io.sqlite_schema import unknown_object

BUSY_TIMEOUT_S = 10.0  # timeout for locks of other processes
SCHEMA = """
CREATE TABLE IF NOT EXISTS visitors (digest TEXT PRIMARY KEY, name TEXT, until REAL) STRICT;
CREATE TABLE IF NOT EXISTS played (
    id TEXT PRIMARY KEY, owner TEXT, setup TEXT, moves TEXT, clocks TEXT, result TEXT,
    termination TEXT, detail TEXT, began REAL, changed REAL
) STRICT;
CREATE INDEX IF NOT EXISTS played_by ON played (owner, changed);
CREATE TABLE IF NOT EXISTS dead_stones (game TEXT PRIMARY KEY, stones TEXT) STRICT;
"""


class DatabaseError(Exception):
    """The database file is unusable. The message says how to fix the problem."""


class Database:
    """An SQLite database with one transaction per statement. Thread-safe."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))  # readable by the owner only
            self._connection = sqlite3.connect(
                path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
            )
            self._check()
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = NORMAL")
            self._connection.executescript(SCHEMA)
        except (OSError, sqlite3.Error, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise DatabaseError(f"{path}: {reason} (use --games FILE for another file)") from None

    def _check(self) -> None:
        """Raise sqlite3.DatabaseError if the file is damaged or belongs to something else."""
        if (name := unknown_object(self._connection, SCHEMA)) is not None:
            raise sqlite3.DatabaseError(f"not a file of games: it contains {name!r}")
        problem = self._connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if problem != "ok":
            raise sqlite3.DatabaseError(f"damaged: {problem}")

    def fetch_all(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._connection.execute(query, values).fetchall()

    def execute(self, statement: str, *values: Any) -> None:
        with self._lock:
            self._connection.execute(statement, values)

    def close(self) -> None:
        with self._lock:
            self._connection.close()
