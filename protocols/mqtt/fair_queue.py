"""A bounded queue that is fair to its clients.

The next turn is that of the client that has had the least time so far. Who comes new, or back
after a rest, begins with as much as the client has that was served last: rest earns nothing.
"""

import asyncio
from collections import OrderedDict, deque
from typing import Generic, TypeVar

# Of so many clients, none of which waits, the time is remembered.
MAX_IDLE_CLIENTS = 1000

Item = TypeVar("Item")


class FairQueue(Generic[Item]):
    """Items of clients, `most` in all and `max_per_client` of one client."""

    def __init__(self, max_items: int, max_per_client: int) -> None:
        self._max_items = max_items
        self._max_per_client = max_per_client
        self._waiting: dict[str, deque[Item]] = {}
        self._time_used: OrderedDict[str, float] = OrderedDict()
        self._virtual_time = 0.0
        self._not_empty = asyncio.Event()

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    def put(self, client: str, item: Item) -> Item | None:
        """Add an item; return the one that finds no place: it, or one of who has the most."""
        own = self._waiting.get(client, ())
        if len(own) >= self._max_per_client:
            return item
        rejected = None
        if len(self) >= self._max_items:
            greediest = max(self._waiting, key=lambda name: len(self._waiting[name]), default="")
            if len(self._waiting.get(greediest, ())) <= len(own) + 1:
                return item
            rejected = self._waiting[greediest].pop()
        if not own:
            self._waiting[client] = deque()
            self._time_used[client] = max(self._virtual_time, self._time_used.get(client, 0.0))
        self._waiting[client].append(item)
        self._not_empty.set()
        return rejected

    async def get(self) -> tuple[str, Item]:
        """Return whose turn it is and the oldest of their items, once there is one."""
        while not self._waiting:
            self._not_empty.clear()
            await self._not_empty.wait()
        client = min(self._waiting, key=lambda name: self._time_used[name])
        item = self._waiting[client].popleft()
        if not self._waiting[client]:
            del self._waiting[client]
        self._virtual_time = max(self._virtual_time, self._time_used[client])
        self._time_used.move_to_end(client)
        return client, item

    def charge(self, client: str, seconds: float) -> None:
        """Count what a client's turn took."""
        self._time_used[client] = self._time_used.get(client, self._virtual_time) + seconds
        idle = [name for name in self._time_used if name not in self._waiting]
        for name in idle[: max(0, len(idle) - MAX_IDLE_CLIENTS)]:
            del self._time_used[name]
