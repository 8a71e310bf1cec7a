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

from agent.border.files import open_log
from kempelen.console import complain
from kempelen.interruption import Interruption
from kempelen.listen_settings import FORMATS, PROTOCOLS, ListenSettings, settings_from
from kempelen.mqtt_arguments import needs_packages
from kempelen.remote_protocols import Makers, RemoteVoice
from protocols.pipes import SWITCH_INTERVAL
from protocols.server.event_log import EventLog
from protocols.server.limits import ServerLimits
from protocols.server.server import Server
from protocols.server.tokens import TokenError, new_token
from tournament.values import SettingsError

COMMAND = "kempelen listen"
MISSING = "WebSocket and HTTP need more packages: pip install 'kempelen[server]'"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments. Those without a default leave the word to the file."""
    parser.add_argument("--config", metavar="FILE", help="YAML; docs/guide/server.md shows it")
    parser.add_argument(
        "--address", action="append", metavar="[SCHEME://]HOST:PORT",
        help="where to listen, by tcp (if nothing is said), tls, ws or wss; may be repeated "
        f"(default: {ListenSettings().address[0]})",
    )  # fmt: skip
    parser.add_argument(
        "--protocol", choices=PROTOCOLS,
        help="what is spoken; any: what the first line asks for (default: any)",
    )  # fmt: skip
    parser.add_argument("--game", metavar="G", help="what is played over GTP (default: go)")
    parser.add_argument("--size", "--boardsize", metavar="VALUE", help="of the game's board")
    _configure_safety(parser)
    told = parser.add_argument_group("what is told")
    told.add_argument(
        "--status", metavar="HOST:PORT",
        help="where /health and /metrics are answered over HTTP, as at ws addresses",
    )  # fmt: skip
    told.add_argument("--log", metavar="FILE", help="who did what (default: standard error)")
    told.add_argument("--log-format", choices=FORMATS, help="text, or a JSON object a line")
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


def _configure_safety(parser: argparse.ArgumentParser) -> None:
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
            return make_token(settings, arguments.new_token)
        settings.check_safety()
        _try(settings)
        asyncio.run(_serve(settings, interruption))
    except SettingsError as error:
        complain(error, COMMAND)
        return 2
    except (KeyboardInterrupt, asyncio.CancelledError):
        pass
    return 0 if interruption.number == signal.SIGTERM else interruption.status


def make_token(settings: ListenSettings, name: str, command: str = COMMAND) -> int:
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
        complain(
            f"{settings.tokens}: not protected by file permissions on Windows (expected a folder "
            "that only you can open)",
            command,
        )
    complain(f"{name}'s token, which is shown this once and kept as a hash alone:", command)
    print(token)
    return 0


async def _serve(settings: ListenSettings, interruption: Interruption) -> None:
    interruption.listen()
    sys.setswitchinterval(SWITCH_INTERVAL)
    with contextlib.ExitStack() as stack:
        log = EventLog(log_writer(settings, stack), as_json=settings.log_format == "json")
        makers = Makers(settings, lambda text: log.note("told", text=text))
        server = Server(
            makers.table(),
            settings.protocol,
            settings.limits,
            log,
            settings.token_file(),
            settings.tls(),
            settings.origins,
            makers.state,
        )
        try:
            await _open(server, settings, log)
            await asyncio.Event().wait()
        finally:
            ended = await server.close()
            log.note("stopped")
    if not ended:
        # A thread is in a compiler or an import, which cannot be cut short.
        sys.stderr.flush()
        os._exit(0 if interruption.number == signal.SIGTERM else interruption.status)


async def _open(server: Server, settings: ListenSettings, log: EventLog) -> None:
    for address in settings.addresses:
        try:
            if address.web:
                needs_packages(MISSING, lambda: __import__("websockets"))
            log.note("listening", address=str(await server.listen(address)))
        except OSError as error:
            raise SettingsError(f"{address}: {error.strerror or error}") from None
    if (status := settings.status_address) is not None:
        needs_packages(MISSING, lambda: __import__("websockets"))
        try:
            told = await server.tell_status(status)
        except OSError as error:
            raise SettingsError(f"status: {settings.status}: {error.strerror or error}") from None
        log.note("status", address=str(told).removeprefix("tcp://"))


def log_writer(settings: ListenSettings, stack: contextlib.ExitStack) -> Callable[[str], None]:
    """Return what writes a line of the log, which goes on where it cannot be written."""
    if settings.log is None:
        return _to_standard_error
    try:
        file = stack.enter_context(open_log(settings.log))
    except OSError as error:
        raise SettingsError(f"log: {settings.log}: {error.strerror}") from None

    def write(line: str) -> None:
        with contextlib.suppress(OSError):
            file.write(f"{line}\n".encode(errors="backslashreplace"))
            file.flush()

    return write


def _to_standard_error(line: str) -> None:
    with contextlib.suppress(OSError):
        print(line, file=sys.stderr, flush=True)


def _try(settings: ListenSettings) -> None:
    """Raise SettingsError where the protocols cannot be made, while that can be said."""
    try:
        Makers(settings, lambda _: None).make("gtp", RemoteVoice(lambda _: None))
    except (OSError, ValueError) as error:
        raise SettingsError(f"game: {error}") from None
