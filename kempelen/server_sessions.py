"""Create the protocols of network sessions from the server's settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from errno import EACCES

from agent.machine import usable_cores
from agent.memory_budget import MemoryBudget
from agent.threads.scheduler import SearchScheduler
from kempelen.console.server_settings import ServerSettings
from kempelen.engines import create_gtp_engine, create_uci_engine, create_xboard_engine
from kempelen.protocol_detector import ProtocolDetector
from protocols.gtp.session import Settings as GtpSettings
from protocols.permissions import Permissions
from protocols.server.line_scheduler import SessionLines
from protocols.server.metrics import Gauges
from protocols.server.network_session import ProtocolFactory
from protocols.server.server import ANY_PROTOCOL
from protocols.session import LineWriter
from protocols.session_context import SessionContext
from protocols.stdio import ThreadedLineProtocol


class NetworkOutput:
    """The output of a network session. Log files are disabled."""

    def __init__(self, send: Callable[[str], None]) -> None:
        self.send = send

    def log_to(self, path: str) -> None:
        """Raise OSError, because remote clients must not write files."""
        raise OSError(EACCES, "it is not offered here")


class SessionFactory:
    """Creates the protocols of sessions, which share one scheduler and one memory budget."""

    def __init__(self, settings: ServerSettings, report: Callable[[str], None]) -> None:
        self._report = report
        permissions = Permissions(
            presets=settings.offers,
            megabytes=settings.limits.hash,
            threads=settings.limits.threads,
        )
        self._scheduler = SearchScheduler(usable_cores())
        self._budget = MemoryBudget(settings.limits.usable_hash)
        self._session_context = SessionContext(permissions, self._scheduler, self._budget)
        self._gtp = _gtp_settings(settings)
        self._factories: dict[str, Callable[[LineWriter, SessionContext], ThreadedLineProtocol]] = {
            "uci": lambda session, context: create_uci_engine(session, session_context=context),
            "gtp": lambda session, context: create_gtp_engine(
                session, self._gtp, self._report, context
            ),
            "xboard": create_xboard_engine,
            ANY_PROTOCOL: lambda session, context: ProtocolDetector(
                session,
                tell=session.send,
                make=lambda protocol, writer: self._factories[protocol](writer, context),
            ),
        }

    def create(
        self, protocol: str, session: LineWriter, session_lines: SessionLines | None = None
    ) -> ThreadedLineProtocol:
        context = replace(self._session_context, session_lines=session_lines)
        return self._factories[protocol](session, context)

    def gauges(self) -> Gauges:
        """Return the numbers of running and waiting searches, and the free hash memory in MB."""
        searching, waiting = self._scheduler.counts()
        return {
            "searches": ("Running searches.", searching),
            "waiting_searches": ("Searches waiting for a slot.", waiting),
            "free_hash_megabytes": ("Unused hash in megabytes.", self._budget.free),
        }

    def factories(self) -> Mapping[str, ProtocolFactory]:
        """Return functions that create the protocol of a session, by protocol name."""

        def maker(protocol: str) -> ProtocolFactory:
            return lambda send, lines: self.create(protocol, NetworkOutput(send), lines)

        return {protocol: maker(protocol) for protocol in self._factories}


def _gtp_settings(settings: ServerSettings) -> GtpSettings:
    from agent.games import catalogue
    from kempelen.console.game_options import options_for

    kind = catalogue.find(settings.game)
    return GtpSettings(game=kind.name, options=options_for(kind, settings.size, ()))
