"""What a server of pages keeps: one SQLite file, written at once and safe from a crash."""

from __future__ import annotations

import os
import sqlite3
import threading
from pathlib import Path
from typing import Any

BUSY_TIMEOUT_S = 10.0  # seconds to wait for another process that writes


class DatabaseError(Exception):
    """The file cannot be used; says why, and what to do."""


class Database:
    """Rows of one file, from any thread. Each statement is a transaction of its own."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))  # for its owner alone
            self._connection = sqlite3.connect(
                path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
            )
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = NORMAL")
        except (OSError, sqlite3.Error) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise DatabaseError(f"{path}: {reason}; --games FILE names another file") from None

    def fetch_all(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return what a query finds."""
        with self._lock:
            return self._connection.execute(query, values).fetchall()

    def execute(self, statement: str, *values: Any) -> None:
        """Change rows, or add them."""
        with self._lock:
            self._connection.execute(statement, values)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()
