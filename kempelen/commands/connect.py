"""`kempelen connect`: use a remote Kempelen server as a local engine."""

from __future__ import annotations

from importlib.util import find_spec
from threading import Event
from typing import TYPE_CHECKING, Any

from kempelen.console.terminal import print_error
from kempelen.protocol_detector import ProtocolDetector
from protocols import stdio
from protocols.remote.credentials import (
    TOKEN_VARIABLE,
    CredentialsError,
    read_address,
    read_certificates,
    read_token,
)
from protocols.remote.engine import RemoteEngine
from protocols.remote.line_channel import LineChannel

if TYPE_CHECKING:
    import ssl
    from argparse import ArgumentParser, Namespace

    from protocols.remote.proxy import Proxy
    from protocols.server.addresses import Address
    from protocols.session import StdioSession

COMMAND = "kempelen connect"
PROTOCOLS = ("uci", "gtp", "xboard")
DEFAULT_TIMEOUT = 30.0


def configure(parser: ArgumentParser) -> None:
    """Add the arguments. None accepts the token, because other users can see command lines."""
    from kempelen.console.argument_types import positive_seconds
    from kempelen.console.old_names import add_alias

    parser.epilog = f"Token of the server: environment variable {TOKEN_VARIABLE}, or --token-file."
    parser.add_argument(
        "address",
        metavar="ADDRESS",
        help="address of the server: tcp://HOST:PORT, or tls://, ws://, wss://",
    )
    parser.add_argument("--token-file", metavar="FILE", help="file with the token")
    parser.add_argument("--ca", metavar="FILE", help="trusted certificates (PEM), for tls and wss")
    parser.add_argument(
        "--protocol",
        choices=PROTOCOLS,
        help="protocol (default: detected from the first line of input)",
    )
    timeout = parser.add_argument(
        "--timeout", type=positive_seconds, default=DEFAULT_TIMEOUT, metavar="SECONDS",
        help="time to wait for the server while no clock is running (default: %(default)g)",
    )  # fmt: skip
    add_alias(parser, "--patience", timeout)
    parser.add_argument(
        "--insecure", action="store_true",
        help="send the token without TLS, so that others on the way can read it",
    )  # fmt: skip


def run(arguments: Namespace) -> int:
    """Return 1 if the server is unreachable or rejects the client, or 2 for invalid arguments."""
    try:
        address = read_address(arguments.address)
        token = read_token(arguments.token_file)
        if token is not None and not (
            address.uses_tls or address.is_loopback or arguments.insecure
        ):
            raise CredentialsError(
                f"{address}: the token would be sent unencrypted; "
                "use tls:// or wss://, or allow it with --insecure"
            )
        if address.uses_http and find_spec("websockets") is None:
            from agent.io.requirements import missing_packages

            raise CredentialsError(missing_packages("ws:// and wss://", "server"))
        trust = _trust(arguments.ca, address)
    except CredentialsError as error:
        print_error(error, COMMAND)
        return 2
    failed = Event()

    def make(protocol: str, session: StdioSession) -> RemoteEngine:
        def end() -> None:
            failed.set()  # set first, because ending the session ends the program
            session.end()

        return RemoteEngine(
            _proxy(protocol, arguments.timeout),
            lambda limit: LineChannel(address, protocol, trust, token, limit),
            session.send,
            lambda text: print_error(f"{address}: {text}", COMMAND),
            end,
            arguments.timeout,
        )

    def begin(session: StdioSession) -> stdio.ThreadedLineProtocol:
        if arguments.protocol:
            return make(arguments.protocol, session)
        return ProtocolDetector(session, make=lambda protocol, _: make(protocol, session))

    return stdio.serve(begin) or int(failed.is_set())


def _trust(ca_file: str | None, address: Address) -> ssl.SSLContext | None:
    if address.uses_tls:
        return read_certificates(ca_file)
    if ca_file is not None:
        raise CredentialsError(f"--ca {ca_file}: {address} does not use TLS; use tls:// or wss://")
    return None


def _proxy(protocol: str, timeout: float) -> Proxy[Any]:
    if protocol == "gtp":
        from protocols.remote.gtp import GtpProxy

        return GtpProxy(timeout)
    if protocol == "xboard":
        from protocols.remote.xboard import XboardProxy

        return XboardProxy(timeout)
    from protocols.remote.uci import UciProxy

    return UciProxy(timeout)
