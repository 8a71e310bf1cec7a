"""Monitor a broker connection and detect a lost broker."""

import asyncio
import contextlib
import time
from collections.abc import Callable
from typing import Any

from protocols.mqtt.broker import Broker

BROKER_TIMEOUT_S = 60.0

Notify = Callable[[str], None]


class BrokerLostError(Exception):
    """The broker was unreachable for longer than the timeout."""


class PeerPresence:
    """Tracks whether a peer is present, and the total time for which it has been absent."""

    def __init__(self) -> None:
        self._absent_total = 0.0
        self._absent_since: float | None = time.monotonic()
        self._next_change: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @property
    def present(self) -> bool:
        return self._absent_since is None

    @property
    def absent_seconds(self) -> float:
        """The total time of absence in seconds."""
        return self._absent_total + (
            0.0 if self._absent_since is None else time.monotonic() - self._absent_since
        )

    @property
    def changed(self) -> asyncio.Future[None]:
        """A future that is done at the next change of presence."""
        return self._next_change

    def set_absent(self, when: float) -> None:
        """Mark the peer as absent since the monotonic time `when`."""
        if self._absent_since is None:
            self._absent_since = when
            self._notify_change()

    def set_present(self) -> None:
        if self._absent_since is not None:
            self._absent_total += time.monotonic() - self._absent_since
            self._absent_since = None
            self._notify_change()

    def _notify_change(self) -> None:
        changed, self._next_change = self._next_change, self._next_change.get_loop().create_future()
        if not changed.done():
            changed.set_result(None)


class PausableStopwatch:
    """A stopwatch that is paused while a peer is absent."""

    def __init__(self, presence: PeerPresence) -> None:
        self._presence = presence
        self._started = time.monotonic()
        self._absent_total = presence.absent_seconds

    @property
    def elapsed(self) -> float:
        absent = self._presence.absent_seconds - self._absent_total
        return max(0.0, time.monotonic() - self._started - absent)


class BrokerMonitor:
    """Tracks a broker connection in an event loop. A `Connection` calls `on_connection_change`.

    The broker counts as lost after `patience` seconds without a connection.
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

    def on_connection_change(self, connected: bool, problem: str, since: float) -> None:
        """Handle a change of the connection. Thread-safe."""
        self.call_in_loop(self._update, connected, problem, since)

    def call_in_loop(self, action: Callable[..., None], *arguments: Any) -> None:
        """Schedule a call in the event loop, unless the loop is closed. Thread-safe."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(action, *arguments)

    async def wait_for_broker(self) -> None:
        """Wait until the broker is connected. Raise BrokerLostError after the timeout."""
        deadline = time.monotonic() + self._timeout
        while not self.presence.present:
            await self._wait((self.presence.changed,), deadline)

    async def watch_for_loss(self) -> None:
        """Wait until the broker is lost, and raise BrokerLostError."""
        while True:
            await self._wait((self.presence.changed,), self._deadline())

    async def wait_for(
        self,
        future: "asyncio.Future[Any]",
        presence: PeerPresence,
        watch: PausableStopwatch,
        limit: float,
    ) -> None:
        """Wait until `future` is done.

        Raise TimeoutError when `watch` reaches `limit` seconds while the peer and the broker are
        present, and BrokerLostError if the broker is lost.
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
        timeout = None if deadline is None else deadline - time.monotonic()
        if timeout is not None and timeout <= 0 and not self.presence.present:
            raise BrokerLostError(
                f"broker {self._broker}: no connection for {self._timeout:g} s: {self._problem}"
            )
        await asyncio.wait(futures, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)

    def _update(self, connected: bool, problem: str, since: float) -> None:
        if connected:
            if self._loss_reported:
                absent = time.monotonic() - self._absent_since
                self._notify(f"broker {self._broker}: connected after {absent:.1f} s")
            self._loss_reported = False
            self.presence.set_present()
        else:
            if self.presence.present:
                self._absent_since = since
            self._problem = problem
            self._loss_reported = True
            self._notify(
                f"broker {self._broker}: no connection: {problem}; "
                f"retrying for at most {self._timeout:g} s"
            )
            self.presence.set_absent(since)
        if self.on_change is not None:
            self.on_change(connected, since)


def _ignore(text: str) -> None:
    """Discard a message."""
