"""`kempelen serve`: the network server for UCI, xboard and GTP."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import sys
from collections.abc import Callable

from agent.io.files import open_append
from kempelen.console import interruption
from kempelen.console.mqtt_arguments import require_packages
from kempelen.console.server_settings import (
    LOG_FORMATS,
    PROTOCOLS,
    ServerSettings,
    configure_limits,
    settings_from,
)
from kempelen.console.settings_codec import SettingsError
from kempelen.console.terminal import print_error
from kempelen.server_sessions import NetworkOutput, SessionFactory
from protocols.server.event_log import EventLog
from protocols.server.limits import ServerLimits
from protocols.server.server import Server
from protocols.server.tokens import TokenError, new_token
from protocols.stdio import SWITCH_INTERVAL

COMMAND = "kempelen serve"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments. The settings file provides the values of omitted arguments (None)."""
    parser.add_argument(
        "--config",
        metavar="FILE",
        help="YAML file with the settings; docs/guide/server.md shows one",
    )
    parser.add_argument(
        "--address", action="append", metavar="[SCHEME://]HOST:PORT",
        help="address to listen on; schemes: tcp (default), tls, ws, wss; may be repeated "
        f"(default: {ServerSettings().address[0]})",
    )  # fmt: skip
    parser.add_argument(
        "--protocol", choices=PROTOCOLS,
        help="protocol of sessions; any: detect it from the first line (default: any)",
    )  # fmt: skip
    parser.add_argument("--game", metavar="G", help="game played over GTP (default: go)")
    parser.add_argument("--size", "--boardsize", metavar="VALUE", help="size of the board")
    configure_access(parser, "clients", ", for tls and wss", "web pages that open a WebSocket")
    logging = parser.add_argument_group("logging and monitoring")
    logging.add_argument(
        "--status", metavar="HOST:PORT",
        help="address of an HTTP server for /health and /metrics, which ws addresses also serve",
    )  # fmt: skip
    configure_log(logging)
    configure_limits(parser)


def configure_log(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--log", metavar="FILE", help="write the server log to FILE (default: stderr)"
    )
    group.add_argument(
        "--log-format", choices=LOG_FORMATS, help="format of the log (default: text)"
    )


def configure_access(
    parser: argparse.ArgumentParser, clients: str, schemes: str, pages: str
) -> None:
    """Add the arguments for tokens, TLS and origins. The strings are inserted into their help."""
    safety = parser.add_argument_group("access")
    safety.add_argument(
        "--tokens", metavar="FILE",
        help=f"file of hashed access tokens; {clients} need one of them",
    )  # fmt: skip
    safety.add_argument(
        "--new-token",
        metavar="NAME",
        help="create a token for NAME in the token file, print it, and exit",
    )
    safety.add_argument("--certificate", metavar="FILE", help=f"TLS certificate (PEM){schemes}")
    safety.add_argument(
        "--key", metavar="FILE", help="private key of the certificate (PEM, unencrypted)"
    )
    safety.add_argument(
        "--origins", action="append", metavar="https://HOST",
        help=f"allowed origin of {pages}; may be repeated",
    )  # fmt: skip
    safety.add_argument(
        "--insecure", action="store_true", default=None,
        help="allow a public address without tokens or TLS: anyone who reaches it can use this "
        "machine, and traffic can be read and changed on the way",
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Serve until a signal arrives. Return 0 after SIGTERM, or 2 if the server cannot start."""
    try:
        settings = settings_from(arguments)
        if arguments.new_token is not None:
            return add_token(settings, arguments.new_token)
        settings.check_security()
        _check_protocols(settings)
        interruption.run_as_server(settings.limits.shutdown_timeout)
        interruption.run(_serve(settings))
    except SettingsError as error:
        print_error(error, COMMAND)
        return 2
    return 0


def add_token(settings: ServerSettings, name: str, command: str = COMMAND) -> int:
    """Create and print an access token for the user `name`. Raise SettingsError if this fails."""
    if settings.tokens is None:
        raise SettingsError("--new-token requires --tokens FILE")
    try:
        token = new_token(settings.tokens, name)
    except TokenError as error:
        raise SettingsError(str(error)) from None
    except OSError as error:
        raise SettingsError(f"{settings.tokens}: {error.strerror}") from None
    if sys.platform == "win32":
        print_error(
            f"{settings.tokens}: not protected by file permissions on Windows (expected a folder "
            "that only you can open)",
            command,
        )
    print_error(f"{name}'s token (shown only once; the file stores a hash):", command)
    print(token)
    return 0


def report_hash(limits: ServerLimits, log: EventLog) -> None:
    """Log that there is less memory than the limit for hash tables allows."""
    if limits.usable_hash < limits.total_hash:
        log.write(
            "told",
            text=f"total_hash {limits.total_hash} MB: reduced to {limits.usable_hash} MB, half of "
            "the memory",
        )


async def _serve(settings: ServerSettings) -> None:
    sys.setswitchinterval(SWITCH_INTERVAL)
    with contextlib.ExitStack() as stack:
        log = EventLog(log_writer(settings, stack), as_json=settings.log_format == "json")
        asyncio.get_running_loop().set_exception_handler(log.write_loop_error)
        report_hash(settings.limits, log)
        factory = SessionFactory(settings, lambda text: log.write_limited("told", text=text))
        server = Server(
            factory.factories(),
            settings.protocol,
            settings.limits,
            log,
            settings.token_file(),
            settings.ssl_context(),
            settings.origins,
            factory.gauges,
        )
        try:
            await _open(server, settings, log)
            await asyncio.Event().wait()
        finally:
            await server.close()
            log.write("stopped")


async def _open(server: Server, settings: ServerSettings, log: EventLog) -> None:
    for address in settings.addresses:
        try:
            if address.uses_http:
                require_packages("WebSocket and HTTP", "server", lambda: __import__("websockets"))
            log.write("listening", address=str(await server.listen(address)))
        except OSError as error:
            raise SettingsError(f"{address}: {error.strerror or error}") from None
    if (status := settings.status_address) is not None:
        require_packages("WebSocket and HTTP", "server", lambda: __import__("websockets"))
        try:
            opened = await server.listen(status, status_only=True)
        except OSError as error:
            raise SettingsError(f"status: {settings.status}: {error.strerror or error}") from None
        log.write("status", address=str(opened).removeprefix("tcp://"))


def log_writer(settings: ServerSettings, stack: contextlib.ExitStack) -> Callable[[str], None]:
    """Return a function that writes a line to the log file or stderr, and ignores write errors."""
    if settings.log is None:
        return _print_to_stderr
    try:
        file = stack.enter_context(open_append(settings.log))
    except OSError as error:
        raise SettingsError(f"log: {settings.log}: {error.strerror}") from None

    def write(line: str) -> None:
        with contextlib.suppress(OSError):
            file.write(f"{line}\n".encode(errors="backslashreplace"))
            file.flush()

    return write


def _print_to_stderr(line: str) -> None:
    with contextlib.suppress(OSError):
        print(line, file=sys.stderr, flush=True)


def _check_protocols(settings: ServerSettings) -> None:
    try:
        SessionFactory(settings, lambda _: None).create("gtp", NetworkOutput(lambda _: None))
    except (OSError, ValueError) as error:
        raise SettingsError(f"game: {error}") from None
