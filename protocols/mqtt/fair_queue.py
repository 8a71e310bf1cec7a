import asyncio
from collections import OrderedDict, deque
from typing import Generic, TypeVar

# The used time is remembered for this many idle clients.
MAX_IDLE_CLIENTS = 1000

Item = TypeVar("Item")


class FairQueue(Generic[Item]):
    """A bounded queue that serves the client with the least used time first.

    A new or returning client starts with the used time of the client that was served last.
    """

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
        """Add an item. Return the item that was rejected, or None if no limit is exceeded.

        The rejected item is `item` or the newest item of the client with the most items.
        """
        items = self._waiting.get(client, ())
        if len(items) >= self._max_per_client:
            return item
        rejected = None
        if len(self) >= self._max_items:
            busiest = max(self._waiting, key=lambda name: len(self._waiting[name]), default="")
            if len(self._waiting.get(busiest, ())) <= len(items) + 1:
                return item
            rejected = self._waiting[busiest].pop()
        if not items:
            self._waiting[client] = deque()
            self._time_used[client] = max(self._virtual_time, self._time_used.get(client, 0.0))
        self._waiting[client].append(item)
        self._not_empty.set()
        return rejected

    async def get(self) -> tuple[str, Item]:
        """Wait for an item. Return the next client and its oldest item."""
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
        """Add `seconds` to the used time of a client."""
        self._time_used[client] = self._time_used.get(client, self._virtual_time) + seconds
        idle = [name for name in self._time_used if name not in self._waiting]
        for name in idle[: max(0, len(idle) - MAX_IDLE_CLIENTS)]:
            del self._time_used[name]
