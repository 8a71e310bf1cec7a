"""Create engines for UCI, xboard and GTP sessions. Each protocol is imported only when needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kempelen import __version__
from protocols.session_context import STANDALONE, SessionContext

if TYPE_CHECKING:
    from protocols.gtp.protocol import GtpProtocol
    from protocols.gtp.session import Settings
    from protocols.session import LineWriter
    from protocols.uci.options import Option
    from protocols.uci.protocol import UciProtocol
    from protocols.xboard.protocol import XboardProtocol
ENGINE_NAME = "Kempelen"


def create_uci_engine(
    session: LineWriter, tune: bool = False, session_context: SessionContext = STANDALONE
) -> UciProtocol:
    """Return a UCI engine, with the search constants as options if `tune` is true."""
    from protocols.client.own_engine import AUTHORS
    from protocols.uci.protocol import UciProtocol

    extra_options: tuple[Option, ...] = ()
    if tune:
        from protocols.uci.tuning import tuning_options

        extra_options = tuning_options()
    return UciProtocol(
        f"{ENGINE_NAME} {__version__}",
        AUTHORS,
        session.send,
        session.log_to,
        extra_options=extra_options,
        session_context=session_context,
    )


def create_xboard_engine(
    session: LineWriter, session_context: SessionContext = STANDALONE
) -> XboardProtocol:
    from protocols.xboard.protocol import XboardProtocol

    return XboardProtocol(
        f"{ENGINE_NAME} {__version__}",
        session.send,
        session.log_to,
        session_context=session_context,
    )


def create_gtp_engine(
    session: LineWriter,
    settings: Settings | None = None,
    report: Callable[[str], None] | None = None,
    session_context: SessionContext = STANDALONE,
    identity: tuple[str, str] | None = None,
) -> GtpProtocol:
    """Return a GTP engine. `identity` is the name and the version that the engine reports."""
    from kempelen.console.terminal import print_error
    from protocols.gtp.protocol import GtpProtocol
    from protocols.gtp.session import Settings

    return GtpProtocol(
        *(identity or (ENGINE_NAME, __version__)),
        session.send,
        report or print_error,
        settings or Settings(),
        session_context,
    )
