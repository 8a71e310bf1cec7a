"""A latch: a switch that goes on once and stays on, and calls whoever asked to be told."""

from collections.abc import Callable
from threading import Event, Lock


class OneShotEvent:
    """Off at first, then on for ever; may be used from any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._on = False
        self._hooks: list[Callable[[], None]] = []

    def is_set(self) -> bool:
        """Tell whether it is on."""
        return self._on

    def set(self) -> None:
        """Switch on and run the hooks, in the calling thread; the second time does nothing."""
        with self._lock:
            self._on = True
            hooks, self._hooks = self._hooks, []
        for hook in hooks:
            hook()

    def add_callback(self, hook: Callable[[], None]) -> None:
        """Run `hook` when the latch goes on: now, if it is on already."""
        with self._lock:
            if not self._on:
                self._hooks.append(hook)
                return
        hook()


def wait_for_any(*events: OneShotEvent, timeout: float | None = None) -> None:
    """Wait until one of the latches is on, or `timeout` seconds have passed."""
    event = Event()
    for one_shot in events:
        one_shot.add_callback(event.set)
    event.wait(timeout)
