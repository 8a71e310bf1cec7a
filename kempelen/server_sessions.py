"""The protocols that a server offers to sessions over the network, as its settings say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from errno import EACCES

from agent.machine import usable_cores
from agent.memory_budget import MemoryBudget
from agent.threads.scheduler import SearchScheduler
from kempelen.commands import gtp, uci, xboard
from kempelen.console.server_settings import ServerSettings
from kempelen.protocol_detector import ProtocolDetector
from protocols.gtp.session import Settings as GtpSettings
from protocols.permissions import Permissions
from protocols.server.metrics import Gauges
from protocols.server.network_session import ProtocolFactory
from protocols.server.server import ANY_PROTOCOL
from protocols.session import LineWriter
from protocols.session_context import SessionContext
from protocols.stdio import ThreadedLineProtocol


class NetworkOutput:
    """How the protocol of a session over the network says things; it has no log of its own."""

    def __init__(self, send: Callable[[str], None]) -> None:
        self.send = send

    def log_to(self, path: str) -> None:
        """Refuse to write a file."""
        raise OSError(EACCES, "it is not offered here")


class SessionFactory:
    """Makes the protocols of sessions, as the settings say: turns and memory are for all.

    report: told what whoever runs the server should know.
    """

    def __init__(self, settings: ServerSettings, report: Callable[[str], None]) -> None:
        self._report = report
        permissions = Permissions(
            presets=settings.offers,
            megabytes=settings.limits.hash,
            threads=settings.limits.threads,
        )
        self._scheduler = SearchScheduler(usable_cores())
        self._budget = MemoryBudget(settings.limits.hash_in_all)
        self._session_context = SessionContext(permissions, self._scheduler, self._budget)
        self._gtp = _gtp_settings(settings)
        self._factories: dict[str, Callable[[LineWriter], ThreadedLineProtocol]] = {
            "uci": lambda voice: uci.create_engine(voice, session_context=self._session_context),
            "gtp": lambda voice: gtp.create_engine(
                voice, self._gtp, self._report, self._session_context
            ),
            "xboard": lambda voice: xboard.create_engine(voice, self._session_context),
            ANY_PROTOCOL: lambda voice: ProtocolDetector(voice, tell=voice.send, make=self.create),
        }

    def create(self, protocol: str, voice: LineWriter) -> ThreadedLineProtocol:
        """Return a protocol, by its name."""
        return self._factories[protocol](voice)

    def gauges(self) -> Gauges:
        """Return how much is searched now, and what hash is left, for the server's metrics."""
        searching, waiting = self._scheduler.counts()
        return {
            "searches": ("Searches that go on now.", searching),
            "waiting_searches": ("Searches that wait for their turn.", waiting),
            "free_hash_megabytes": ("Megabytes of hash that no session has.", self._budget.free),
        }

    def factories(self) -> Mapping[str, ProtocolFactory]:
        """Return what makes each protocol, of what it says things by."""

        def maker(protocol: str) -> ProtocolFactory:
            return lambda send: self.create(protocol, NetworkOutput(send))

        return {protocol: maker(protocol) for protocol in self._factories}


def _gtp_settings(settings: ServerSettings) -> GtpSettings:
    from agent.games import catalogue
    from kempelen.console.game_options import options_for

    kind = catalogue.find(settings.game)
    return GtpSettings(game=kind.name, options=options_for(kind, settings.size, ()))
