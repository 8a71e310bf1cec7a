"""Whether the broker is there, for a program that needs it and does not wait for ever."""

import asyncio
import contextlib
import time
from collections.abc import Callable
from typing import Any

from protocols.mqtt.broker import Broker

BROKER_TIMEOUT_S = 60.0

Notify = Callable[[str], None]


class BrokerLostError(Exception):
    """A broker that stayed away for longer than we wait; the message names it."""


class PeerPresence:
    """Whether somebody is there, and for how long they were not."""

    def __init__(self) -> None:
        """Begin absent."""
        self._absent_total = 0.0
        self._absent_since: float | None = time.monotonic()
        self._next_change: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @property
    def present(self) -> bool:
        """Whether they are there."""
        return self._absent_since is None

    @property
    def absent_seconds(self) -> float:
        """How many seconds in all they were not."""
        return self._absent_total + (
            0.0 if self._absent_since is None else time.monotonic() - self._absent_since
        )

    @property
    def changed(self) -> asyncio.Future[None]:
        """Done when they next come or go."""
        return self._next_change

    def set_absent(self, when: float) -> None:
        """Count them as absent since a time of time.monotonic()."""
        if self._absent_since is None:
            self._absent_since = when
            self._notify_change()

    def set_present(self) -> None:
        """Count them as there."""
        if self._absent_since is not None:
            self._absent_total += time.monotonic() - self._absent_since
            self._absent_since = None
            self._notify_change()

    def _notify_change(self) -> None:
        changed, self._next_change = self._next_change, self._next_change.get_loop().create_future()
        if not changed.done():
            changed.set_result(None)


class PausableStopwatch:
    """Runs only while somebody is there."""

    def __init__(self, presence: PeerPresence) -> None:
        self._presence = presence
        self._began = time.monotonic()
        self._absent_total = presence.absent_seconds

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        absent = self._presence.absent_seconds - self._absent_total
        return max(0.0, time.monotonic() - self._began - absent)


class BrokerMonitor:
    """Follows a connection from the loop of the program, and tells a person of its breaks.

    `report` is the connection's `on_link`. tell: takes sentences. patience: seconds that the
    broker may be away, from the beginning or since it left.
    """

    def __init__(
        self, broker: Broker, *, patience: float = BROKER_TIMEOUT_S, tell: Notify | None = None
    ):
        self._loop = asyncio.get_running_loop()
        self._broker = broker
        self._timeout = patience
        self._notify = tell or _ignore
        self._absent_since = time.monotonic()
        self._problem = "no connection yet"
        self._loss_reported = False
        self.presence = PeerPresence()
        self.on_change: Callable[[bool, float], None] | None = None

    def on_connection_change(self, there: bool, problem: str, since: float) -> None:
        """Take a connection's word, in its thread."""
        self.call_in_loop(self._update, there, problem, since)

    def call_in_loop(self, action: Callable[..., None], *arguments: Any) -> None:
        """Have something done in the program's loop, if that still runs."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(action, *arguments)

    async def wait_for_broker(self) -> None:
        """Return when the broker is there; BrokerLostError when it has been waited for in vain."""
        deadline = time.monotonic() + self._timeout
        while not self.presence.present:
            await self._wait((self.presence.changed,), deadline)

    async def watch_for_loss(self) -> None:
        """Raise BrokerLostError once the broker has been away for longer than we wait."""
        while True:
            await self._wait((self.presence.changed,), self._deadline())

    async def wait_for(
        self,
        future: "asyncio.Future[Any]",
        presence: PeerPresence,
        watch: PausableStopwatch,
        limit: float,
    ) -> None:
        """Return when the future is done.

        TimeoutError: it is not after `limit` seconds of a watch that heeds somebody's presence;
        BrokerLostError: the broker is lost before.
        """
        while not future.done():
            if (deadline := self._deadline()) is None and presence.present:
                deadline = time.monotonic() + limit - watch.elapsed
                if watch.elapsed >= limit:
                    raise TimeoutError
            changes = (future, presence.changed, self.presence.changed)
            await self._wait(changes, deadline)

    def _deadline(self) -> float | None:
        return None if self.presence.present else self._absent_since + self._timeout

    async def _wait(
        self, futures: "tuple[asyncio.Future[Any], ...]", deadline: float | None
    ) -> None:
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0 and not self.presence.present:
            raise BrokerLostError(
                f"broker {self._broker} stayed away for {self._timeout:g} s: {self._problem}"
            )
        await asyncio.wait(futures, timeout=left, return_when=asyncio.FIRST_COMPLETED)

    def _update(self, there: bool, problem: str, since: float) -> None:
        if there:
            if self._loss_reported:
                away = time.monotonic() - self._absent_since
                self._notify(f"broker {self._broker} is there, after {away:.1f} s")
            self._loss_reported = False
            self.presence.set_present()
        else:
            if self.presence.present:
                self._absent_since = since
            self._problem = problem
            self._loss_reported = True
            self._notify(
                f"broker {self._broker} is away: {problem}; waiting for it, "
                f"{self._timeout:g} s at most"
            )
            self.presence.set_absent(since)
        if self.on_change is not None:
            self.on_change(there, since)


def _ignore(text: str) -> None:
    """Take what nobody wants to know."""
