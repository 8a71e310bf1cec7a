"""How much a server gives: to all, to one who has a token, to one address, to one session."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

MIN_LINE_BYTES, MAX_LINE_BYTES = 1 << 10, 4 << 20
# Requests that come at once may be as many as in so many seconds: who opens pages, or many who
# reach us from one address, ask for all their files.
BURST_SECONDS = 20.0
# More visitors who have asked lately are not remembered.
MAX_TRACKED_CLIENTS = 10_000


def _limit(default: float, meaning: str) -> Any:
    return field(default=default, metadata={"meaning": meaning})


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """The limits, each above 0; the meaning of each is what help texts say of it.

    Raises ValueError, with the name of the field, for one that cannot be meant.
    """

    sessions: int = _limit(256, "sessions at once")
    sessions_of_token: int = _limit(64, "of them, of one token")
    sessions_of_address: int = _limit(64, "connections at once from one address")
    line_bytes: int = _limit(64 << 10, "bytes of a line; a longer one is dropped")
    lines_a_second: float = _limit(500.0, "lines of a session a second; further ones wait")
    requests_a_second: float = _limit(
        50.0, "requests of a visitor over HTTP a second; further ones are refused"
    )
    authorising: float = _limit(10.0, "seconds until a client is authorised")
    wrong_tokens: int = _limit(20, "wrong tokens from one address a minute")
    idle: float = _limit(3600.0, "seconds in which a session neither asks nor is told anything")
    longest: float = _limit(86400.0, "seconds that a session lasts")
    hash: int = _limit(64, "megabytes of hash of a session")
    threads: int = _limit(1, "threads that a session searches with")
    hash_in_all: int = _limit(4096, "megabytes of hash of all sessions")
    grace: float = _limit(5.0, "seconds for searches to be answered when the server ends")

    def __post_init__(self) -> None:
        for each in dataclasses.fields(self):
            value = getattr(self, each.name)
            if not 0 < value < math.inf:
                raise ValueError(f"{each.name}: a number above 0 is expected, not {value}")
        if not MIN_LINE_BYTES <= self.line_bytes <= MAX_LINE_BYTES:
            raise ValueError(
                f"line_bytes: {MIN_LINE_BYTES} to {MAX_LINE_BYTES} are possible, not {self.line_bytes}"
            )


class TokenBucket:
    """Lets so many through a second, and at once as many as so many seconds let through."""

    def __init__(self, rate: float, now: float, seconds: float = 2.0) -> None:
        self._rate = rate
        self._capacity = max(seconds * rate, 1.0)
        self._tokens = self._capacity
        self._updated = now

    def reserve(self, now: float) -> float:
        """Take one, and return how many seconds it has to wait for its turn."""
        self._refill(now)
        self._tokens -= 1.0
        return max(-self._tokens / self._rate, 0.0)

    def try_take(self, now: float, cost: float = 1.0) -> float:
        """Take so many if there is one; return in how many seconds there will be one, 0 if so."""
        self._refill(now)
        if self._tokens < 1.0:
            return (1.0 - self._tokens) / self._rate
        self._tokens -= cost
        return 0.0

    def _refill(self, now: float) -> None:
        self._tokens = min(self._tokens + (now - self._updated) * self._rate, self._capacity)
        self._updated = now


class RateLimiter:
    """A bucket for each of many, by whatever they are known by; those of long ago are forgotten."""

    def __init__(self, rate: float, seconds: float) -> None:
        self._rate = rate
        self._seconds = seconds
        self._buckets: dict[Hashable, TokenBucket] = {}

    def try_take(self, key: Hashable, now: float, cost: float = 1.0) -> float:
        """Take so many for somebody, as `Bucket.take` does."""
        bucket = self._buckets.pop(key, None) or TokenBucket(self._rate, now, self._seconds)
        self._buckets[key] = bucket
        if len(self._buckets) > MAX_TRACKED_CLIENTS:
            del self._buckets[next(iter(self._buckets))]
        return bucket.try_take(now, cost)
