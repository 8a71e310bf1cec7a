"""Where a server is, and which secret opens it. Secrets come from the environment or a file."""

from __future__ import annotations

import os
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from agent.border.files import read_text

TOKEN = "KEMPELEN_TOKEN"
# The usual port of each scheme, where there is one, by its name.
SCHEMES: dict[str, int | None] = {"tcp": None, "tls": None, "ws": 80, "wss": 443}
LARGEST_TOKEN_FILE = 4 << 10


class AddressError(ValueError):
    """A server that cannot be addressed as asked; the message names the remedy."""


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """One server. path: of WebSocket alone, "" for that of the protocol that is spoken."""

    scheme: str
    host: str
    port: int
    path: str = ""

    @classmethod
    def parse(cls, text: str) -> ServerAddress:
        """Parse tcp://HOST:PORT, tls://HOST:PORT, ws://HOST[:PORT] or wss://HOST[:PORT]."""
        try:
            parts = urlsplit(text)
            scheme, host, port = parts.scheme, parts.hostname, parts.port
        except ValueError as error:
            raise AddressError(f"{_without_secrets(text)}: {error}") from None
        if parts.username is not None or parts.password is not None:
            raise AddressError(
                f"no token in the address of a server: set {TOKEN}, or name a file by --token-file"
            )
        if scheme not in SCHEMES or not host:
            raise AddressError(
                f"{_without_secrets(text)}: write tcp://, tls://, ws:// or wss://, and HOST:PORT"
            )
        port = port or SCHEMES[scheme]
        if not port:
            raise AddressError(f"{_without_secrets(text)}: the port is missing, as in :4444")
        path = parts.path.rstrip("/")
        if parts.query or parts.fragment or (path and not scheme.startswith("ws")):
            raise AddressError(f"{_without_secrets(text)}: nothing may follow the port")
        return cls(scheme, host, port, path)

    @property
    def tls(self) -> bool:
        """Whether what is said is encrypted."""
        return self.scheme in ("tls", "wss")

    @property
    def websocket(self) -> bool:
        """Whether lines travel as messages of WebSocket."""
        return self.scheme in ("ws", "wss")

    @property
    def here(self) -> bool:
        """Whether the server is on this machine, by what its name says alone."""
        return is_loopback(self.host)

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}{self.path}"


def is_loopback(host: str) -> bool:
    """Tell whether a name or number of a host means this machine."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower().rstrip(".") == "localhost"


def read_token(path: str | None, variable: str = TOKEN) -> str | None:
    """Return the token in a file, else that of the environment, or None.

    Raises AddressError for a file that cannot be read or holds anything but one word.
    """
    place = path or variable
    if path is None:
        text = os.environ.get(variable, "")
        if not text:
            return None
    else:
        try:
            text = read_text(path, LARGEST_TOKEN_FILE, pipes=True)
        except (OSError, UnicodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is not text"
            raise AddressError(f"token file {path}: {why}") from None
    token = text.strip()
    if not token.isascii() or not token.isprintable() or len(token.split()) != 1:
        raise AddressError(f"{place}: expected a token, one word and nothing else")
    return token


def _without_secrets(text: str) -> str:
    """Return an address as it may be shown: what stands before an @ may be a secret."""
    scheme, slashes, rest = text.partition("//")
    return repr(f"{scheme}{slashes}{rest.rpartition('@')[2]}"[:200])
