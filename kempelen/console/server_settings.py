"""What `kempelen listen` is told: by a YAML file, and by flags, which win."""

from __future__ import annotations

import argparse
import dataclasses
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kempelen.console.settings_codec import SettingsError, decode, read_settings
from protocols.server.addresses import Address
from protocols.server.limits import ServerLimits
from protocols.server.server import ANY_PROTOCOL
from protocols.server.tokens import TokenError, TokenFile

DEFAULT_ADDRESS = "tcp://127.0.0.1:7117"
PROTOCOLS = ("uci", "gtp", "xboard", ANY_PROTOCOL)
LOG_FORMATS = ("text", "json")
# The options of which values may be offered to strangers, by names.
OFFERABLE_OPTIONS = (
    *("Evaluation", "BookFile", "SyzygyPath", "GaviotaPath"),
    *("ExperienceFile", "HabitsFile"),
)
INSECURE_WARNING = (
    "--insecure does without, and then whoever reaches the address uses this machine, and whoever "
    "is on the way reads and changes what is said"
)


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """All that a server is told. offers: what remote sessions may name, by option and by name."""

    address: tuple[str, ...] = (DEFAULT_ADDRESS,)
    protocol: str = "any"
    game: str = "go"
    size: str | None = None
    certificate: str | None = None
    key: str | None = None
    tokens: str | None = None
    insecure: bool = False
    origins: tuple[str, ...] = ()
    status: str | None = None
    log: str | None = None
    log_format: str = "text"
    limits: ServerLimits = field(default_factory=ServerLimits)
    offers: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def addresses(self) -> list[Address]:
        """Where to listen. Raises SettingsError."""
        return [_parse_address("address", text) for text in self.address]

    @property
    def status_address(self) -> Address | None:
        """Where to tell of health and metrics, if there is a place. Raises SettingsError."""
        if self.status is None:
            return None
        address = _parse_address("status", self.status)
        if "://" in self.status and address.scheme != "tcp":
            raise SettingsError(f"status: {self.status}: write HOST:PORT")
        return address

    def check_values(self) -> None:
        """Raise SettingsError for a value that cannot be meant."""
        for name, value, choices in (
            ("protocol", self.protocol, PROTOCOLS),
            ("log_format", self.log_format, LOG_FORMATS),
        ):
            if value not in choices:
                raise SettingsError(f"{name}: {value!r} is none of {', '.join(choices)}")
        if not self.addresses:
            raise SettingsError("address: one at least is expected")
        _ = self.status_address
        self._check_offers()

    def check_security(self) -> None:
        """Raise SettingsError for what would be open to all without saying so."""
        for address in self.addresses:
            if address.uses_tls and not (self.certificate and self.key):
                raise SettingsError(f"{address}: TLS needs --certificate FILE and --key FILE")
            if not (self.insecure or address.is_loopback):
                self._check_public(address)
        status = self.status_address
        if not (status is None or self.insecure or status.is_loopback):
            raise SettingsError(
                f"status: {self.status}: others than this machine reach it; --insecure allows it, "
                "and then whoever reaches the address reads how many play"
            )

    def _check_offers(self) -> None:
        for name, values in self.offers.items():
            if name.lower() not in (each.lower() for each in OFFERABLE_OPTIONS):
                raise SettingsError(f"offers.{name}: possible are {', '.join(OFFERABLE_OPTIONS)}")
            for key, value in values.items():
                if not key.isprintable() or not key.strip() or not value:
                    raise SettingsError(f"offers.{name}: {key!r}: {value!r}: no name and its value")

    def _check_public(self, address: Address) -> None:
        lacking = []
        if not address.uses_tls:
            lacking.append(f"TLS ({'wss' if address.uses_http else 'tls'}://)")
        if self.tokens is None:
            lacking.append("tokens (--tokens FILE)")
        if lacking:
            raise SettingsError(
                f"{address}: others than this machine reach it, so it needs "
                f"{' and '.join(lacking)}; {INSECURE_WARNING}"
            )

    def token_file(self) -> TokenFile | None:
        """Return the tokens, None if none are asked for. Raises SettingsError."""
        try:
            return None if self.tokens is None else TokenFile(self.tokens)
        except TokenError as error:
            raise SettingsError(f"tokens: {error}") from None

    def ssl_context(self) -> ssl.SSLContext | None:
        """Return how TLS is spoken, None where it is not. Raises SettingsError."""
        if self.certificate is None or self.key is None:
            return None
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        for name, path in (("certificate", self.certificate), ("key", self.key)):
            try:
                open(path, "rb").close()
            except OSError as error:
                raise SettingsError(f"{name}: {path}: {error.strerror}") from None
        try:
            # A key with a password would be asked for at the terminal, which a server has not.
            context.load_cert_chain(self.certificate, self.key, password=lambda: b"")
        except (ssl.SSLError, OSError) as error:
            raise SettingsError(
                f"certificate: {self.certificate} and {self.key} are no certificate and its key, "
                f"in PEM and without a password: {error}"
            ) from None
        return context


# The flags that are called as their entry in the file.
FLAGS_LIKE_ENTRIES = (
    "address", "protocol", "game", "size", "certificate", "key", "tokens", "insecure", "origins",
    "status", "log", "log_format",
)  # fmt: skip


def settings_from(arguments: argparse.Namespace) -> ServerSettings:
    """Return what the file and the flags say. Raises SettingsError that names the entry."""
    settings = ServerSettings() if arguments.config is None else read_file(arguments.config)
    given = {
        name: value
        for name in FLAGS_LIKE_ENTRIES
        if (value := getattr(arguments, name)) is not None
    }
    given = {name: tuple(v) if isinstance(v, list) else v for name, v in given.items()}
    limits = limits_from(arguments, settings.limits)
    settings = dataclasses.replace(settings, **given, limits=limits)
    settings.check_values()
    return settings


def limits_from(
    arguments: argparse.Namespace,
    defaults: ServerLimits = ServerLimits(),  # noqa: B008 - it is frozen
) -> ServerLimits:
    """Return the limits with those changed that have flags. Raises SettingsError."""
    limits = {
        each.name: value
        for each in dataclasses.fields(ServerLimits)
        if (value := getattr(arguments, each.name)) is not None
    }
    try:
        return dataclasses.replace(defaults, **limits)
    except ValueError as error:
        name, colon, why = str(error).partition(":")
        raise SettingsError(f"--{name.replace('_', '-')}{colon}{why}") from None


def read_file(file: str) -> ServerSettings:
    """Return what a file says. Raises SettingsError that names the file and the entry."""
    return read_settings(file, "`address:` and `limits:`", _from_entries, empty=True)


def _from_entries(data: dict[str, Any]) -> ServerSettings:
    for name in ("address", "origins"):
        if isinstance(data.get(name), str):
            data[name] = [data[name]]
    try:
        settings = decode(ServerSettings, data)
        settings.check_values()
        return settings
    except SettingsError:
        raise
    except ValueError as error:  # of the limits, which name the entry
        raise SettingsError(f"limits.{error}") from None


def _parse_address(entry: str, text: str) -> Address:
    try:
        return Address.from_text(text)
    except ValueError as error:
        raise SettingsError(f"{entry}: {error}") from None
