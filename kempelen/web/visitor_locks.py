from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager

from protocols.server.admission import RejectedError

# Maximum number of running and waiting requests per visitor. Even a busy page stays below it.
MAX_PENDING = 16


class VisitorLocks:
    """One lock per visitor, so that slow requests of one visitor do not delay other visitors."""

    def __init__(self) -> None:
        self._pending: Counter[Hashable] = Counter()
        self._locks: dict[Hashable, asyncio.Lock] = {}

    @asynccontextmanager
    async def lock(
        self, visitor: Hashable, max_pending: float = MAX_PENDING
    ) -> AsyncIterator[None]:
        """Hold the visitor's lock. Raise RejectedError if `max_pending` requests are pending."""
        if self._pending[visitor] >= max_pending:
            raise RejectedError("busy", "too many requests at once; try again later", 1.0)
        self._pending[visitor] += 1
        try:
            async with self._locks.setdefault(visitor, asyncio.Lock()):
                yield
        finally:
            self._pending[visitor] -= 1
            if not self._pending[visitor]:
                del self._pending[visitor], self._locks[visitor]
