"""Listen addresses of the form SCHEME://HOST:PORT, where SCHEME is tcp, tls, ws or wss."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, replace

from protocols import urls

SCHEMES = ("tcp", "tls", "ws", "wss")


@dataclass(frozen=True, slots=True)
class Address:
    scheme: str
    host: str
    port: int

    @classmethod
    def from_text(cls, text: str) -> Address:
        """Parse [SCHEME://]HOST:PORT, or raise ValueError. The default scheme is tcp."""
        parts = urls.split_valid_url(text if "://" in text else f"tcp://{text}")
        host, port = parts.hostname, parts.port
        if parts.scheme not in SCHEMES or not host or port is None or parts.path not in ("", "/"):
            schemes = "|".join(SCHEMES)
            raise ValueError(f"{text}: invalid address (expected [{schemes}://]HOST:PORT)")
        return cls(parts.scheme, host, port)

    @property
    def uses_tls(self) -> bool:
        return self.scheme in ("tls", "wss")

    @property
    def uses_http(self) -> bool:
        return self.scheme in ("ws", "wss")

    @property
    def is_loopback(self) -> bool:
        """Whether the host is localhost or a loopback IP address."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    def with_port(self, port: int) -> Address:
        return replace(self, port=port)

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"
