"""The state that all pages share, with settings, access control, database and resources."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from starlette.requests import HTTPConnection

from agent.machine import usable_cores
from agent.memory_budget import MemoryBudget
from agent.threads.scheduler import SearchScheduler
from kempelen.match.live.tournament_views import TournamentView
from kempelen.web.database import Database
from kempelen.web.engine_quota import EngineQuota
from kempelen.web.login_sessions import LoginSessions
from kempelen.web.visitor_locks import VisitorLocks
from protocols.permissions import Permissions
from protocols.server.admission import ANONYMOUS, AdmissionControl, RejectedError, client_key
from protocols.server.event_log import EventLog
from protocols.server.limits import RateLimiter, ServerLimits
from protocols.server.metrics import Metrics
from protocols.server.tokens import TokenFile
from protocols.session_context import SessionContext

# The event loop handles messages, so a burst of one visitor delays the others.
MESSAGE_BURST_S = 0.2


@dataclass(frozen=True, slots=True)
class SiteResources:
    """Games, engines and files that the operator offers to visitors besides the built-in ones.

    - `games`: names of additional games in the catalogue.
    - `evaluations`: evaluations of the form FILE.py:function by name.
    - `engines`: protocols and command lines, such as `uci stockfish`, by name.
    - `lessons`: a folder with exported pages of the lab.
    - `spectators`: a function that returns the watched tournaments, which may be added later.
    - `choices`: a function that returns the games, algorithms and depths for step-by-step pages.
    - `steps`: a function that makes a step-by-step page, or raises ValueError for invalid choices.
    """

    games: tuple[str, ...] = ()
    evaluations: Mapping[str, str] = field(default_factory=dict)
    engines: Mapping[str, str] = field(default_factory=dict)
    lessons: Path | None = None
    spectators: Callable[[], Sequence[TournamentView]] = tuple
    choices: Callable[[], Mapping[str, Any]] = dict
    steps: Callable[[Mapping[str, str]], str] | None = None


NO_RESOURCES = SiteResources()


class SiteContext:
    """The shared state of one web server.

    - `tokens`: the access tokens, or None to admit everybody as the same visitor.
    - `origins`: other web origins whose pages may use the server.
    - `secure`: whether the server is reachable only over TLS.
    """

    def __init__(
        self,
        limits: ServerLimits,
        log: EventLog,
        store: Database,
        tokens: TokenFile | None = None,
        origins: Iterable[str] = (),
        offers: SiteResources = NO_RESOURCES,
        *,
        secure: bool = False,
    ) -> None:
        self.limits = limits
        self.log = log
        self.database = store
        self.tokens = tokens
        self.resources = offers
        self.secure = secure
        self.admission = AdmissionControl(limits, tokens, origins)
        self.metrics = Metrics()
        self.login_sessions = LoginSessions(store, tokens)
        # These agents are trusted: they receive validated input only.
        permissions = Permissions(
            trusted=True,
            presets={"Evaluation": offers.evaluations},
            megabytes=limits.hash,
            threads=limits.threads,
        )
        self.scheduler = SearchScheduler(usable_cores())
        self.budget = MemoryBudget(limits.usable_hash)
        self.session_context = SessionContext(permissions, self.scheduler, self.budget)
        # Messages of all channels of a visitor, in which each 1024 characters count as a message.
        self.message_limiter = RateLimiter(limits.request_rate, MESSAGE_BURST_S)
        self.shutting_down = False
        self.engine_quota = EngineQuota(limits)
        self.visitor_locks = VisitorLocks()
        self.game_locks = VisitorLocks()  # for slow calls of games, which are never rejected
        self.buffered_bytes = 0  # total size of request bodies in memory
        self.session_ids = itertools.count(1)

    def owner(self, cookies: Mapping[str, str]) -> str:
        """Return the visitor's user name, or "" if the visitor is not authenticated."""
        return ANONYMOUS if self.tokens is None else self.login_sessions.find_name(cookies)

    def client_key(self, connection: HTTPConnection) -> Hashable:
        """Return the key for rate limits, which is the visitor's user name or address."""
        host, headers = connection.client.host if connection.client else "?", connection.headers
        foreign = self.admission.is_foreign(
            *map(headers.getlist, ("origin", "host", "sec-fetch-site"))
        )
        return client_key(host, self.owner(connection.cookies), foreign=foreign)

    def log_rejection(self, connection: HTTPConnection, error: RejectedError) -> None:
        self.metrics.count("refused", error.code)
        host, port = connection.client or ("?", 0)
        over = connection.scope["scheme"]
        self.log.write_limited("refused", peer=f"{host}:{port}", over=over, reason=str(error))

    def metrics_text(self) -> str:
        searching, waiting = self.scheduler.counts()
        return self.metrics.render(
            {
                "sessions": ("Running sessions.", self.admission.sessions),
                "opponents": ("Running engines of games and hints.", self.engine_quota.total),
                "searches": ("Running searches.", searching),
                "waiting_searches": ("Waiting searches.", waiting),
                "free_hash_megabytes": ("Unused hash memory in megabytes.", self.budget.free),
            }
        )
