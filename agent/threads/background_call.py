"""A user's code in a thread apart, so that whoever waits for it can give it up.

The thread is in the engine's own process, where a call of a Python function costs little; in a
process apart each call would cost two switches between processes, and most of the speed wherever
the cores have other work. So what gives up the interpreter now and then, as loops and sleeps do,
can be given up; what ends the process, or holds the interpreter, cannot.

A thread that was given up is left behind. If it is in Python code, an exception ends it; asleep,
it ends when it wakes. Nothing that it uses may be used again, except what only it has changed.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from agent.threads.one_shot_event import OneShotEvent, wait_for_any

Returned = TypeVar("Returned")


class AbandonedError(BaseException):
    """Nobody waits for this thread any more; no user's `except Exception` is to catch it."""


class BackgroundCall(Generic[Returned]):
    """A call in a thread of its own, which begins at once."""

    def __init__(self, work: Callable[[], Returned], name: str) -> None:
        self.done = OneShotEvent()
        self._work = work
        self._lock = threading.Lock()  # held to change the next two
        self._running = False
        self._given_up = False
        self._error: BaseException | None = None
        self._returned: list[Returned] = []
        self.thread = threading.Thread(target=self._run, name=name, daemon=True)
        self.thread.start()

    def wait(self, *others: OneShotEvent, timeout: float | None = None) -> bool:
        """Wait until it is over, another latch is set, or time is up; return whether it is over.

        The thread itself is not joined: on a busy machine it takes its time to end.
        """
        wait_for_any(self.done, *others, timeout=timeout)
        return self.done.is_set()

    def result(self) -> Returned:
        """Return what it returned, or raise what it raised; it must be over."""
        if self._error is not None:
            raise self._error
        return self._returned[0]

    def abandon(self) -> None:
        """Interrupt the call if it is in Python code. A call that has not begun never begins."""
        with self._lock:
            self._given_up = True
            if self._running and self.thread.ident is not None:
                raise_in_thread(self.thread.ident)

    def _run(self) -> None:
        try:
            try:
                with self._lock:
                    if self._given_up:
                        raise AbandonedError
                    self._running = True
                self._returned.append(self._work())
            finally:
                with self._lock:
                    self._running = False
                _raise_pending()
        except BaseException as error:  # noqa: BLE001 - a user's code may raise anything
            self._error = error
        finally:
            self.done.set()


def _raise_pending() -> None:
    """Do nothing: Python raises a pending exception of the thread when it enters a function."""


# A call is not stuck before it has lasted so many times as long as the slowest that returned, but
# for what no clock can bear, in seconds.
_SLOWDOWN_LIMIT, _MAX_SLOWDOWN_WAIT_S = 2.0, 0.25


class MonitoredFunction:
    """A user's function that can be told to be stuck, and broken off, from another thread."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._slowest = 0.0
        self._began: dict[int, float] = {}  # when the calls that have not returned began, by thread

    def __call__(self, *arguments: Any) -> Any:
        """Call the function."""
        thread = threading.get_ident()
        self._began[thread] = began = time.monotonic()
        try:
            returned = self._function(*arguments)
        finally:
            self._began.pop(thread, None)
        self._slowest = max(self._slowest, time.monotonic() - began)
        return returned

    def is_stuck(self, seconds: float) -> bool:
        """Tell whether a call has not returned for so long, and for longer than such calls take."""
        began = list(self._began.values())
        patience = max(seconds, min(_SLOWDOWN_LIMIT * self._slowest, _MAX_SLOWDOWN_WAIT_S))
        return bool(began) and time.monotonic() - min(began) >= patience

    def abandon(self) -> None:
        """Break off all calls that have not returned, and forget them."""
        left, self._began = list(self._began), {}
        for thread in left:
            raise_in_thread(thread)


def raise_in_thread(thread: int) -> None:
    """Raise AbandonedError in a thread as soon as it runs Python code."""
    import ctypes  # not at start-up, which it would lengthen

    ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(thread), ctypes.py_object(AbandonedError)
    )
