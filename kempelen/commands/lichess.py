"""`kempelen provide`: an engine for the analysis board of lichess.org, on this machine."""

from __future__ import annotations

import _thread
import os
import signal
import ssl
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable

from kempelen import __version__
from kempelen.commands import uci
from kempelen.console.argument_types import positive_int
from kempelen.console.console_events import on_console_close
from kempelen.console.terminal import print_error
from kempelen.server_sessions import NetworkOutput
from protocols import urls
from protocols.remote.credentials import CredentialsError, read_token
from protocols.remote.lichess import LichessClient, LichessError
from protocols.remote.provider import FIXED_OPTIONS, EngineRegistration, LichessProvider
from protocols.server.addresses import Address
from protocols.stdio import SHUTDOWN_TIMEOUT, SWITCH_INTERVAL, ThreadedLineProtocol
from protocols.uci.options import find_option
from protocols.uci.parsing import UciError
from protocols.uci.protocol import OPTIONS

COMMAND = "kempelen provide"
# As in lichess's example of a provider.
TOKEN_VARIABLE = "LICHESS_API_TOKEN"
MIN_NAME_LENGTH, MAX_NAME_LENGTH = 3, 200
MAX_DEPTH = 246


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments. The token never stands on the command line."""
    parser.epilog = (
        f"The token: {TOKEN_VARIABLE} in the environment, or a file. Make one with the scopes engine:read "
        "and engine:write at https://lichess.org/account/oauth/token"
    )
    parser.add_argument("--token-file", metavar="FILE", help="which holds the token and no more")
    parser.add_argument(
        "--name", type=_parse_name, default=f"Kempelen {__version__}",
        help="what the engine is called at the board (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--threads", type=positive_int, metavar="N", default=os.cpu_count() or 1,
        help="at most so many (default: as many as cores)",
    )  # fmt: skip
    parser.add_argument(
        "--hash", type=positive_int, metavar="MB", default=256,
        help="at most so many megabytes (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--depth", type=positive_int, default=20, metavar="N",
        help="of searches for which the board sets no limit (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--option", action="append", default=[], metavar="NAME=VALUE",
        help="an option of UCI, as Evaluation or SyzygyPath; may be repeated",
    )  # fmt: skip
    parser.add_argument("--url", default="https://lichess.org", help="(default: %(default)s)")
    parser.add_argument(
        "--engine-url", metavar="URL", default="https://engine.lichess.ovh",
        help="where work is handed out (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--ca", metavar="FILE", help="certificates to trust")


def run(arguments: Namespace) -> int:
    """Provide until told to stop. 1: lichess refuses; 2: nothing could begin."""
    try:
        for url in (arguments.url, arguments.engine_url):
            _check_url(url)
        token = read_token(arguments.token_file, TOKEN_VARIABLE)
        if token is None:
            raise CredentialsError(
                f"no token: set {TOKEN_VARIABLE}, or name a file by --token-file"
            )
        trust = _ssl_context(arguments.ca)
        offer = EngineRegistration(
            arguments.name, arguments.threads, arguments.hash, min(arguments.depth, MAX_DEPTH),
            _parse_options(arguments.option),
        )  # fmt: skip
    except CredentialsError as error:
        print_error(error, COMMAND)
        return 2
    client = LichessClient(arguments.url, arguments.engine_url, token, trust)
    return _provide(client, offer)


def _provide(client: LichessClient, offer: EngineRegistration) -> int:
    # The thread that uploads must get its turn soon while Python code is searching.
    sys.setswitchinterval(SWITCH_INTERVAL)
    before = signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))
    on_console_close(lambda: _thread.interrupt_main(signal.SIGTERM))
    provider = LichessProvider(
        client, offer, _create_engine, lambda text: print_error(text, COMMAND)
    )
    status = 0
    try:
        provider.run()
    except LichessError as error:
        print_error(error, COMMAND)
        status = 1
    finally:
        ended = provider.close(SHUTDOWN_TIMEOUT)
        signal.signal(signal.SIGTERM, before)
    if not ended:
        # A thread is in a compiler or an import, which cannot be cut short.
        os._exit(status)
    return status


def _create_engine(send: Callable[[str], None]) -> ThreadedLineProtocol:
    return uci.create_engine(NetworkOutput(send))


def _parse_name(text: str) -> str:
    if not MIN_NAME_LENGTH <= len(text) <= MAX_NAME_LENGTH or not text.isprintable():
        raise ArgumentTypeError(
            f"expected {MIN_NAME_LENGTH} to {MAX_NAME_LENGTH} characters, not {text!r}"
        )
    return text


def _check_url(url: str) -> None:
    parts = urls.split_valid_url(url)
    host = parts.hostname
    if host is None or parts.scheme not in ("http", "https") or "@" in url:
        raise CredentialsError("--url, --engine-url: write https://HOST")
    if parts.path not in ("", "/") or parts.query:
        raise CredentialsError(f"{url}: nothing may follow the host and the port")
    if parts.scheme == "http" and not Address("tcp", host, 80).is_loopback:
        raise CredentialsError(f"{url}: everyone on the way could read the token; use https://")


def _ssl_context(ca_file: str | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca_file)
    except OSError as error:
        raise CredentialsError(f"certificates {ca_file}: {error.strerror or error}") from None


def _parse_options(texts: list[str]) -> dict[str, str]:
    """Return options by their names, tried; CredentialsError for one that cannot be set."""
    options: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        try:
            if not equals or not value.isprintable():
                raise UciError("write NAME=VALUE")
            find_option(OPTIONS, name).parse(value)
            if name.lower() in map(str.lower, (*FIXED_OPTIONS, "Threads", "Hash", "MultiPV")):
                raise UciError("the board, or a flag of its own, sets it")
        except UciError as error:
            raise CredentialsError(f"--option {text}: {error}") from None
        options[name] = value
    return options
