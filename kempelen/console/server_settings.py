"""Settings of `kempelen serve`, from a YAML file and from flags. Flags take precedence."""

from __future__ import annotations

import argparse
import dataclasses
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kempelen.console.old_names import add_alias, print_notice
from kempelen.console.settings_codec import SettingsError, decode, read_settings
from protocols.server.addresses import Address
from protocols.server.limits import ServerLimits
from protocols.server.server import ANY_PROTOCOL
from protocols.server.tokens import TokenError, TokenFile

DEFAULT_ADDRESS = "tcp://127.0.0.1:7117"
PROTOCOLS = ("uci", "gtp", "xboard", ANY_PROTOCOL)
LOG_FORMATS = ("text", "json")
# Options whose values the operator may offer to remote clients under a name.
OFFERABLE_OPTIONS = (
    *("Evaluation", "BookFile", "SyzygyPath", "GaviotaPath"),
    *("ExperienceFile", "HabitsFile"),
)


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Server settings.

    `offers` maps each option to the values that clients may choose, which are given by name.
    """

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
        """The addresses to listen on. Raise SettingsError if an address is invalid."""
        return [_parse_address("address", text) for text in self.address]

    @property
    def status_address(self) -> Address | None:
        """The address of /health and /metrics, if set. Raise SettingsError if it is invalid."""
        if self.status is None:
            return None
        address = _parse_address("status", self.status)
        if "://" in self.status and address.scheme != "tcp":
            raise SettingsError(f"status: {self.status}: invalid address (expected HOST:PORT)")
        return address

    def check_values(self) -> None:
        for name, value, choices in (
            ("protocol", self.protocol, PROTOCOLS),
            ("log_format", self.log_format, LOG_FORMATS),
        ):
            if value not in choices:
                raise SettingsError(
                    f"{name}: invalid value {value!r} (expected one of: {', '.join(choices)})"
                )
        if not self.addresses:
            raise SettingsError("address: missing (expected at least one)")
        _ = self.status_address
        self._check_offers()

    def check_security(self) -> None:
        """Raise SettingsError if the server would be public without TLS or without tokens."""
        for address in self.addresses:
            if address.uses_tls and not (self.certificate and self.key):
                raise SettingsError(f"{address}: TLS needs --certificate FILE and --key FILE")
            self.check_public(address, str(address), f"{'wss' if address.uses_http else 'tls'}://")
        status = self.status_address
        if not (status is None or self.insecure or status.is_loopback):
            raise SettingsError(
                f"status: {self.status}: reachable from other machines; --insecure allows it, and "
                "then anyone who reaches the address can read the metrics"
            )

    def _check_offers(self) -> None:
        for name, values in self.offers.items():
            if name.lower() not in (each.lower() for each in OFFERABLE_OPTIONS):
                names = ", ".join(OFFERABLE_OPTIONS)
                raise SettingsError(f"offers.{name}: unknown option (expected one of: {names})")
            for key, value in values.items():
                if not key.isprintable() or not key.strip() or not value:
                    raise SettingsError(
                        f"offers.{name}: {key!r}: {value!r}: invalid entry (expected NAME: VALUE)"
                    )

    def check_public(self, address: Address, shown: str, tls: str) -> None:
        """Raise SettingsError if a public address has no TLS or no tokens.

        The message shows the address as `shown`, and says that `tls` enables TLS.
        """
        missing = [] if address.uses_tls else [f"TLS ({tls})"]
        if self.tokens is None:
            missing.append("tokens (--tokens FILE)")
        if missing and not (self.insecure or address.is_loopback):
            raise SettingsError(
                f"{shown}: reachable from other machines, which requires "
                f"{' and '.join(missing)}; --insecure allows it; then anyone who reaches the "
                "address can use this machine, and traffic can be read and changed on the way"
            )

    def token_file(self) -> TokenFile | None:
        """Return the token file, or None. Raise SettingsError if the file cannot be read."""
        try:
            return None if self.tokens is None else TokenFile(self.tokens)
        except TokenError as error:
            raise SettingsError(f"tokens: {error}") from None

    def ssl_context(self) -> ssl.SSLContext | None:
        """Return the TLS context, or None without TLS. Raise SettingsError if a file is invalid."""
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
            # By default, OpenSSL would ask for the password of the key at the terminal.
            context.load_cert_chain(self.certificate, self.key, password=lambda: b"")
        except (ssl.SSLError, OSError) as error:
            raise SettingsError(
                f"certificate: {self.certificate} and {self.key}: invalid certificate or key "
                f"(expected unencrypted PEM files that belong together): {error}"
            ) from None
        return context


def settings_from(arguments: argparse.Namespace) -> ServerSettings:
    """Return the settings from the file and the flags. Raise SettingsError if one is invalid."""
    settings = ServerSettings() if arguments.config is None else read_file(arguments.config)
    given: dict[str, Any] = {
        each.name: tuple(value) if isinstance(value, list) else value
        for each in dataclasses.fields(settings)
        if (value := getattr(arguments, each.name, None)) is not None
    }
    limits = limits_from(arguments, settings.limits)
    settings = dataclasses.replace(settings, **given, limits=limits)
    settings.check_values()
    return settings


# Old names of limits: keys of `limits` in the file, and flags with hyphens.
OLD_LIMITS = {
    "sessions_of_token": "max_sessions_per_token",
    "sessions_of_address": "max_sessions_per_ip",
    "lines_a_second": "line_rate",
    "requests_a_second": "request_rate",
    "authorising": "auth_timeout",
    "wrong_tokens": "max_auth_failures",
    "idle": "idle_timeout",
    "longest": "max_session",
    "hash_in_all": "total_hash",
    "grace": "shutdown_timeout",
}


def configure_limits(parser: argparse.ArgumentParser) -> None:
    limits = parser.add_argument_group("limits")
    old_names = {new: old for old, new in OLD_LIMITS.items()}
    for each in dataclasses.fields(ServerLimits):
        action = limits.add_argument(
            f"--{each.name.replace('_', '-')}",
            type=int if isinstance(each.default, int) else float,
            metavar="N",
            help=f"{each.metadata['meaning']} (default: {each.default:g})",
        )
        if old := old_names.get(each.name):
            add_alias(limits, f"--{old.replace('_', '-')}", action)


def limits_from(
    arguments: argparse.Namespace,
    defaults: ServerLimits = ServerLimits(),  # noqa: B008 - frozen
) -> ServerLimits:
    """Return `defaults`, overridden by flags. Raise SettingsError if a limit is invalid."""
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
    """Read settings from a YAML file. Raise SettingsError if an entry is invalid."""
    return read_settings(
        file, "`address:` and `limits:`", lambda data: _from_entries(data, file), empty=True
    )


def _from_entries(data: dict[str, Any], file: str) -> ServerSettings:
    if isinstance(limits := data.get("limits"), dict):
        data["limits"] = _with_new_names(limits, file)
    for name in ("address", "origins"):
        if isinstance(data.get(name), str):
            data[name] = [data[name]]
    try:
        settings = decode(ServerSettings, data)
        settings.check_values()
        return settings
    except SettingsError:
        raise
    except ValueError as error:  # invalid limits; the message begins with the entry's name
        raise SettingsError(f"limits.{error}") from None


def _with_new_names(limits: dict[str, Any], file: str) -> dict[str, Any]:
    renamed: dict[str, Any] = {}
    for key, value in limits.items():
        name = OLD_LIMITS.get(key, key)
        if name in limits and name != key:
            raise SettingsError(f"limits.{key}: old name of limits.{name}, which is also set")
        if name != key:
            print_notice(f"{file}: limits.{key}", f"limits.{name}")
        renamed[name] = value
    return renamed


def _parse_address(entry: str, text: str) -> Address:
    try:
        return Address.from_text(text)
    except ValueError as error:
        raise SettingsError(f"{entry}: {error}") from None
