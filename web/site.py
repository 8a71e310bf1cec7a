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
from agent.threads.turns import Turns
from protocols.allowance import Allowance
from protocols.permissions import Permissions
from protocols.server.door import NOBODY, Door, RefusedError, visitor
from protocols.server.event_log import EventLog
from protocols.server.limits import Bucket, ServerLimits
from protocols.server.metrics import Metrics
from protocols.server.tokens import TokenFile
from tournament.spectators import Spectator
from web.store import Store
from web.tally import EngineTally
from web.turnstile import Turnstile
from web.visitors import Visitors

# Lines of the log a second about visitors who were refused.
MOST_NOTED = 10.0
BODY_OF_REQUEST = 64 << 10  # bytes of a body that count as one more request


@dataclass(frozen=True, slots=True)
class Offers:
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
    spectators: Callable[[], Sequence[Spectator]] = tuple
    choices: Callable[[], Mapping[str, Any]] = dict
    steps: Callable[[Mapping[str, str]], str] | None = None


class Site:
    """One server of pages, without its addresses.

    tokens: None lets everybody in, and everybody is the same visitor. origins: the pages from
    elsewhere that may use it. secure: it is reached by TLS alone.
    """

    def __init__(
        self,
        limits: ServerLimits,
        log: EventLog,
        store: Store,
        tokens: TokenFile | None = None,
        origins: frozenset[str] = frozenset(),
        offers: Offers = Offers(),
        *,
        secure: bool = False,
    ) -> None:
        self.limits = limits
        self.log = log
        self.store = store
        self.tokens = tokens
        self.origins = origins
        self.offers = offers
        self.secure = secure
        self.door = Door(limits, tokens)
        self.metrics = Metrics()
        self.visitors = Visitors(store, tokens)
        # Of our own agents, which are told only what was checked, and no visitor's words.
        permissions = Permissions(
            trusted=True,
            offers={"Evaluation": offers.evaluations},
            megabytes=limits.hash,
            threads=limits.threads,
        )
        self.turns = Turns(usable_cores())
        self.budget = MemoryBudget(limits.hash_in_all)
        self.allowance = Allowance(permissions, self.turns, self.budget)
        self._noted = Bucket(MOST_NOTED, time.monotonic())
        self.ending = False
        self.engines = EngineTally(limits)
        self.turnstile = Turnstile()
        self.uploading = 0  # bytes of bodies that are in memory
        self.numbers = itertools.count(1)

    def owner(self, cookies: Mapping[str, str]) -> str:
        """Return whose a visitor's things are, "" if he is nobody that is let in."""
        return NOBODY if self.tokens is None else self.visitors.name_of(cookies)

    def count_request(self, connection: HTTPConnection) -> None:
        """Count what is asked over HTTP. Raises RefusedError for a visitor who asks too much."""
        self.door.count_request(self.visitor(connection))

    def count_body(self, connection: HTTPConnection, size: int) -> None:
        """Count a body that was read, whose understanding takes time, as further requests."""
        if size:
            with suppress(RefusedError):  # it is read; the next request is refused
                self.door.count_request(self.visitor(connection), size / BODY_OF_REQUEST)

    def visitor(self, connection: HTTPConnection) -> Hashable:
        """Return whose a request is, for what one visitor may take of all."""
        host = connection.client.host if connection.client else "?"
        return visitor(host, self.owner(connection.cookies))

    def note_refusal(self, connection: HTTPConnection, error: RefusedError) -> None:
        """Take note of somebody who was refused; of very many only some are in the log."""
        self.metrics.count("refused", error.kind)
        if not self._noted.take(time.monotonic()):
            host, port = connection.client or ("?", 0)
            over = connection.scope["scheme"]
            self.log.note("refused", peer=f"{host}:{port}", over=over, reason=str(error))

    def status(self) -> str:
        """Return what `/metrics` answers."""
        searching, waiting = self.turns.standing()
        return self.metrics.text(
            {
                "sessions": ("Sessions that are served now.", self.door.sessions),
                "opponents": ("Agents that play and give hints now.", self.engines.in_all),
                "searches": ("Searches that go on now.", searching),
                "waiting_searches": ("Searches that wait for their turn.", waiting),
                "free_hash_megabytes": ("Megabytes of hash that no session has.", self.budget.free),
            }
        )
