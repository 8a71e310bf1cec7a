"""`kempelen connect`: an engine on standard input and output that plays from a server's machine."""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING

from kempelen.console import complain
from protocols import pipes
from protocols.remote.address import TOKEN, AddressError, ServerAddress, read_token
from protocols.remote.engine import RemoteEngine

if TYPE_CHECKING:
    import ssl
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator

    from protocols.remote.conversation import Conversation
    from protocols.session import Session

COMMAND = "kempelen connect"
PROTOCOLS = ("uci", "gtp", "xboard")
MISSING = "ws:// and wss:// need one more package: pip install 'kempelen[server]'"
PATIENCE = 30.0


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments. The token never stands on the command line."""
    from kempelen.numbers import seconds

    parser.epilog = f"The server's token: {TOKEN} in the environment, or a file."
    parser.add_argument(
        "address", metavar="ADDRESS", help="tcp://HOST:PORT, or tls://, ws:// and wss://"
    )
    parser.add_argument("--token-file", metavar="FILE", help="which holds the token and no more")
    parser.add_argument("--ca", metavar="FILE", help="certificates to trust, for tls and wss")
    parser.add_argument(
        "--protocol", choices=PROTOCOLS, help="what is spoken (default: what the first line asks)"
    )
    parser.add_argument(
        "--patience", type=seconds, default=PATIENCE, metavar="SECONDS",
        help="how long to wait for a server where no clock runs (default: %(default)g)",
    )  # fmt: skip
    parser.add_argument(
        "--insecure", action="store_true",
        help="let the token travel without TLS, for everyone on the way to read",
    )  # fmt: skip


def run(arguments: Namespace) -> int:
    """Serve until `quit` or the end of input. 1: the server cannot be had, or refuses."""
    try:
        address = ServerAddress.parse(arguments.address)
        token = read_token(arguments.token_file)
        if token is not None and not (address.tls or address.here or arguments.insecure):
            raise AddressError(
                f"{address}: everyone on the way could read the token; "
                "use tls:// or wss://, or say --insecure"
            )
        if address.websocket and find_spec("websockets") is None:
            raise AddressError(MISSING)
        trust = _trust(arguments.ca, address)
    except AddressError as error:
        complain(error, COMMAND)
        return 2
    remote = partial(_remote, address, token, trust, arguments.patience)
    made: list[Chosen] = []

    def make(session: Session) -> Chosen:
        made.append(Chosen(partial(remote, session), arguments.protocol))
        return made[0]

    return pipes.serve(make) or made[0].status


class Chosen:
    """Waits for the line that says which protocol is spoken, and passes it on with all others."""

    def __init__(self, make: partial[RemoteEngine], protocol: str | None) -> None:
        self._make = make
        self._waiting: list[str] = []
        self._engine = make(protocol) if protocol else None

    @property
    def status(self) -> int:
        """The exit status, after the end."""
        return self._engine.status if self._engine else 0

    @property
    def finished(self) -> bool:
        """Whether the session is to end."""
        return self._engine is not None and self._engine.finished

    def handle_line(self, line: str) -> Iterator[str]:
        """Pass a line on; the first ones when it is known to whom."""
        if self._engine is None and line.strip():
            self._waiting.append(line)
            protocol = protocol_of(self._waiting)
            if protocol is None:
                yield from self._unknown(line)
                return
            self._engine = self._make(protocol)
            *before, line = self._waiting
            for earlier in before:
                yield from self._engine.handle_line(earlier)
        if self._engine is not None:
            yield from self._engine.handle_line(line)

    def overlong_line(self) -> Iterator[str]:
        """Say that a line was dropped."""
        if self._engine is not None:
            yield from self._engine.overlong_line()

    def drain(self, timeout: float | None = None) -> bool:
        """Answer what is still to be answered."""
        return self._engine is None or self._engine.drain(timeout)

    def close(self, timeout: float) -> bool:
        """End it."""
        return self._engine is None or self._engine.close(timeout)

    def _unknown(self, line: str) -> Iterator[str]:
        if line.strip().lower() != "xboard":
            self._waiting.pop()
            complain(f"{line!r} is no line of {', '.join(PROTOCOLS)}; see --protocol", COMMAND)
        yield from ()


def protocol_of(lines: list[str]) -> str | None:
    """Return what the first lines of a front end are written in; None while nobody can tell.

    After `xboard` may come `uci`: so programs find out what an engine speaks.
    """
    words = lines[-1].split()
    first = words[0].lower()
    if "uci" in map(str.lower, words):
        return "uci"
    if first == "xboard":
        return None
    if len(lines) > 1 or first == "protover":
        return "xboard"
    from protocols.uci.protocol import COMMANDS

    if first not in COMMANDS:
        from protocols.gtp.protocol import COMMANDS as GTP_COMMANDS
        from protocols.gtp.values import parse_line

        call = parse_line(lines[-1])
        if call is not None and call.name in GTP_COMMANDS:
            return "gtp"
        if not any(word.lower() in COMMANDS for word in words):
            return None
    return "uci"


def _trust(ca_file: str | None, address: ServerAddress) -> ssl.SSLContext | None:
    if ca_file is not None and not address.tls:
        raise AddressError(f"--ca {ca_file}: {address} is without TLS; write tls:// or wss://")
    if not address.tls:
        return None
    import ssl

    try:
        return ssl.create_default_context(cafile=ca_file)
    except OSError as error:  # of which ssl's errors are some
        raise AddressError(f"certificates {ca_file}: {error.strerror or error}") from None


def _remote(
    address: ServerAddress,
    token: str | None,
    trust: ssl.SSLContext | None,
    patience: float,
    session: Session,
    protocol: str,
) -> RemoteEngine:
    from protocols.remote.wire import dial

    return RemoteEngine(
        _conversation(protocol, patience),
        lambda limit: dial(address, protocol, trust, token, limit),
        session.send,
        lambda text: complain(f"{address}: {text}", COMMAND),
        session.end,
        patience,
    )


def _conversation(protocol: str, patience: float) -> Conversation:
    if protocol == "gtp":
        from protocols.remote.gtp import GtpConversation

        return GtpConversation(patience)
    if protocol == "xboard":
        from protocols.remote.xboard import XboardConversation

        return XboardConversation(patience)
    from protocols.remote.uci import UciConversation

    return UciConversation(patience)
