"""Broker addresses and credentials. Secrets are read only from the environment or a file."""

import os
import ssl
from dataclasses import dataclass, field
from pathlib import Path

from agent.io.text_files import read_text
from protocols import urls

USER_VARIABLE = "KEMPELEN_MQTT_USER"
PASSWORD_VARIABLE = "KEMPELEN_MQTT_PASSWORD"
DEFAULT_PORTS = {"mqtt": 1883, "mqtts": 8883}

MAX_CREDENTIALS_BYTES = 64 << 10


class BrokerError(ValueError):
    """A broker address or its credentials are invalid. The message says how to fix the problem."""


@dataclass(frozen=True, slots=True)
class Broker:
    """A broker's address, TLS settings and credentials."""

    host: str
    port: int
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    tls: bool = False
    ca_file: str | None = None

    @classmethod
    def from_url(
        cls, url: str, *, credentials: str | None = None, ca_file: str | None = None
    ) -> "Broker":
        """Parse mqtt[s]://HOST[:PORT] and read the credentials, or raise BrokerError.

        The file `credentials` has the user name and the password on two lines. By default, both are
        read from the environment. The PEM file `ca_file` contains the trusted certificates.
        """
        parts = urls.split_valid_url(url if "//" in url else f"mqtt://{url}")
        if parts.scheme not in DEFAULT_PORTS or not parts.hostname:
            # The address is not quoted, because it may contain a password.
            raise BrokerError("broker: invalid address (expected mqtt[s]://HOST[:PORT])")
        if parts.username or parts.password:
            raise BrokerError(
                f"broker address: must not contain user or password (use {USER_VARIABLE} and "
                f"{PASSWORD_VARIABLE}, or --mqtt-credentials FILE)"
            )
        port = parts.port or DEFAULT_PORTS[parts.scheme]
        user, password = _credentials(credentials)
        tls = parts.scheme == "mqtts"
        if ca_file is not None and not Path(ca_file).is_file():
            raise BrokerError(f"certificates {ca_file}: no such file")
        return cls(parts.hostname, port, user, password, tls, ca_file)

    def tls_context(self) -> ssl.SSLContext | None:
        """Return a TLS context that verifies the broker's certificate, or None without TLS."""
        return ssl.create_default_context(cafile=self.ca_file) if self.tls else None

    def __str__(self) -> str:
        return f"{'mqtts' if self.tls else 'mqtt'}://{self.host}:{self.port}"


def _credentials(path: str | None) -> tuple[str | None, str | None]:
    if path is None:
        return os.environ.get(USER_VARIABLE), os.environ.get(PASSWORD_VARIABLE)
    try:
        user, password = read_text(path, MAX_CREDENTIALS_BYTES, pipes=True).splitlines()[:2]
    except OSError as error:
        raise BrokerError(f"credentials {path}: {error.strerror}") from None
    except ValueError:
        raise BrokerError(
            f"credentials {path}: invalid file (expected user and password on two lines)"
        ) from None
    return user.strip(), password.strip()
