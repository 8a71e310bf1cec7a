"""Admission control with connection limits, tokens and request rates."""

from __future__ import annotations

import ipaddress
import time
from collections import Counter, deque
from collections.abc import Hashable

from protocols.server.limits import BURST_SECONDS, MAX_TRACKED_CLIENTS, RateLimiter, ServerLimits
from protocols.server.tokens import TokenFile

AUTH_FAILURE_WINDOW_S = 60.0
# Clients above a limit get an error message. Above this multiple of the limit, they are
# disconnected without one.
HARD_LIMIT_FACTOR = 2
ANONYMOUS = "-"  # name of all clients of a server without tokens


class RejectedError(Exception):
    """A client is rejected. The message is the reason.

    The metrics use the short key `code`. The field `retry_after` is the number of seconds after
    which a retry may succeed, or 0 if that is unknown.
    """

    def __init__(self, code: str, reason: str, retry_after: float = 0.0) -> None:
        super().__init__(reason)
        self.code = code
        self.retry_after = retry_after


class AdmissionControl:
    """A counter of connections and sessions that enforces their limits.

    If the token file `tokens` is None, every client is admitted without a token.
    """

    def __init__(self, limits: ServerLimits, tokens: TokenFile | None) -> None:
        self.limits = limits
        self.tokens = tokens
        self.sessions = 0
        self.waiting = 0
        self._per_address: Counter[str] = Counter()
        self._per_name: Counter[str] = Counter()
        self._auth_failures: dict[str, deque[float]] = {}
        self._request_limiter = RateLimiter(limits.request_rate, BURST_SECONDS)

    def open_slot(self, host: str) -> ConnectionSlot:
        """Count a new connection from a host.

        The caller must close the returned slot when the connection ends.
        """
        return ConnectionSlot(self, address_group(host))

    def charge_request(self, visitor: Hashable, cost: float = 1.0) -> None:
        """Charge a visitor for `cost` requests.

        Raise RejectedError if the request rate is exceeded.
        """
        if seconds := self._request_limiter.try_take(visitor, time.monotonic(), cost):
            raise RejectedError("requests", "too many requests; try again later", seconds)

    def authenticate(self, token: str, address: str) -> str:
        """Return the name of a token's owner.

        Wrong tokens are counted for the client's address `address`. Raise RejectedError if the
        token is wrong or the address has sent too many wrong tokens.
        """
        self._check_auth_failures(address)
        assert self.tokens is not None
        if (name := self.tokens.find_name(token)) is not None:
            return name
        while len(self._auth_failures) >= MAX_TRACKED_CLIENTS:
            del self._auth_failures[next(iter(self._auth_failures))]
        self._auth_failures.setdefault(address, deque()).append(time.monotonic())
        raise RejectedError("token", "wrong token")

    def _check_auth_failures(self, address: str) -> None:
        """Raise RejectedError if an address sent too many wrong tokens in the last minute."""
        times = self._auth_failures.get(address)
        if times is None:
            return
        since = time.monotonic() - AUTH_FAILURE_WINDOW_S
        while times and times[0] < since:
            times.popleft()
        if not times:
            del self._auth_failures[address]
        elif len(times) >= self.limits.max_auth_failures:
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
    """A counted connection. The connection counts as waiting until its client has a session."""

    def __init__(self, admission: AdmissionControl, address: str) -> None:
        self.name: str | None = None
        self._admission = admission
        self._address = address
        self._session_ended = self._closed = False
        admission._count(self, +1)
        admission._add(admission._per_address, address, +1)

    @property
    def over_hard_limit(self) -> bool:
        """Whether a hard limit is exceeded, so that the client is rejected without a message."""
        admission, limits = self._admission, self._admission.limits
        hard_limit = HARD_LIMIT_FACTOR * limits.max_sessions_per_ip
        return (
            admission._per_address[self._address] > hard_limit
            or admission.waiting > HARD_LIMIT_FACTOR * limits.sessions
        )

    def check_limits(self) -> None:
        """Raise RejectedError if the address or the server has too many connections."""
        admission, limits = self._admission, self._admission.limits
        if admission._per_address[self._address] > limits.max_sessions_per_ip:
            raise RejectedError("address", "too many sessions from your address")
        if admission.waiting > limits.sessions:
            raise RejectedError("sessions", "too many clients are waiting for authorization")

    def authenticate(self, token: str) -> None:
        """Admit the client as the owner of a token.

        Raise RejectedError if the token is wrong or a session limit is reached.
        """
        self._admit(self._admission.authenticate(token, self._address))

    def check_token(self, token: str) -> None:
        """Raise RejectedError if the token is wrong. The client is not admitted yet."""
        self._admission.authenticate(token, self._address)

    def admit_as(self, name: str) -> None:
        """Admit a client that is already authenticated.

        Raise RejectedError if a session limit is reached.
        """
        self._admit(name)

    def admit_anonymous(self) -> None:
        """Admit a client to a server that has no tokens.

        Raise RejectedError if the session limit is reached.
        """
        self._admit(ANONYMOUS)

    def end_session(self) -> None:
        """Stop counting the session. The connection is counted until `close` is called."""
        if not self._session_ended:
            self._session_ended = True
            self._admission._count(self, -1)

    def close(self) -> None:
        """Stop counting the connection. Idempotent."""
        self.end_session()
        if not self._closed:
            self._closed = True
            self._admission._add(self._admission._per_address, self._address, -1)

    def _admit(self, name: str) -> None:
        admission, limits = self._admission, self._admission.limits
        if admission.sessions >= limits.sessions:
            raise RejectedError("sessions", "too many sessions; try again later")
        if name != ANONYMOUS and admission._per_name[name] >= limits.max_sessions_per_token:
            raise RejectedError("token_sessions", "too many sessions with your token")
        admission._count(self, -1)
        self.name = name
        admission._count(self, +1)


def client_key(host: str, name: str = "") -> Hashable:
    """Return the key for counting a client's limits.

    The key is the user name, or the address group for an anonymous client.
    """
    return ("address", address_group(host)) if name in ("", ANONYMOUS) else ("name", name)


def address_group(host: str) -> str:
    """Return the group in which a host is counted, an IPv4 address or an IPv6 /64 network."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if address.version == 4:
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((address, 64), strict=False))
