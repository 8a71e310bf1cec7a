"""Who a visitor is, where tokens are asked for: a token is shown once, and a cookie stands for it.

The cookie is as random as the token, lives in the browser alone and is hidden from scripts; of it
too a hash is kept. Neither is ever in an address.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Mapping

from kempelen.web.database import Database
from protocols.server.tokens import TokenFile

COOKIE_NAME = "kempelen_visitor"
LIFETIME_S = 30 * 86400  # seconds
MAX_COOKIES_PER_NAME = 100  # of one visitor; those of longest ago are forgotten
_SCHEMA = """
CREATE TABLE IF NOT EXISTS visitors (digest TEXT PRIMARY KEY, name TEXT, until REAL) STRICT
"""


class LoginSessions:
    """Those who have shown a token, by their cookies; kept, so that a restart throws nobody out."""

    def __init__(self, store: Database, tokens: TokenFile | None) -> None:
        self._store = store
        self._tokens = tokens
        store.execute(_SCHEMA)

    def create(self, name: str) -> str:
        """Return the cookie of a visitor who has shown his token."""
        cookie, salt = secrets.token_urlsafe(32), self._token_salt(name)
        self._store.execute("DELETE FROM visitors WHERE until < ?", time.time())
        self._store.execute(
            "DELETE FROM visitors WHERE name = ? AND digest NOT IN (SELECT digest FROM visitors"
            " WHERE name = ? ORDER BY until DESC LIMIT ?)",
            f"{name} {salt}",
            f"{name} {salt}",
            MAX_COOKIES_PER_NAME - 1,
        )
        self._store.execute(
            "INSERT INTO visitors VALUES (?, ?, ?)",
            _digest(cookie),
            f"{name} {salt}",
            time.time() + LIFETIME_S,
        )
        return cookie

    def delete(self, cookies: Mapping[str, str]) -> None:
        """Forget a cookie."""
        self._store.execute(
            "DELETE FROM visitors WHERE digest = ?", _digest(cookies.get(COOKIE_NAME, ""))
        )

    def find_name(self, cookies: Mapping[str, str]) -> str:
        """Return the name on the token that a cookie stands for, "" if none is valid any more.

        Another token for the same name ends what the one before has opened.
        """
        rows = self._store.fetch_all(
            "SELECT name FROM visitors WHERE digest = ? AND until > ?",
            _digest(cookies.get(COOKIE_NAME, "")),
            time.time(),
        )
        name, _, salt = str(rows[0][0] if rows else "").partition(" ")
        return name if salt and salt == self._token_salt(name) else ""

    def _token_salt(self, name: str) -> str:
        return "" if self._tokens is None else self._tokens.salt_of(name)


def _digest(cookie: str) -> str:
    return hashlib.sha256(cookie.encode(errors="backslashreplace")).hexdigest()
