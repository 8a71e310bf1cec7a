"""`kempelen listen`: sessions of the text protocols over the network, many at once."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import dataclasses
import os
import signal
import sys
from collections.abc import Callable

from agent.io.files import open_append
from kempelen.console.interruption import Interruption
from kempelen.console.mqtt_arguments import require_packages
from kempelen.console.server_settings import LOG_FORMATS, PROTOCOLS, ServerSettings, settings_from
from kempelen.console.settings_codec import SettingsError
from kempelen.console.terminal import print_error
from kempelen.server_sessions import NetworkOutput, SessionFactory
from protocols.server.event_log import EventLog
from protocols.server.limits import ServerLimits
from protocols.server.server import Server
from protocols.server.tokens import TokenError, new_token
from protocols.stdio import SWITCH_INTERVAL

COMMAND = "kempelen listen"
MISSING_PACKAGES = "WebSocket and HTTP need more packages: pip install 'kempelen[server]'"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments. Those without a default leave the word to the file."""
    parser.add_argument("--config", metavar="FILE", help="YAML; docs/guide/server.md shows it")
    parser.add_argument(
        "--address", action="append", metavar="[SCHEME://]HOST:PORT",
        help="where to listen, by tcp (if nothing is said), tls, ws or wss; may be repeated "
        f"(default: {ServerSettings().address[0]})",
    )  # fmt: skip
    parser.add_argument(
        "--protocol", choices=PROTOCOLS,
        help="what is spoken; any: what the first line asks for (default: any)",
    )  # fmt: skip
    parser.add_argument("--game", metavar="G", help="what is played over GTP (default: go)")
    parser.add_argument("--size", "--boardsize", metavar="VALUE", help="of the game's board")
    _configure_access(parser)
    told = parser.add_argument_group("what is told")
    told.add_argument(
        "--status", metavar="HOST:PORT",
        help="where /health and /metrics are answered over HTTP, as at ws addresses",
    )  # fmt: skip
    told.add_argument("--log", metavar="FILE", help="who did what (default: standard error)")
    told.add_argument("--log-format", choices=LOG_FORMATS, help="text, or a JSON object a line")
    configure_limits(parser)


def configure_limits(parser: argparse.ArgumentParser) -> None:
    """Declare a flag for each limit of a server."""
    limits = parser.add_argument_group("limits")
    for each in dataclasses.fields(ServerLimits):
        kind = int if isinstance(each.default, int) else float
        limits.add_argument(
            f"--{each.name.replace('_', '-')}", type=kind, metavar="N",
            help=f"{each.metadata['meaning']} (default: {each.default:g})",
        )  # fmt: skip


def _configure_access(parser: argparse.ArgumentParser) -> None:
    safety = parser.add_argument_group("who may use it")
    safety.add_argument("--tokens", metavar="FILE", help="of hashed tokens, of which one is needed")
    safety.add_argument(
        "--new-token", metavar="NAME", help="add a token to that file, print it, and do no more"
    )
    safety.add_argument("--certificate", metavar="FILE", help="PEM, for tls and wss")
    safety.add_argument("--key", metavar="FILE", help="of the certificate, PEM without a password")
    safety.add_argument(
        "--origins", action="append", metavar="https://HOST",
        help="web pages that may open a WebSocket, beside the server's own; may be repeated",
    )  # fmt: skip
    safety.add_argument(
        "--insecure", action="store_true", default=None,
        help="listen to other machines without tokens or TLS: whoever reaches the address uses "
        "this machine, and whoever is on the way reads and changes what is said",
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Serve until told to stop. 0: by SIGTERM; 2: nothing could begin."""
    interruption = Interruption()
    try:
        settings = settings_from(arguments)
        if arguments.new_token is not None:
            return add_token(settings, arguments.new_token)
        settings.check_security()
        _check_protocols(settings)
        asyncio.run(_serve(settings, interruption))
    except SettingsError as error:
        print_error(error, COMMAND)
        return 2
    except (KeyboardInterrupt, asyncio.CancelledError):
        pass
    return 0 if interruption.signal_number == signal.SIGTERM else interruption.exit_status


def add_token(settings: ServerSettings, name: str, command: str = COMMAND) -> int:
    """Print a new token; nothing else goes to standard output."""
    if settings.tokens is None:
        raise SettingsError("--new-token: say with --tokens FILE where tokens are kept")
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
    print_error(f"{name}'s token, which is shown this once and kept as a hash alone:", command)
    print(token)
    return 0


async def _serve(settings: ServerSettings, interruption: Interruption) -> None:
    interruption.install_handlers()
    sys.setswitchinterval(SWITCH_INTERVAL)
    with contextlib.ExitStack() as stack:
        log = EventLog(log_writer(settings, stack), as_json=settings.log_format == "json")
        makers = SessionFactory(settings, lambda text: log.write("told", text=text))
        server = Server(
            makers.factories(),
            settings.protocol,
            settings.limits,
            log,
            settings.token_file(),
            settings.ssl_context(),
            settings.origins,
            makers.gauges,
        )
        try:
            await _open(server, settings, log)
            await asyncio.Event().wait()
        finally:
            ended = await server.close()
            log.write("stopped")
    if not ended:
        # A thread is in a compiler or an import, which cannot be cut short.
        sys.stderr.flush()
        os._exit(0 if interruption.signal_number == signal.SIGTERM else interruption.exit_status)


async def _open(server: Server, settings: ServerSettings, log: EventLog) -> None:
    for address in settings.addresses:
        try:
            if address.uses_http:
                require_packages(MISSING_PACKAGES, lambda: __import__("websockets"))
            log.write("listening", address=str(await server.listen(address)))
        except OSError as error:
            raise SettingsError(f"{address}: {error.strerror or error}") from None
    if (status := settings.status_address) is not None:
        require_packages(MISSING_PACKAGES, lambda: __import__("websockets"))
        try:
            told = await server.listen_status(status)
        except OSError as error:
            raise SettingsError(f"status: {settings.status}: {error.strerror or error}") from None
        log.write("status", address=str(told).removeprefix("tcp://"))


def log_writer(settings: ServerSettings, stack: contextlib.ExitStack) -> Callable[[str], None]:
    """Return what writes a line of the log, which goes on where it cannot be written."""
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
    """Raise SettingsError where the protocols cannot be made, while that can be said."""
    try:
        SessionFactory(settings, lambda _: None).create("gtp", NetworkOutput(lambda _: None))
    except (OSError, ValueError) as error:
        raise SettingsError(f"game: {error}") from None
