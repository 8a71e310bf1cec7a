"""Admission control with connection limits, tokens and request rates."""

from __future__ import annotations

import ipaddress
import math
import random
import time
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable

from protocols import urls
from protocols.server.limits import BURST_SECONDS, MAX_TRACKED_CLIENTS, RateLimiter, ServerLimits
from protocols.server.tokens import TokenFile

AUTH_FAILURE_WINDOW_S = 60.0
# Clients above a limit get an error message. Above this multiple of the limit, they are
# disconnected without one.
HARD_LIMIT_FACTOR = 2
ANONYMOUS = "-"  # name of all clients of a server without tokens
# Prefix lengths in IPv6. A customer of a provider has at least a /64, and at most a /48.
ADDRESS_PREFIX, NETWORK_PREFIX = 64, 48
DROPPED = "too many clients are waiting for authorization"
# HTTP status by rejection code. For all others, the client may try again later (503).
_HTTP_STATUS = {
    "handshake": 400,
    "token": 401,
    "origin": 403,
    "path": 404,
    "size": 413,
    "host": 421,
    "requests": 429,
}


class RejectedError(Exception):
    """A client is rejected. The message is the reason.

    The metrics use the short key `code`. The value `retry_after` is in seconds, or 0 if unknown.
    """

    def __init__(self, code: str, reason: str, retry_after: float = 0.0) -> None:
        super().__init__(reason)
        self.code = code
        self.http_status = _HTTP_STATUS.get(code, 503)
        self.http_headers = {"Retry-After": str(math.ceil(retry_after))} if retry_after else {}


class AdmissionControl:
    """Counts connections, sessions, wrong tokens and requests, and enforces their limits.

    If `tokens` is None, every client is admitted without a token. Besides the server's own pages,
    web pages from `origins` may use the server.
    """

    def __init__(
        self, limits: ServerLimits, tokens: TokenFile | None, origins: Iterable[str] = ()
    ) -> None:
        self.limits = limits
        self.tokens = tokens
        self._origins = frozenset(origin.lower() for origin in origins)
        self.sessions = 0
        self._waiting: dict[ConnectionSlot, None] = {}
        self._per_address: Counter[str] = Counter()
        self._per_name: Counter[str] = Counter()
        self._auth_failures: dict[str, deque[float]] = {}
        self._request_limiter = RateLimiter(limits.request_rate, BURST_SECONDS)

    @property
    def waiting(self) -> int:
        """The number of connections whose clients have not been admitted."""
        return len(self._waiting)

    def open_slot(self, host: str, drop: Callable[[], bool] | None = None) -> ConnectionSlot:
        """Count a new connection. The caller must close the slot when the connection ends.

        The function `drop` disconnects the client, unless it is busy, and returns whether it did.
        It is called if the server needs room for another connection before the client is admitted.
        """
        slot = ConnectionSlot(self, host, drop)
        self._make_room(slot)
        return slot

    def _make_room(self, newcomer: ConnectionSlot) -> None:
        """Drop a random waiting connection if the newcomer's address or the server has too many.

        Thus strangers who only wait cannot keep out a client that sends its token immediately. Of
        the server's connections, one of the network with most of them is dropped.
        """
        if self._per_address[newcomer.address] > self.limits.max_sessions_per_ip:
            crowd = [slot for slot in self._waiting if slot.address == newcomer.address]
        elif self.waiting > self.limits.sessions:
            counts = Counter(slot.network for slot in self._waiting)
            most = max(counts.values())
            crowd = [slot for slot in self._waiting if counts[slot.network] == most]
        else:
            return
        random.shuffle(crowd)
        for slot in crowd:
            if slot is not newcomer and slot.drop():
                break

    def charge_request(self, visitor: Hashable, cost: float = 1.0) -> None:
        """Count `cost` requests by a visitor. Raise RejectedError if there are too many."""
        if seconds := self._request_limiter.try_take(visitor, time.monotonic(), cost):
            raise RejectedError("requests", "too many requests; try again later", seconds)

    def is_trusted_host(self, host: str) -> bool:
        """Return whether the value of a Host header may name this server.

        Without tokens, it must be an IP address or localhost, to prevent DNS rebinding.
        """
        name = urls.split_url_leniently(f"//{host}").hostname
        if self.tokens is not None or name == "localhost":
            return True
        try:
            return bool(name and ipaddress.ip_address(name))
        except ValueError:
            return False

    def check_origin(self, origins: Iterable[str], hosts: Iterable[str]) -> None:
        """Raise RejectedError if a web page from another origin makes the request.

        The arguments are the Origin and Host headers. Programs send no Origin header.
        """
        own_hosts = {host.lower() for host in hosts if self.is_trusted_host(host)}
        for origin in origins:
            host = urls.split_url_leniently(origin).netloc.lower()
            if host not in own_hosts and origin.lower() not in self._origins:
                raise RejectedError("origin", "requests from this origin are not allowed")

    def is_foreign(
        self, origins: Iterable[str], hosts: Iterable[str], sites: Iterable[str]
    ) -> bool:
        """Return whether a page of another site makes the request, in the browser of a user.

        The arguments are the Origin, Host and Sec-Fetch-Site headers. Requests for images and
        scripts have no Origin header. Source: W3C 'Fetch Metadata Request Headers'.
        """
        origins, hosts = list(origins), list(hosts)
        try:
            self.check_origin(origins, hosts)
        except RejectedError:
            return True
        if not all(map(self.is_trusted_host, hosts)):
            return True
        return not origins and any(site not in ("same-origin", "none") for site in sites)

    def authenticate(self, token: str, address: str) -> str:
        """Return the name of a token's owner.

        Raise RejectedError if the token is wrong or the address has sent too many wrong tokens.
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
            if delta > 0:
                self._waiting[slot] = None
            else:
                del self._waiting[slot]
        else:
            self.sessions += delta
            self._add(self._per_name, slot.name, delta)

    @staticmethod
    def _add(counter: Counter[str], key: str, delta: int) -> None:
        counter[key] += delta
        if not counter[key]:
            del counter[key]


class ConnectionSlot:
    """A counted connection. It counts as waiting until the client is admitted."""

    def __init__(
        self, admission: AdmissionControl, host: str, drop: Callable[[], bool] | None
    ) -> None:
        self.name: str | None = None
        self.address = address_group(host)
        self.network = address_group(host, NETWORK_PREFIX)
        self.dropped = False
        self._admission = admission
        self._drop = drop
        self._session_ended = self._closed = False
        admission._count(self, +1)
        admission._add(admission._per_address, self.address, +1)

    def drop(self) -> bool:
        """Disconnect the client to make room, unless it is busy. Return whether it was dropped.

        Its slot is free at once, before the event loop reports that the connection has ended.
        """
        if self._drop is not None and self._drop():
            self.dropped = True
            self.close()
        return self.dropped

    @property
    def over_hard_limit(self) -> bool:
        """Whether the client must be disconnected without an error message."""
        admission, limits = self._admission, self._admission.limits
        hard_limit = HARD_LIMIT_FACTOR * limits.max_sessions_per_ip
        return (
            admission._per_address[self.address] > hard_limit
            or admission.waiting > HARD_LIMIT_FACTOR * limits.sessions
        )

    def check_limits(self) -> None:
        """Raise RejectedError if the address or the server has too many connections."""
        admission, limits = self._admission, self._admission.limits
        if admission._per_address[self.address] > limits.max_sessions_per_ip:
            raise RejectedError("address", "too many sessions from your address")
        if admission.waiting > limits.sessions:
            raise RejectedError("sessions", DROPPED)

    def authenticate(self, token: str) -> None:
        """Admit a token's owner. Raise RejectedError for a wrong token or too many sessions."""
        self.admit(self._admission.authenticate(token, self.address))

    def check_token(self, token: str) -> None:
        """Raise RejectedError if the token is wrong. Does not admit the client."""
        self._admission.authenticate(token, self.address)

    def admit(self, name: str) -> None:
        """Admit an authenticated user or ANONYMOUS. Raise RejectedError for too many sessions."""
        admission, limits = self._admission, self._admission.limits
        if self.dropped:
            raise RejectedError("crowd", DROPPED)
        if self._session_ended:
            raise RejectedError("lost", "the connection has ended")
        if admission.sessions >= limits.sessions:
            raise RejectedError("sessions", "too many sessions; try again later")
        if name != ANONYMOUS and admission._per_name[name] >= limits.max_sessions_per_token:
            raise RejectedError("token_sessions", "too many sessions with your token")
        admission._count(self, -1)
        self.name = name
        admission._count(self, +1)

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
            self._admission._add(self._admission._per_address, self.address, -1)


def bearer_token(headers: Iterable[str]) -> str | None:
    """Return the token in a request's Authorization headers."""
    for value in headers:
        scheme, _, token = value.partition(" ")
        if scheme.lower() == "bearer":
            return token.strip()
    return None


def client_key(host: str, name: str = "", *, foreign: bool = False) -> Hashable:
    """Return the key for a client's rate limit, which is the user name or the address group.

    Requests by `foreign` pages do not count against the user whose browser shows them.
    """
    key = ("address", address_group(host)) if name in ("", ANONYMOUS) else ("name", name)
    return ("foreign", *key) if foreign else key


def address_group(host: str, prefix: int = ADDRESS_PREFIX) -> str:
    """Return the IPv4 address or the IPv6 network that shares a connection limit."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if address.version == 4:
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((address, prefix), strict=False))
