"""What all pages of a server share: who is let in, what is kept, whose turn it is to think."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
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
from protocols.server.limits import ServerLimits, TokenBucket
from protocols.server.metrics import Metrics
from protocols.server.tokens import TokenFile
from protocols.session_context import SessionContext

# Lines of the log a second about visitors who were refused.
MAX_LOGGED_PER_S = 10.0
BODY_BYTES_PER_REQUEST = 64 << 10  # bytes of a body that count as one more request


@dataclass(frozen=True, slots=True)
class SiteResources:
    """What whoever runs the server lets visitors play with, beside what is shipped.

    games: more games than the catalogue's, as it finds them. evaluations and engines: by a name,
    evaluations FILE.py:function, engines a command line with its protocol before it, such as
    `uci stockfish`. lessons: a folder with pages of the lab. spectators: gives the tournaments that
    are watched, which may grow. choices: what steps can be shown of: games with their algorithms,
    and depths. steps: makes the page of a choice; ValueError for what is none.
    """

    games: tuple[str, ...] = ()
    evaluations: Mapping[str, str] = field(default_factory=dict)
    engines: Mapping[str, str] = field(default_factory=dict)
    lessons: Path | None = None
    spectators: Callable[[], Sequence[TournamentView]] = tuple
    choices: Callable[[], Mapping[str, Any]] = dict
    steps: Callable[[Mapping[str, str]], str] | None = None


class SiteContext:
    """One server of pages, without its addresses.

    tokens: None lets everybody in, and everybody is the same visitor. origins: the pages from
    elsewhere that may use it. secure: it is reached by TLS alone.
    """

    def __init__(
        self,
        limits: ServerLimits,
        log: EventLog,
        store: Database,
        tokens: TokenFile | None = None,
        origins: frozenset[str] = frozenset(),
        offers: SiteResources = SiteResources(),
        *,
        secure: bool = False,
    ) -> None:
        self.limits = limits
        self.log = log
        self.database = store
        self.tokens = tokens
        self.origins = origins
        self.resources = offers
        self.secure = secure
        self.admission = AdmissionControl(limits, tokens)
        self.metrics = Metrics()
        self.login_sessions = LoginSessions(store, tokens)
        # Of our own agents, which are told only what was checked, and no visitor's words.
        permissions = Permissions(
            trusted=True,
            presets={"Evaluation": offers.evaluations},
            megabytes=limits.hash,
            threads=limits.threads,
        )
        self.scheduler = SearchScheduler(usable_cores())
        self.budget = MemoryBudget(limits.hash_in_all)
        self.session_context = SessionContext(permissions, self.scheduler, self.budget)
        self._log_limiter = TokenBucket(MAX_LOGGED_PER_S, time.monotonic())
        self.shutting_down = False
        self.engine_quota = EngineQuota(limits)
        self.visitor_locks = VisitorLocks()
        self.buffered_bytes = 0  # bytes of bodies that are in memory
        self.session_ids = itertools.count(1)

    def owner(self, cookies: Mapping[str, str]) -> str:
        """Return whose a visitor's things are, "" if he is nobody that is let in."""
        return ANONYMOUS if self.tokens is None else self.login_sessions.find_name(cookies)

    def charge_request(self, connection: HTTPConnection) -> None:
        """Count what is asked over HTTP. Raises RejectedError for a visitor who asks too much."""
        self.admission.charge_request(self.client_key(connection))

    def charge_body(self, connection: HTTPConnection, size: int) -> None:
        """Count a body that was read, whose understanding takes time, as further requests."""
        if size:
            with suppress(RejectedError):  # it is read; the next request is refused
                self.admission.charge_request(
                    self.client_key(connection), size / BODY_BYTES_PER_REQUEST
                )

    def client_key(self, connection: HTTPConnection) -> Hashable:
        """Return whose a request is, for what one visitor may take of all."""
        host = connection.client.host if connection.client else "?"
        return client_key(host, self.owner(connection.cookies))

    def log_rejection(self, connection: HTTPConnection, error: RejectedError) -> None:
        """Take note of somebody who was refused; of very many only some are in the log."""
        self.metrics.count("refused", error.code)
        if not self._log_limiter.try_take(time.monotonic()):
            host, port = connection.client or ("?", 0)
            over = connection.scope["scheme"]
            self.log.write("refused", peer=f"{host}:{port}", over=over, reason=str(error))

    def metrics_text(self) -> str:
        """Return what `/metrics` answers."""
        searching, waiting = self.scheduler.counts()
        return self.metrics.render(
            {
                "sessions": ("Sessions that are served now.", self.admission.sessions),
                "opponents": ("Agents that play and give hints now.", self.engine_quota.total),
                "searches": ("Searches that go on now.", searching),
                "waiting_searches": ("Searches that wait for their turn.", waiting),
                "free_hash_megabytes": ("Megabytes of hash that no session has.", self.budget.free),
            }
        )
