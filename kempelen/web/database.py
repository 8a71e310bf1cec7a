from __future__ import annotations

import os
import sqlite3
import threading
from pathlib import Path
from typing import Any

BUSY_TIMEOUT_S = 10.0  # timeout for locks of other processes


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
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = NORMAL")
        except (OSError, sqlite3.Error) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise DatabaseError(f"{path}: {reason} (use --games FILE for another file)") from None

    def fetch_all(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._connection.execute(query, values).fetchall()

    def execute(self, statement: str, *values: Any) -> None:
        with self._lock:
            self._connection.execute(statement, values)

    def close(self) -> None:
        with self._lock:
            self._connection.close()
