"""What takes a visitor's request long is done one after the other, so that others are served."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager

from protocols.server.admission import RejectedError

# So much of one visitor's is done, or waits for its turn; a page that is in a hurry asks for less.
MAX_PENDING = 16


class VisitorLocks:
    """Lets each visitor have one thing done at a time."""

    def __init__(self) -> None:
        self._pending: Counter[Hashable] = Counter()
        self._locks: dict[Hashable, asyncio.Lock] = {}

    @asynccontextmanager
    async def lock(self, visitor: Hashable) -> AsyncIterator[None]:
        """Wait for a visitor's turn, and have it for the time of a block.

        Raises RejectedError if too much of his waits already.
        """
        if self._pending[visitor] >= MAX_PENDING:
            raise RejectedError("busy", "too much is asked for at once; wait a little", 1.0)
        self._pending[visitor] += 1
        try:
            async with self._locks.setdefault(visitor, asyncio.Lock()):
                yield
        finally:
            self._pending[visitor] -= 1
            if not self._pending[visitor]:
                del self._pending[visitor], self._locks[visitor]
