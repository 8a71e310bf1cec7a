"""Check the schema of an untrusted SQLite file."""

from __future__ import annotations

import contextlib
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

_OBJECTS = "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"
_STATISTICS = "CREATE TABLE sqlite_stat"  # by ANALYZE


def unknown_object(database: sqlite3.Connection, schema: str) -> str | None:
    """Return the name of an object in the file that `schema` does not create, or None.

    Views, triggers and expressions in the file would run as part of our statements. They could run
    endless queries, or delete new rows.
    """
    known = _statements(schema)
    for name, sql in database.execute(_OBJECTS):
        if _normalize(sql) not in known and not sql.startswith(_STATISTICS):
            return str(name)
    return None


@cache
def _statements(schema: str) -> frozenset[str]:
    import sqlite3  # lazy import: slow to load

    with contextlib.closing(sqlite3.connect(":memory:")) as database:
        database.executescript(schema)
        return frozenset(_normalize(sql) for _, sql in database.execute(_OBJECTS))


def _normalize(sql: str) -> str:
    return " ".join(sql.split())
