"""Calls of user code in background threads, which can be abandoned if the code hangs.

Abandoning a call raises an exception in its thread when the thread next runs Python code. Until
then, the thread may still use its objects, so other code must not reuse them. Code that holds the
GIL or ends the process cannot be abandoned.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import update_wrapper
from typing import Any, Generic, TypeVar

from agent.threads.one_shot_event import OneShotEvent, wait_for_any

Returned = TypeVar("Returned")


class AbandonedError(BaseException):
    """Raised in an abandoned thread to end it. `except Exception` does not catch it."""


class BackgroundCall(Generic[Returned]):
    """A function call in a new thread, which starts immediately."""

    def __init__(self, work: Callable[[], Returned], name: str) -> None:
        self.done = OneShotEvent()
        self._work = work
        self._lock = threading.Lock()  # protects _running and _abandoned
        self._running = False
        self._abandoned = False
        self._error: BaseException | None = None
        self._returned: list[Returned] = []
        self.thread = threading.Thread(target=self._run, name=name, daemon=True)
        self.thread.start()

    def wait(self, *events: OneShotEvent, timeout: float | None = None) -> bool:
        """Wait for the call, an event or the timeout. Return whether the call is done."""
        # Joining the thread instead could take long on a busy machine.
        wait_for_any(self.done, *events, timeout=timeout)
        return self.done.is_set()

    def result(self) -> Returned:
        """Return the result of the finished call, or raise its exception."""
        if self._error is not None:
            raise self._error
        return self._returned[0]

    def abandon(self) -> None:
        """Raise AbandonedError in the call's thread. A call that has not started never starts."""
        with self._lock:
            self._abandoned = True
            if self._running and self.thread.ident is not None:
                raise_in_thread(self.thread.ident)

    def _run(self) -> None:
        try:
            try:
                with self._lock:
                    if self._abandoned:
                        raise AbandonedError
                    self._running = True
                self._returned.append(self._work())
            finally:
                with self._lock:
                    self._running = False
                _raise_pending()
        except BaseException as error:  # noqa: BLE001 - user code may raise anything
            self._error = error
        finally:
            self.done.set()


def _raise_pending() -> None:
    """Do nothing. Python raises a pending exception when a thread enters a function."""


# A call is stuck only if it takes this many times as long as the slowest completed call. This
# minimum time is limited to _MAX_SLOWDOWN_WAIT_S.
_SLOWDOWN_LIMIT, _MAX_SLOWDOWN_WAIT_S = 2.0, 0.25


class MonitoredFunction:
    """A user's function, wrapped so that other threads can detect and interrupt stuck calls."""

    def __init__(self, function: Callable[..., Any]) -> None:
        update_wrapper(self, function)  # an evaluation may have attributes
        self._function = function
        self._slowest = 0.0
        self._began: dict[int, float] = {}  # start times of running calls, by thread

    def __call__(self, *arguments: Any) -> Any:
        thread = threading.get_ident()
        self._began[thread] = began = time.monotonic()
        try:
            returned = self._function(*arguments)
        finally:
            self._began.pop(thread, None)
        self._slowest = max(self._slowest, time.monotonic() - began)
        return returned

    def is_stuck(self, seconds: float) -> bool:
        """Return whether a call has lasted `seconds`, and much longer than earlier calls."""
        began = list(self._began.values())
        limit = max(seconds, min(_SLOWDOWN_LIMIT * self._slowest, _MAX_SLOWDOWN_WAIT_S))
        return bool(began) and time.monotonic() - min(began) >= limit

    def abandon(self) -> None:
        threads, self._began = list(self._began), {}
        for thread in threads:
            raise_in_thread(thread)


def raise_in_thread(thread: int) -> None:
    """Raise AbandonedError in the thread with the ID `thread` when it next runs Python code."""
    import ctypes  # lazy import: slow to load

    ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(thread), ctypes.py_object(AbandonedError)
    )
