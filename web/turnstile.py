"""What takes a visitor's request long is done one after the other, so that others are served."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager

from protocols.server.door import RefusedError

# So much of one visitor's is done, or waits for its turn; a page that is in a hurry asks for less.
MOST_ASKED = 16


class Turnstile:
    """Lets each visitor have one thing done at a time."""

    def __init__(self) -> None:
        self._asked: Counter[Hashable] = Counter()
        self._turns: dict[Hashable, asyncio.Lock] = {}

    @asynccontextmanager
    async def turn(self, visitor: Hashable) -> AsyncIterator[None]:
        """Wait for a visitor's turn, and have it for the time of a block.

        Raises RefusedError if too much of his waits already.
        """
        if self._asked[visitor] >= MOST_ASKED:
            raise RefusedError("busy", "too much is asked for at once; wait a little", 1.0)
        self._asked[visitor] += 1
        try:
            async with self._turns.setdefault(visitor, asyncio.Lock()):
                yield
        finally:
            self._asked[visitor] -= 1
            if not self._asked[visitor]:
                del self._asked[visitor], self._turns[visitor]
