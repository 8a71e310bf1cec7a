"""Who is let in: how many, with which tokens, and what they are told who are not."""

from __future__ import annotations

import ipaddress
import time
from collections import Counter, deque
from collections.abc import Hashable

from protocols.server.limits import BURST_SECONDS, MAX_TRACKED_CLIENTS, RateLimiter, ServerLimits
from protocols.server.tokens import TokenFile

AUTH_FAILURE_WINDOW_S = 60.0
# Who is refused may stay for the answer, but so many times as many connections are cut off.
HARD_LIMIT_FACTOR = 2
ANONYMOUS = "-"  # the name of all where no tokens are asked for


class RejectedError(Exception):
    """Somebody is not let in. The text is the reason; `kind` a word for it, to be counted by.

    seconds: after which it makes sense to try again, 0.0 where nobody knows.
    """

    def __init__(self, kind: str, reason: str, seconds: float = 0.0) -> None:
        super().__init__(reason)
        self.code = kind
        self.retry_after = seconds


class AdmissionControl:
    """Counts who is in. tokens: None lets everybody in without one."""

    def __init__(self, limits: ServerLimits, tokens: TokenFile | None) -> None:
        self.limits = limits
        self.tokens = tokens
        self.sessions = 0
        self.waiting = 0
        self._per_address: Counter[str] = Counter()
        self._per_name: Counter[str] = Counter()
        self._auth_failures: dict[str, deque[float]] = {}
        self._request_limiter = RateLimiter(limits.requests_a_second, BURST_SECONDS)

    def open_slot(self, host: str) -> ConnectionSlot:
        """Take note of a connection from a host, which is to `leave` in the end."""
        return ConnectionSlot(self, address_group(host))

    def charge_request(self, visitor: Hashable, cost: float = 1.0) -> None:
        """Count a request over HTTP, or what costs as many; RejectedError if they are too many."""
        if seconds := self._request_limiter.try_take(visitor, time.monotonic(), cost):
            raise RejectedError("requests", "too many requests; wait a little", seconds)

    def authenticate(self, token: str, address: str) -> str:
        """Return whose token it is. Raises RejectedError."""
        self._check_auth_failures(address)
        assert self.tokens is not None
        if (name := self.tokens.find_name(token)) is not None:
            return name
        while len(self._auth_failures) >= MAX_TRACKED_CLIENTS:
            del self._auth_failures[next(iter(self._auth_failures))]
        self._auth_failures.setdefault(address, deque()).append(time.monotonic())
        raise RejectedError("token", "wrong token")

    def _check_auth_failures(self, address: str) -> None:
        """Refuse whoever has sent too many wrong tokens in the last minute."""
        times = self._auth_failures.get(address)
        if times is None:
            return
        since = time.monotonic() - AUTH_FAILURE_WINDOW_S
        while times and times[0] < since:
            times.popleft()
        if not times:
            del self._auth_failures[address]
        elif len(times) >= self.limits.wrong_tokens:
            raise RejectedError(
                "attempts", "too many wrong tokens from your address; wait a minute"
            )

    def _count(self, slot: ConnectionSlot, delta: int) -> None:
        if slot.name is None:
            self.waiting += delta
        else:
            self.sessions += delta
            self._add(self._per_name, slot.name, delta)

    @staticmethod
    def _add(counter: Counter[str], key: str, delta: int) -> None:
        counter[key] += delta
        if not counter[key]:
            del counter[key]


class ConnectionSlot:
    """One connection, as the door counts it."""

    def __init__(self, admission: AdmissionControl, address: str) -> None:
        self.name: str | None = None
        self._admission = admission
        self._address = address
        self._session_ended = self._closed = False
        admission._count(self, +1)
        admission._add(admission._per_address, address, +1)

    @property
    def over_hard_limit(self) -> bool:
        """Whether there are so many that not even an answer is due."""
        admission, limits = self._admission, self._admission.limits
        most = HARD_LIMIT_FACTOR * limits.sessions_of_address
        return (
            admission._per_address[self._address] > most
            or admission.waiting > HARD_LIMIT_FACTOR * limits.sessions
        )

    def check_limits(self) -> None:
        """Raise RejectedError if there are too many connections."""
        admission, limits = self._admission, self._admission.limits
        if admission._per_address[self._address] > limits.sessions_of_address:
            raise RejectedError("address", "too many sessions from your address")
        if admission.waiting > limits.sessions:
            raise RejectedError("sessions", "too many clients wait to be let in")

    def authenticate(self, token: str) -> None:
        """Let the guest in by a token. Raises RejectedError."""
        self._admit(self._admission.authenticate(token, self._address))

    def check_token(self, token: str) -> None:
        """Raise RejectedError unless a token is somebody's; nobody is let in by that."""
        self._admission.authenticate(token, self._address)

    def admit_as(self, name: str) -> None:
        """Let the guest in whose token it was is known by other means. Raises RejectedError."""
        self._admit(name)

    def admit_anonymous(self) -> None:
        """Let the guest in where no tokens are asked for. Raises RejectedError."""
        self._admit(ANONYMOUS)

    def end_session(self) -> None:
        """Take note that the session is over, and the connection about to end."""
        if not self._session_ended:
            self._session_ended = True
            self._admission._count(self, -1)

    def close(self) -> None:
        """Take note that the connection is no more; the second time does nothing."""
        self.end_session()
        if not self._closed:
            self._closed = True
            self._admission._add(self._admission._per_address, self._address, -1)

    def _admit(self, name: str) -> None:
        admission, limits = self._admission, self._admission.limits
        if admission.sessions >= limits.sessions:
            raise RejectedError("sessions", "too many sessions; try again later")
        if name != ANONYMOUS and admission._per_name[name] >= limits.sessions_of_token:
            raise RejectedError("token_sessions", "too many sessions with your token")
        admission._count(self, -1)
        self.name = name
        admission._count(self, +1)


def client_key(host: str, name: str = "") -> Hashable:
    """Return whose something is: a name's, or an address's where there is none."""
    return ("address", address_group(host)) if name in ("", ANONYMOUS) else ("name", name)


def address_group(host: str) -> str:
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
