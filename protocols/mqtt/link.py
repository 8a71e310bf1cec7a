"""Whether the broker is there, for a program that needs it and does not wait for ever."""

import asyncio
import contextlib
import time
from collections.abc import Callable
from typing import Any

from protocols.mqtt.broker import Broker

PATIENCE = 60.0

Tell = Callable[[str], None]


class BrokerLostError(Exception):
    """A broker that stayed away for longer than we wait; the message names it."""


class Presence:
    """Whether somebody is there, and for how long they were not."""

    def __init__(self) -> None:
        """Begin absent."""
        self._absent = 0.0
        self._left: float | None = time.monotonic()
        self._changing: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @property
    def there(self) -> bool:
        """Whether they are there."""
        return self._left is None

    @property
    def absent(self) -> float:
        """How many seconds in all they were not."""
        return self._absent + (0.0 if self._left is None else time.monotonic() - self._left)

    @property
    def changed(self) -> asyncio.Future[None]:
        """Done when they next come or go."""
        return self._changing

    def leave(self, when: float) -> None:
        """Count them as absent since a time of time.monotonic()."""
        if self._left is None:
            self._left = when
            self._change()

    def come(self) -> None:
        """Count them as there."""
        if self._left is not None:
            self._absent += time.monotonic() - self._left
            self._left = None
            self._change()

    def _change(self) -> None:
        changed, self._changing = self._changing, self._changing.get_loop().create_future()
        if not changed.done():
            changed.set_result(None)


class Stopwatch:
    """Runs only while somebody is there."""

    def __init__(self, presence: Presence) -> None:
        self._presence = presence
        self._began = time.monotonic()
        self._absent = presence.absent

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        absent = self._presence.absent - self._absent
        return max(0.0, time.monotonic() - self._began - absent)


class Link:
    """Follows a connection from the loop of the program, and tells a person of its breaks.

    `report` is the connection's `on_link`. tell: takes sentences. patience: seconds that the
    broker may be away, from the beginning or since it left.
    """

    def __init__(self, broker: Broker, *, patience: float = PATIENCE, tell: Tell | None = None):
        self._loop = asyncio.get_running_loop()
        self._broker = broker
        self._patience = patience
        self._tell = tell or _say_nothing
        self._left = time.monotonic()
        self._problem = "no connection yet"
        self._complained = False
        self.presence = Presence()
        self.on_change: Callable[[bool, float], None] | None = None

    def report(self, there: bool, problem: str, since: float) -> None:
        """Take a connection's word, in its thread."""
        self.post(self._update, there, problem, since)

    def post(self, action: Callable[..., None], *arguments: Any) -> None:
        """Have something done in the program's loop, if that still runs."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(action, *arguments)

    async def wait_for_broker(self) -> None:
        """Return when the broker is there; BrokerLostError when it has been waited for in vain."""
        deadline = time.monotonic() + self._patience
        while not self.presence.there:
            await self._wait((self.presence.changed,), deadline)

    async def wait_for_loss(self) -> None:
        """Raise BrokerLostError once the broker has been away for longer than we wait."""
        while True:
            await self._wait((self.presence.changed,), self._deadline())

    async def wait_for(
        self, future: "asyncio.Future[Any]", presence: Presence, watch: Stopwatch, limit: float
    ) -> None:
        """Return when the future is done.

        TimeoutError: it is not after `limit` seconds of a watch that heeds somebody's presence;
        BrokerLostError: the broker is lost before.
        """
        while not future.done():
            if (deadline := self._deadline()) is None and presence.there:
                deadline = time.monotonic() + limit - watch.elapsed
                if watch.elapsed >= limit:
                    raise TimeoutError
            changes = (future, presence.changed, self.presence.changed)
            await self._wait(changes, deadline)

    def _deadline(self) -> float | None:
        return None if self.presence.there else self._left + self._patience

    async def _wait(
        self, futures: "tuple[asyncio.Future[Any], ...]", deadline: float | None
    ) -> None:
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0 and not self.presence.there:
            raise BrokerLostError(
                f"broker {self._broker} stayed away for {self._patience:g} s: {self._problem}"
            )
        await asyncio.wait(futures, timeout=left, return_when=asyncio.FIRST_COMPLETED)

    def _update(self, there: bool, problem: str, since: float) -> None:
        if there:
            if self._complained:
                away = time.monotonic() - self._left
                self._tell(f"broker {self._broker} is there, after {away:.1f} s")
            self._complained = False
            self.presence.come()
        else:
            if self.presence.there:
                self._left = since
            self._problem = problem
            self._complained = True
            self._tell(
                f"broker {self._broker} is away: {problem}; waiting for it, "
                f"{self._patience:g} s at most"
            )
            self.presence.leave(since)
        if self.on_change is not None:
            self.on_change(there, since)


def _say_nothing(text: str) -> None:
    """Take what nobody wants to know."""
