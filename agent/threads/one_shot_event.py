from collections.abc import Callable
from threading import Event, Lock


class OneShotEvent:
    """An event that can be set only once, and then runs its callbacks. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._is_set = False
        self._callbacks: list[Callable[[], None]] = []

    def is_set(self) -> bool:
        return self._is_set

    def set(self) -> None:
        """Set the event and run the callbacks in the calling thread. Later calls do nothing."""
        with self._lock:
            self._is_set = True
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    def add_callback(self, callback: Callable[[], None]) -> None:
        """Run `callback` when the event is set, or immediately if it is already set."""
        with self._lock:
            if not self._is_set:
                self._callbacks.append(callback)
                return
        callback()


def wait_for_any(*events: OneShotEvent, timeout: float | None = None) -> None:
    """Wait until any of the events is set, for at most `timeout` seconds."""
    wake = Event()
    for event in events:
        event.add_callback(wake.set)
    wake.wait(timeout)
