"""`kempelen listen`: sessions of the text protocols over the network, many at once."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable, Mapping

from kempelen import gtp, uci
from kempelen.console import complain
from kempelen.first_line import FirstLine
from kempelen.interruption import Interruption
from protocols.pipes import SWITCH_INTERVAL
from protocols.server.addresses import Address
from protocols.server.remote_session import Maker
from protocols.server.server import Server

COMMAND = "kempelen listen"
DEFAULT = "127.0.0.1:7117"


class RemoteVoice:
    """What a protocol gets for a session over the network: how it says something, and no file."""

    def __init__(self, send: Callable[[str], None]) -> None:
        self.send = send

    def log_to(self, path: str) -> None:
        """Refuse to write a file."""
        raise OSError("not offered here")


MAKERS: Mapping[str, Maker] = {
    "uci": lambda send: uci.make(RemoteVoice(send)),
    "gtp": lambda send: gtp.make(RemoteVoice(send)),
    "any": lambda send: FirstLine(RemoteVoice(send), tell=send),
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--address", action="append", type=_address, metavar="[tcp://]HOST:PORT",
        help=f"where to listen; may be repeated (default: {DEFAULT})",
    )  # fmt: skip
    parser.add_argument(
        "--protocol", choices=MAKERS, default="any",
        help="what is spoken; any: what the first line asks for (default: %(default)s)",
    )  # fmt: skip


def _address(text: str) -> Address:
    try:
        return Address.from_text(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def run(arguments: argparse.Namespace) -> int:
    """Serve until told to stop."""
    interruption = Interruption()
    try:
        return asyncio.run(_serve(arguments, interruption))
    except (KeyboardInterrupt, asyncio.CancelledError):
        return interruption.status


async def _serve(arguments: argparse.Namespace, interruption: Interruption) -> int:
    interruption.listen()
    sys.setswitchinterval(SWITCH_INTERVAL)
    server = Server(MAKERS, arguments.protocol)
    try:
        for address in arguments.address or [Address.from_text(DEFAULT)]:
            complain(f"listening at {await server.listen(address)}", COMMAND)
        await asyncio.Event().wait()
    finally:
        await server.close()
    return 0
