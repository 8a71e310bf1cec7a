"""How many engines play and give hints now, so that no visitor has all of them."""

from __future__ import annotations

from collections import Counter

from protocols.client.process import EngineError
from protocols.server.admission import ANONYMOUS
from protocols.server.limits import ServerLimits


class EngineQuota:
    """Counts engines, of each visitor and in all; there are as many as sessions at most."""

    def __init__(self, limits: ServerLimits) -> None:
        self._limits = limits
        self._counts: Counter[str] = Counter()

    @property
    def total(self) -> int:
        """How many there are."""
        return self._counts.total()

    def acquire(self, visitor: str) -> None:
        """Count one more, which is to `leave` in the end. Raises EngineError if it is too many."""
        if self.total >= self._limits.sessions:
            raise EngineError("too many games are played here now; try again later")
        # Where no tokens are asked for, all visitors are one.
        if visitor != ANONYMOUS and self._counts[visitor] >= self._limits.sessions_of_token:
            raise EngineError("too many games of yours are played here now; try again later")
        self._counts[visitor] += 1

    def release(self, visitor: str) -> None:
        """Count one less."""
        self._counts[visitor] -= 1
        if not self._counts[visitor]:
            del self._counts[visitor]
