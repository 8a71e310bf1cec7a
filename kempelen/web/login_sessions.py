"""Login sessions, in which a session cookie replaces the visitor's token.

The cookie has as much entropy as a token. The database stores only its hash.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Mapping

from kempelen.web.database import Database
from protocols.server.tokens import TokenFile

COOKIE_NAME = "kempelen_visitor"
LIFETIME_S = 30 * 86400
MAX_COOKIES_PER_NAME = 100  # when exceeded, the oldest are deleted


class LoginSessions:
    """The login sessions. They are stored in the database, so they survive a restart."""

    def __init__(self, store: Database, tokens: TokenFile | None) -> None:
        self._store = store
        self._tokens = tokens

    def create(self, name: str) -> str:
        """Start a session for a visitor with a valid token. Return the session cookie."""
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
        self._store.execute(
            "DELETE FROM visitors WHERE digest = ?", _digest(cookies.get(COOKIE_NAME, ""))
        )

    def find_name(self, cookies: Mapping[str, str]) -> str:
        """Return the user name for a session cookie, or "" if the cookie is invalid.

        A new token invalidates the sessions that were started with the user's old token.
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
