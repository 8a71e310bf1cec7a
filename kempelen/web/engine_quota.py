from __future__ import annotations

from collections import Counter

from protocols.client.process import EngineError
from protocols.server.admission import ANONYMOUS
from protocols.server.limits import ServerLimits


class EngineQuota:
    """Limits the number of running engines to the server's session limits."""

    def __init__(self, limits: ServerLimits) -> None:
        self._limits = limits
        self._counts: Counter[str] = Counter()

    @property
    def total(self) -> int:
        return self._counts.total()

    def acquire(self, visitor: str) -> None:
        """Count one more engine. Raise EngineError if a limit is reached."""
        if self.total >= self._limits.sessions:
            raise EngineError("too many games in progress; try again later")
        # Without tokens, all visitors have the same name.
        if visitor != ANONYMOUS and self._counts[visitor] >= self._limits.max_sessions_per_token:
            raise EngineError("too many of your games are in progress; try again later")
        self._counts[visitor] += 1

    def release(self, visitor: str) -> None:
        self._counts[visitor] -= 1
        if not self._counts[visitor]:
            del self._counts[visitor]
