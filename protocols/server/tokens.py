"""Access tokens, which are stored only as salted SHA-256 hashes.

A token has 256 random bits, so a slow password hash is unnecessary.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
from pathlib import Path

from agent.io.files import atomic_writer
from agent.io.text_files import read_text

HEADER = "# Tokens of kempelen serve: name, salt, SHA-256 of salt and token. Made by --new-token.\n"
NAME_PATTERN = re.compile(r"[A-Za-z0-9_.-]{1,64}")
NAME_RULE = "a name must have 1 to 64 letters, digits, dots, hyphens or underscores"
_BITS = 256
_ENTRY = re.compile(rf"({NAME_PATTERN.pattern}) ([0-9a-f]{{32}}) ([0-9a-f]{{64}})")


class TokenError(ValueError):
    """A token file or a new token is invalid. The message gives the reason."""


class TokenFile:
    """The tokens in a file, which is reloaded when it changes."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.problem = ""
        self._file_version: tuple[int, int] | None = None
        self._entries: list[tuple[str, bytes, bytes]] = []
        self._reload()
        if self.problem:
            raise TokenError(self.problem)
        if not self._entries:
            raise TokenError(f"{path}: no tokens (add one with --new-token NAME)")

    def find_name(self, token: str) -> str | None:
        """Return the name of a token's owner, or None if the token is unknown.

        If the file has become unreadable, no token is valid, and `problem` contains the reason.
        """
        self._reload()
        owner = None
        for name, salt, digest in self._entries:
            if hmac.compare_digest(_digest(salt, token), digest):
                owner = name
        return owner

    def salt_of(self, name: str) -> str:
        """Return the salt of the user's current token, or "" if the user has no token."""
        self._reload()
        return next((salt.hex() for known, salt, _ in self._entries if known == name), "")

    def _reload(self) -> None:
        try:
            stat = os.stat(self.path)
            version = stat.st_mtime_ns, stat.st_size
            if self._file_version != version:
                self._entries = _parse(read_text(self.path), self.path)
                self._file_version = version
            self.problem = ""
        except OSError as error:
            self._invalidate(f"{self.path}: {error.strerror}")
        except TokenError as error:
            self._invalidate(str(error))

    def _invalidate(self, problem: str) -> None:
        self.problem, self._entries, self._file_version = problem, [], None


def new_token(path: str, name: str) -> str:
    """Create a token, add its hash to a file, and return the token.

    Raise TokenError if the name or the file is invalid, and OSError if reading or writing fails.
    """
    if not NAME_PATTERN.fullmatch(name):
        raise TokenError(f"{name!r}: {NAME_RULE}")
    try:
        text = read_text(path)
    except FileNotFoundError:
        text = HEADER
    else:
        if name in (known for known, _, _ in _parse(text, path)):
            raise TokenError(f"{path}: {name} already has a token; remove that line first")
    token, salt = secrets.token_urlsafe(_BITS // 8), secrets.token_bytes(16)
    text = text if text.endswith("\n") else f"{text}\n"
    with atomic_writer(Path(path), mode=0o600) as file:  # readable by the owner only
        file.write(f"{text}{name} {salt.hex()} {_digest(salt, token).hex()}\n".encode())
    return token


def _parse(text: str, path: str) -> list[tuple[str, bytes, bytes]]:
    entries = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            match = _ENTRY.fullmatch(line.strip())
            if match is None:
                raise TokenError(f"{path}: line {number}: invalid token (add one with --new-token)")
            entries.append((match[1], bytes.fromhex(match[2]), bytes.fromhex(match[3])))
    return entries


def _digest(salt: bytes, token: str) -> bytes:
    return hashlib.sha256(salt + token.encode(errors="backslashreplace")).digest()
