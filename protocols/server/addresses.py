"""Where a server listens, as people write it: tcp://HOST:PORT, tls://, ws:// and wss://."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, replace

from protocols import urls

SCHEMES = ("tcp", "tls", "ws", "wss")


@dataclass(frozen=True, slots=True)
class Address:
    """A host and a port, and what is spoken there."""

    scheme: str
    host: str
    port: int

    @classmethod
    def from_text(cls, text: str) -> Address:
        """Read an address; HOST:PORT alone is tcp. Raises ValueError with what to write."""
        parts = urls.split_valid_url(text if "://" in text else f"tcp://{text}")
        host, port = parts.hostname, parts.port
        if parts.scheme not in SCHEMES or not host or port is None or parts.path not in ("", "/"):
            schemes = ", ".join(f"{scheme}://" for scheme in SCHEMES)
            raise ValueError(f"{text}: write HOST:PORT, with or without {schemes} before it")
        return cls(parts.scheme, host, port)

    @property
    def uses_tls(self) -> bool:
        """Whether TLS is spoken there."""
        return self.scheme in ("tls", "wss")

    @property
    def uses_http(self) -> bool:
        """Whether HTTP and WebSocket are spoken there."""
        return self.scheme in ("ws", "wss")

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine reaches it."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    def with_port(self, port: int) -> Address:
        """Return the address with another port."""
        return replace(self, port=port)

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"


def is_ip_or_localhost(host: str | None) -> bool:
    """Tell whether a host is an address, or this machine, and no name that leads somewhere."""
    try:
        return host == "localhost" or bool(host and ipaddress.ip_address(host))
    except ValueError:
        return False
