"""`kempelen lichess`: offer this machine as an external engine on lichess.org."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable

from agent.machine import usable_cores
from kempelen import __version__
from kempelen.console import interruption
from kempelen.console.argument_types import AppendNamed, positive_int
from kempelen.console.terminal import print_error
from kempelen.engines import create_uci_engine
from kempelen.server_sessions import NetworkOutput
from protocols import urls
from protocols.remote.credentials import CredentialsError, read_certificates, read_token
from protocols.remote.lichess import LichessClient, LichessError
from protocols.remote.provider import FIXED_OPTIONS, EngineRegistration, LichessProvider
from protocols.server.addresses import Address
from protocols.stdio import SHUTDOWN_TIMEOUT, SWITCH_INTERVAL, ThreadedLineProtocol
from protocols.uci.engine_options import OPTIONS
from protocols.uci.options import find_option
from protocols.uci.parsing import UciError

COMMAND = "kempelen lichess"
# The name that lichess's example provider uses.
TOKEN_VARIABLE = "LICHESS_API_TOKEN"
MIN_NAME_LENGTH, MAX_NAME_LENGTH = 3, 200
MAX_DEPTH = 246


def configure(parser: ArgumentParser) -> None:
    """Add the arguments. None accepts the token, because other users can see command lines."""
    parser.epilog = (
        f"Token: environment variable {TOKEN_VARIABLE}, or --token-file. Create one with the "
        "scopes engine:read and engine:write at https://lichess.org/account/oauth/token"
    )
    parser.add_argument("--token-file", metavar="FILE", help="file with the token")
    parser.add_argument(
        "--name", type=_parse_name, default=f"Kempelen {__version__}",
        help="name of the engine on lichess (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--threads", type=positive_int, metavar="N", default=usable_cores(),
        help="maximum number of threads (default: one per core)",
    )  # fmt: skip
    parser.add_argument(
        "--hash", type=positive_int, metavar="MB", default=256,
        help="maximum hash size in MB (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--depth", type=positive_int, default=20, metavar="N",
        help="depth of searches without another limit (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--option", action=AppendNamed, default=[], metavar="NAME=VALUE",
        help="UCI option, such as Evaluation or SyzygyPath; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--url", default="https://lichess.org", help="address of lichess (default: %(default)s)"
    )
    parser.add_argument(
        "--engine-url", metavar="URL", default="https://engine.lichess.ovh",
        help="address of its engine server (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--ca", metavar="FILE", help="trusted certificates (PEM)")


def run(arguments: Namespace) -> int:
    """Serve until a signal arrives. Return 1 if lichess rejects the engine, or 2 after an error."""
    try:
        for url in (arguments.url, arguments.engine_url):
            _check_url(url)
        token = read_token(arguments.token_file, TOKEN_VARIABLE)
        if token is None:
            raise CredentialsError(f"missing token: set {TOKEN_VARIABLE} or --token-file")
        trust = read_certificates(arguments.ca)
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
    # The upload thread needs the GIL at short intervals while Python code is searching.
    sys.setswitchinterval(SWITCH_INTERVAL)
    interruption.run_as_server(0.0)
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
    if not ended:
        # A thread may be compiling or importing, which cannot be interrupted.
        os._exit(status)
    return status


def _create_engine(send: Callable[[str], None]) -> ThreadedLineProtocol:
    return create_uci_engine(NetworkOutput(send))


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
        raise CredentialsError("--url, --engine-url: invalid URL (expected https://HOST)")
    if parts.path not in ("", "/") or parts.query:
        raise CredentialsError(f"{url}: invalid URL (expected only a host and a port)")
    if parts.scheme == "http" and not Address("tcp", host, 80).is_loopback:
        raise CredentialsError(f"{url}: the token would be sent unencrypted; use https://")


def _parse_options(texts: list[str]) -> dict[str, str]:
    options: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        try:
            if not equals or not value.isprintable():
                raise UciError("expected NAME=VALUE")
            find_option(OPTIONS, name).parse(value)
            if name.lower() in map(str.lower, (*FIXED_OPTIONS, "Threads", "Hash", "MultiPV")):
                raise UciError("set by lichess or by another flag")
        except UciError as error:
            raise CredentialsError(f"--option {text}: {error}") from None
        options[name] = value
    return options
