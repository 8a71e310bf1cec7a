"""Limits of the server, and token buckets that enforce rates."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

from agent.machine import usable_memory

MIN_LINE_BYTES, MAX_LINE_BYTES = 1 << 10, 4 << 20
# A longer line counts as several lines.
CHARACTERS_PER_LINE = 1 << 10
# A web page loads all its files at once, and many users may share one address.
BURST_SECONDS = 20.0
# Maximum number of remembered clients. The least recently seen are dropped.
MAX_TRACKED_CLIENTS = 10_000


def _limit(default: float, meaning: str) -> Any:
    return field(default=default, metadata={"meaning": meaning})


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """The limits of the server. The metadata key `meaning` of each field is its help text.

    The constructor raises ValueError if a limit is invalid.
    """

    sessions: int = _limit(256, "maximum number of sessions")
    max_sessions_per_token: int = _limit(64, "maximum number of sessions per token")
    max_sessions_per_ip: int = _limit(64, "maximum number of connections per IP address")
    line_bytes: int = _limit(64 << 10, "maximum line length in bytes; longer lines are dropped")
    line_rate: float = _limit(
        500.0,
        "maximum lines per second per session, in which each 1024 characters count as a line; "
        "excess lines are delayed",
    )
    request_rate: float = _limit(
        50.0, "maximum HTTP requests per second per visitor; excess requests are rejected"
    )
    auth_timeout: float = _limit(10.0, "authorization timeout in seconds")
    max_auth_failures: int = _limit(20, "maximum number of wrong tokens per minute and IP address")
    idle_timeout: float = _limit(3600.0, "idle timeout of a session in seconds")
    max_session: float = _limit(86400.0, "maximum duration of a session in seconds")
    hash: int = _limit(64, "maximum hash size per session in MB")
    threads: int = _limit(1, "maximum number of search threads per session")
    total_hash: int = _limit(4096, "maximum total hash size of all sessions in MB")
    shutdown_timeout: float = _limit(5.0, "time in seconds for running searches at shutdown")

    def __post_init__(self) -> None:
        for limit in dataclasses.fields(self):
            value = getattr(self, limit.name)
            if not 0 < value < math.inf:
                raise ValueError(f"{limit.name}: must be above 0 (got {value:g})")
        if not MIN_LINE_BYTES <= self.line_bytes <= MAX_LINE_BYTES:
            raise ValueError(
                f"line_bytes: must be {MIN_LINE_BYTES} to {MAX_LINE_BYTES} (got {self.line_bytes})"
            )

    @property
    def usable_hash(self) -> int:
        """`total_hash`, limited to half of the memory of this process."""
        return max(int(min(self.total_hash, usable_memory() / 2 / (1 << 20))), 1)


class TokenBucket:
    """A token bucket with `rate` tokens per second and bursts of up to `rate * seconds` tokens."""

    def __init__(self, rate: float, now: float, seconds: float = 2.0) -> None:
        self._rate = rate
        self._capacity = max(seconds * rate, 1.0)
        self._tokens = self._capacity
        self._updated = now

    def reserve(self, now: float, cost: float = 1.0) -> float:
        """Take `cost` tokens. Return the seconds to wait before they may be used.

        A negative `cost` returns tokens.
        """
        self._refill(now)
        self._tokens -= cost
        return max(-self._tokens / self._rate, 0.0)

    def try_take(self, now: float, cost: float = 1.0) -> float:
        """Take `cost` tokens and return 0 if at least one token is available.

        Otherwise, return the seconds until a token is available. The balance may become negative.
        """
        self._refill(now)
        if self._tokens < 1.0:
            return (1.0 - self._tokens) / self._rate
        self._tokens -= cost
        return 0.0

    def _refill(self, now: float) -> None:
        self._tokens = min(self._tokens + (now - self._updated) * self._rate, self._capacity)
        self._updated = now


class RateLimiter:
    """One token bucket per client. The least recently used buckets are dropped."""

    def __init__(self, rate: float, seconds: float) -> None:
        self._rate = rate
        self._seconds = seconds
        self._buckets: dict[Hashable, TokenBucket] = {}

    def try_take(self, key: Hashable, now: float, cost: float = 1.0) -> float:
        """Call `TokenBucket.try_take` for the client with the key `key`."""
        return self._bucket(key, now).try_take(now, cost)

    def reserve(self, key: Hashable, now: float, cost: float) -> float:
        """Call `TokenBucket.reserve` for the client with the key `key`."""
        return self._bucket(key, now).reserve(now, cost)

    def _bucket(self, key: Hashable, now: float) -> TokenBucket:
        bucket = self._buckets.pop(key, None) or TokenBucket(self._rate, now, self._seconds)
        self._buckets[key] = bucket
        if len(self._buckets) > MAX_TRACKED_CLIENTS:
            del self._buckets[next(iter(self._buckets))]
        return bucket
