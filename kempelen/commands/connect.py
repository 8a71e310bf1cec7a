"""`kempelen connect`: an engine on standard input and output that plays from a server's machine."""

from __future__ import annotations

from importlib.util import find_spec
from threading import Event
from typing import TYPE_CHECKING

from kempelen.console.terminal import print_error
from kempelen.protocol_detector import ProtocolDetector
from protocols import stdio
from protocols.remote.credentials import TOKEN_VARIABLE, CredentialsError, read_address, read_token
from protocols.remote.engine import RemoteEngine

if TYPE_CHECKING:
    import ssl
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable

    from protocols.remote.proxy import Proxy
    from protocols.server.addresses import Address
    from protocols.session import StdioSession

COMMAND = "kempelen connect"
PROTOCOLS = ("uci", "gtp", "xboard")
MISSING_PACKAGES = "ws:// and wss:// need one more package: pip install 'kempelen[server]'"
DEFAULT_TIMEOUT = 30.0


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments. The token never stands on the command line."""
    from kempelen.console.argument_types import positive_seconds

    parser.epilog = f"The server's token: {TOKEN_VARIABLE} in the environment, or a file."
    parser.add_argument(
        "address", metavar="ADDRESS", help="tcp://HOST:PORT, or tls://, ws:// and wss://"
    )
    parser.add_argument("--token-file", metavar="FILE", help="which holds the token and no more")
    parser.add_argument("--ca", metavar="FILE", help="certificates to trust, for tls and wss")
    parser.add_argument(
        "--protocol", choices=PROTOCOLS, help="what is spoken (default: what the first line asks)"
    )
    parser.add_argument(
        "--patience", type=positive_seconds, default=DEFAULT_TIMEOUT, metavar="SECONDS",
        help="how long to wait for a server where no clock runs (default: %(default)g)",
    )  # fmt: skip
    parser.add_argument(
        "--insecure", action="store_true",
        help="let the token travel without TLS, for everyone on the way to read",
    )  # fmt: skip


def run(arguments: Namespace) -> int:
    """Serve until `quit` or the end of input. 1: the server cannot be had, or refuses."""
    try:
        address = read_address(arguments.address)
        token = read_token(arguments.token_file)
        if token is not None and not (
            address.uses_tls or address.is_loopback or arguments.insecure
        ):
            raise CredentialsError(
                f"{address}: everyone on the way could read the token; "
                "use tls:// or wss://, or say --insecure"
            )
        if address.uses_http and find_spec("websockets") is None:
            raise CredentialsError(MISSING_PACKAGES)
        trust = _ssl_context(arguments.ca, address)
    except CredentialsError as error:
        print_error(error, COMMAND)
        return 2
    failed = Event()

    def make(protocol: str, session: StdioSession) -> RemoteEngine:
        def end() -> None:
            failed.set()  # before the session ends, which ends the program
            session.end()

        return _remote_engine(address, token, trust, arguments.patience, session, end, protocol)

    def begin(session: StdioSession) -> stdio.ThreadedLineProtocol:
        if arguments.protocol:
            return make(arguments.protocol, session)
        return ProtocolDetector(session, make=lambda protocol, _: make(protocol, session))

    return stdio.serve(begin) or int(failed.is_set())


def _ssl_context(ca_file: str | None, address: Address) -> ssl.SSLContext | None:
    if ca_file is not None and not address.uses_tls:
        raise CredentialsError(f"--ca {ca_file}: {address} is without TLS; write tls:// or wss://")
    if not address.uses_tls:
        return None
    import ssl

    try:
        return ssl.create_default_context(cafile=ca_file)
    except OSError as error:  # of which ssl's errors are some
        raise CredentialsError(f"certificates {ca_file}: {error.strerror or error}") from None


def _remote_engine(
    address: Address,
    token: str | None,
    trust: ssl.SSLContext | None,
    patience: float,
    session: StdioSession,
    end: Callable[[], None],
    protocol: str,
) -> RemoteEngine:
    from protocols.remote.connecting import connect

    return RemoteEngine(
        _dialogue(protocol, patience),
        lambda limit: connect(address, protocol, trust, token, limit),
        session.send,
        lambda text: print_error(f"{address}: {text}", COMMAND),
        end,
        patience,
    )


def _dialogue(protocol: str, patience: float) -> Proxy:
    if protocol == "gtp":
        from protocols.remote.gtp import GtpProxy

        return GtpProxy(patience)
    if protocol == "xboard":
        from protocols.remote.xboard import XboardProxy

        return XboardProxy(patience)
    from protocols.remote.uci import UciProxy

    return UciProxy(patience)
