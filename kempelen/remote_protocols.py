"""The protocols that a server offers to sessions over the network, as its settings say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from errno import EACCES

from agent.machine import usable_cores
from agent.memory_budget import MemoryBudget
from agent.threads.turns import Turns
from kempelen import gtp, uci, xboard
from kempelen.first_line import FirstLine
from kempelen.listen_settings import ListenSettings
from protocols.allowance import Allowance
from protocols.gtp.play import Settings as GtpSettings
from protocols.permissions import Permissions
from protocols.pipes import Served
from protocols.server.metrics import Gauges
from protocols.server.remote_session import Maker
from protocols.server.server import ANY
from protocols.session import Voice


class RemoteVoice:
    """How the protocol of a session over the network says things; it has no log of its own."""

    def __init__(self, send: Callable[[str], None]) -> None:
        self.send = send

    def log_to(self, path: str) -> None:
        """Refuse to write a file."""
        raise OSError(EACCES, "it is not offered here")


class Makers:
    """Makes the protocols of sessions, as the settings say: turns and memory are for all.

    report: told what whoever runs the server should know.
    """

    def __init__(self, settings: ListenSettings, report: Callable[[str], None]) -> None:
        self._report = report
        permissions = Permissions(
            offers=settings.offers,
            megabytes=settings.limits.hash,
            threads=settings.limits.threads,
        )
        self._turns = Turns(usable_cores())
        self._budget = MemoryBudget(settings.limits.hash_in_all)
        self._allowance = Allowance(permissions, self._turns, self._budget)
        self._gtp = _gtp_settings(settings)
        self._table: dict[str, Callable[[Voice], Served]] = {
            "uci": lambda voice: uci.make(voice, allowance=self._allowance),
            "gtp": lambda voice: gtp.make(voice, self._gtp, self._report, self._allowance),
            "xboard": lambda voice: xboard.make(voice, self._allowance),
            ANY: lambda voice: FirstLine(voice, tell=voice.send, make=self.make),
        }

    def make(self, protocol: str, voice: Voice) -> Served:
        """Return a protocol, by its name."""
        return self._table[protocol](voice)

    def state(self) -> Gauges:
        """Return how much is searched now, and what hash is left, for the server's metrics."""
        searching, waiting = self._turns.standing()
        return {
            "searches": ("Searches that go on now.", searching),
            "waiting_searches": ("Searches that wait for their turn.", waiting),
            "free_hash_megabytes": ("Megabytes of hash that no session has.", self._budget.free),
        }

    def table(self) -> Mapping[str, Maker]:
        """Return what makes each protocol, of what it says things by."""

        def maker(protocol: str) -> Maker:
            return lambda send: self.make(protocol, RemoteVoice(send))

        return {protocol: maker(protocol) for protocol in self._table}


def _gtp_settings(settings: ListenSettings) -> GtpSettings:
    from agent.games import catalogue
    from kempelen.game_options import fitted

    kind = catalogue.find(settings.game)
    return GtpSettings(game=kind.name, options=fitted(kind, settings.size, ()))
