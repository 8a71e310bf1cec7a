"""Who may use a server: tokens, of which only salted hashes are kept, in a file.

A token is 256 random bits, so one round of SHA-256 hides it: no list of likely tokens is shorter
than all of them. A line of the file is a name, a salt and a hash.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
from pathlib import Path

from agent.io.files import read_text, replace_file, resolve_target

HEADER = (
    "# Tokens of kempelen listen: name, salt, SHA-256 of salt and token. Made by --new-token.\n"
)
NAME_PATTERN = re.compile(r"[A-Za-z0-9_.-]{1,64}")
NAME_RULE = "a name has 1 to 64 letters, digits, dots, dashes and underscores"
_BITS = 256
_ENTRY = re.compile(rf"({NAME_PATTERN.pattern}) ([0-9a-f]{{32}}) ([0-9a-f]{{64}})")


class TokenError(ValueError):
    """A file of tokens that cannot be used, or a token that cannot be made; says why."""


class TokenFile:
    """The tokens of a file, which is read again when it has changed."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.problem = ""
        self._file_version: tuple[int, int] | None = None
        self._entries: list[tuple[str, bytes, bytes]] = []
        self._reload()
        if self.problem:
            raise TokenError(self.problem)
        if not self._entries:
            raise TokenError(f"{path}: no token is in it; --new-token NAME makes one")

    def find_name(self, token: str) -> str | None:
        """Return whose token it is, None if nobody's, in a time that tells nothing of either.

        A file that has become unreadable lets nobody in, and `problem` says why.
        """
        self._reload()
        found = None
        for name, salt, digest in self._entries:
            if hmac.compare_digest(_digest(salt, token), digest):
                found = name
        return found

    def salt_of(self, name: str) -> str:
        """Return what tells the token of a name from all others of it, before and after."""
        self._reload()
        return next((salt.hex() for known, salt, _ in self._entries if known == name), "")

    def _reload(self) -> None:
        try:
            now = os.stat(self.path)
            if self._file_version != (now.st_mtime_ns, now.st_size):
                self._entries = _entries(self.path)
                self._file_version = now.st_mtime_ns, now.st_size
            self.problem = ""
        except OSError as error:
            self._invalidate(f"{self.path}: {error.strerror}")
        except TokenError as error:
            self._invalidate(str(error))

    def _invalidate(self, problem: str) -> None:
        self.problem, self._entries, self._file_version = problem, [], None


def new_token(path: str, name: str) -> str:
    """Add a token to a file, which is made if it is not there, and return it: it is kept nowhere.

    Raises TokenError and OSError.
    """
    if not NAME_PATTERN.fullmatch(name):
        raise TokenError(f"{name!r}: {NAME_RULE}")
    try:
        text = _read(path)
    except FileNotFoundError:
        text = HEADER
    else:
        if name in (known for known, _, _ in _parse(text, path)):
            raise TokenError(f"{path}: {name} has a token; take the line out to make another")
    token, salt = secrets.token_urlsafe(_BITS // 8), secrets.token_bytes(16)
    text = text if text.endswith("\n") else f"{text}\n"
    _write_private(Path(path), f"{text}{name} {salt.hex()} {_digest(salt, token).hex()}\n")
    return token


def _write_private(path: Path, text: str) -> None:
    """Write a file that only its owner reads, so that others see the old one or the new."""
    path = resolve_target(path)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    try:
        with open(os.open(temporary, flags, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
        replace_file(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _entries(path: str) -> list[tuple[str, bytes, bytes]]:
    return _parse(_read(path), path)


def _read(path: str) -> str:
    try:
        return read_text(path)
    except UnicodeDecodeError:
        raise TokenError(f"{path}: it is not a file of tokens") from None


def _parse(text: str, path: str) -> list[tuple[str, bytes, bytes]]:
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            match = _ENTRY.fullmatch(line.strip())
            if match is None:
                raise TokenError(f"{path}: line {number} is no token; --new-token writes them")
            found.append((match[1], bytes.fromhex(match[2]), bytes.fromhex(match[3])))
    return found


def _digest(salt: bytes, token: str) -> bytes:
    return hashlib.sha256(salt + token.encode(errors="backslashreplace")).digest()
