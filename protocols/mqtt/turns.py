"""A bounded queue that is fair to its clients.

The next turn is that of the client that has had the least time so far. Who comes new, or back
after a rest, begins with as much as the client has that was served last: rest earns nothing.
"""

import asyncio
from collections import OrderedDict, deque
from typing import Generic, TypeVar

# Of so many clients, none of which waits, the time is remembered.
REMEMBERED = 1000

Item = TypeVar("Item")


class FairQueue(Generic[Item]):
    """Items of clients, `most` in all and `most_each` of one client."""

    def __init__(self, most: int, most_each: int) -> None:
        self._most = most
        self._most_each = most_each
        self._waiting: dict[str, deque[Item]] = {}
        self._spent: OrderedDict[str, float] = OrderedDict()
        self._now = 0.0
        self._some = asyncio.Event()

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    def put(self, client: str, item: Item) -> Item | None:
        """Add an item; return the one that finds no place: it, or one of who has the most."""
        own = self._waiting.get(client, ())
        if len(own) >= self._most_each:
            return item
        turned_away = None
        if len(self) >= self._most:
            greediest = max(self._waiting, key=lambda name: len(self._waiting[name]), default="")
            if len(self._waiting.get(greediest, ())) <= len(own) + 1:
                return item
            turned_away = self._waiting[greediest].pop()
        if not own:
            self._waiting[client] = deque()
            self._spent[client] = max(self._now, self._spent.get(client, 0.0))
        self._waiting[client].append(item)
        self._some.set()
        return turned_away

    async def get(self) -> tuple[str, Item]:
        """Return whose turn it is and the oldest of their items, once there is one."""
        while not self._waiting:
            self._some.clear()
            await self._some.wait()
        client = min(self._waiting, key=lambda name: self._spent[name])
        item = self._waiting[client].popleft()
        if not self._waiting[client]:
            del self._waiting[client]
        self._now = max(self._now, self._spent[client])
        self._spent.move_to_end(client)
        return client, item

    def charge(self, client: str, seconds: float) -> None:
        """Count what a client's turn took."""
        self._spent[client] = self._spent.get(client, self._now) + seconds
        idle = [name for name in self._spent if name not in self._waiting]
        for name in idle[: max(0, len(idle) - REMEMBERED)]:
            del self._spent[name]
