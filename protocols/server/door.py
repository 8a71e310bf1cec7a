"""Who is let in: how many, with which tokens, and what they are told who are not."""

from __future__ import annotations

import ipaddress
import time
from collections import Counter, deque
from collections.abc import Hashable

from protocols.server.limits import MOST_REMEMBERED, SURGE, Buckets, ServerLimits
from protocols.server.tokens import TokenFile

MINUTE = 60.0
# Who is refused may stay for the answer, but so many times as many connections are cut off.
CROWD = 2
NOBODY = "-"  # the name of all where no tokens are asked for


class RefusedError(Exception):
    """Somebody is not let in. The text is the reason; `kind` a word for it, to be counted by.

    seconds: after which it makes sense to try again, 0.0 where nobody knows.
    """

    def __init__(self, kind: str, reason: str, seconds: float = 0.0) -> None:
        super().__init__(reason)
        self.kind = kind
        self.seconds = seconds


class Door:
    """Counts who is in. tokens: None lets everybody in without one."""

    def __init__(self, limits: ServerLimits, tokens: TokenFile | None) -> None:
        self.limits = limits
        self.tokens = tokens
        self.sessions = 0
        self.waiting = 0
        self._of_address: Counter[str] = Counter()
        self._of_name: Counter[str] = Counter()
        self._wrong: dict[str, deque[float]] = {}
        self._requests = Buckets(limits.requests_a_second, SURGE)

    def knock(self, host: str) -> Guest:
        """Take note of a connection from a host, which is to `leave` in the end."""
        return Guest(self, group(host))

    def count_request(self, visitor: Hashable, number: float = 1.0) -> None:
        """Count a request over HTTP, or what costs as many; RefusedError if they are too many."""
        if seconds := self._requests.take(visitor, time.monotonic(), number):
            raise RefusedError("requests", "too many requests; wait a little", seconds)

    def name_of(self, token: str, address: str) -> str:
        """Return whose token it is. Raises RefusedError."""
        self._check_attempts(address)
        assert self.tokens is not None
        if (name := self.tokens.name_of(token)) is not None:
            return name
        while len(self._wrong) >= MOST_REMEMBERED:
            del self._wrong[next(iter(self._wrong))]
        self._wrong.setdefault(address, deque()).append(time.monotonic())
        raise RefusedError("token", "wrong token")

    def _check_attempts(self, address: str) -> None:
        """Refuse whoever has sent too many wrong tokens in the last minute."""
        times = self._wrong.get(address)
        if times is None:
            return
        since = time.monotonic() - MINUTE
        while times and times[0] < since:
            times.popleft()
        if not times:
            del self._wrong[address]
        elif len(times) >= self.limits.wrong_tokens:
            raise RefusedError("attempts", "too many wrong tokens from your address; wait a minute")

    def _count(self, guest: Guest, by: int) -> None:
        if guest.name is None:
            self.waiting += by
        else:
            self.sessions += by
            self._add(self._of_name, guest.name, by)

    @staticmethod
    def _add(counter: Counter[str], key: str, by: int) -> None:
        counter[key] += by
        if not counter[key]:
            del counter[key]


class Guest:
    """One connection, as the door counts it."""

    def __init__(self, door: Door, address: str) -> None:
        self.name: str | None = None
        self._door = door
        self._address = address
        self._finished = self._left = False
        door._count(self, +1)
        door._add(door._of_address, address, +1)

    @property
    def crowding(self) -> bool:
        """Whether there are so many that not even an answer is due."""
        door, limits = self._door, self._door.limits
        most = CROWD * limits.sessions_of_address
        return door._of_address[self._address] > most or door.waiting > CROWD * limits.sessions

    def check(self) -> None:
        """Raise RefusedError if there are too many connections."""
        door, limits = self._door, self._door.limits
        if door._of_address[self._address] > limits.sessions_of_address:
            raise RefusedError("address", "too many sessions from your address")
        if door.waiting > limits.sessions:
            raise RefusedError("sessions", "too many clients wait to be let in")

    def authorise(self, token: str) -> None:
        """Let the guest in by a token. Raises RefusedError."""
        self._admit(self._door.name_of(token, self._address))

    def known(self, token: str) -> None:
        """Raise RefusedError unless a token is somebody's; nobody is let in by that."""
        self._door.name_of(token, self._address)

    def admit_as(self, name: str) -> None:
        """Let the guest in whose token it was is known by other means. Raises RefusedError."""
        self._admit(name)

    def admit(self) -> None:
        """Let the guest in where no tokens are asked for. Raises RefusedError."""
        self._admit(NOBODY)

    def finish(self) -> None:
        """Take note that the session is over, and the connection about to end."""
        if not self._finished:
            self._finished = True
            self._door._count(self, -1)

    def leave(self) -> None:
        """Take note that the connection is no more; the second time does nothing."""
        self.finish()
        if not self._left:
            self._left = True
            self._door._add(self._door._of_address, self._address, -1)

    def _admit(self, name: str) -> None:
        door, limits = self._door, self._door.limits
        if door.sessions >= limits.sessions:
            raise RefusedError("sessions", "too many sessions; try again later")
        if name != NOBODY and door._of_name[name] >= limits.sessions_of_token:
            raise RefusedError("token_sessions", "too many sessions with your token")
        door._count(self, -1)
        self.name = name
        door._count(self, +1)


def visitor(host: str, name: str = "") -> Hashable:
    """Return whose something is: a name's, or an address's where there is none."""
    return ("address", group(host)) if name in ("", NOBODY) else ("name", name)


def group(host: str) -> str:
    """Return what counts as one address: an IPv6 network of 64 bits is one customer's."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if address.version == 4:
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((address, 64), strict=False))
