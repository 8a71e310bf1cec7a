"""One part of the kernel on its way into this process.

A thread loads it; if it has never been compiled here, a child process compiles it first, or waits
for another that does, so that this one keeps answering. Numba is not imported before that.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from agent.agent import describe
from agent.threads.one_shot_event import OneShotEvent, wait_for_any

if TYPE_CHECKING:
    import subprocess

    from agent.clock import SearchClock


# The parts that are in this process, which may have many engines, and what loaded them.
_loaded: set[tuple[str, Callable[[str], None]]] = set()


class KernelLoader:
    """The loading of one part.

    name: what the user is told is compiled. meanwhile: what is done without it. after: what must
    be loaded before it. on_loaded: what the loading thread does before it is ready. report: gets
    one line of text for each thing the user should know.
    """

    def __init__(
        self,
        part: str,
        name: str,
        fallback: str,
        report: Callable[[str], None],
        requires: KernelLoader | None = None,
        on_loaded: Callable[[], None] = lambda: None,
    ) -> None:
        self.ready = OneShotEvent()  # it is loaded, or will not come
        self.failed = False
        self.started: float | None = None
        self._part = part
        self._name = name
        self._fallback = fallback
        self._report = report
        self._requires = requires
        self._on_loaded = on_loaded
        self._cache_checked = OneShotEvent()  # it is known whether it must be compiled
        self._must_compile = False
        self._closed = OneShotEvent()
        self._start_lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def is_loaded(self) -> bool:
        """Whether it is loaded."""
        return self.ready.is_set() and not self.failed and not self._closed.is_set()

    def start(self) -> None:
        """Begin to load it, unless that has begun."""
        with self._start_lock:
            if self._thread is None and not self._closed.is_set():
                self.started = time.monotonic()
                self._thread = threading.Thread(target=self._load, name="kernel", daemon=True)
                self._thread.start()

    def close(self, timeout: float) -> bool:
        """End the compiling child; return whether the loading ended within `timeout` seconds."""
        self._closed.set()
        if self._child is not None:
            self._child.kill()
        if self._thread is not None:
            self._thread.join(timeout)
        return self._thread is None or not self._thread.is_alive()

    def wait(self, clock: SearchClock[Any], stop: OneShotEvent) -> None:
        """Wait for it as long as a search may: where a clock runs, not for a compiler."""
        self.start()
        wait_for_any(self._cache_checked, stop)
        timeout = None
        if clock.limited:
            timeout = 0.0 if self._must_compile else clock.budget.soft / 2
            timeout = min(timeout, clock.budget.hard / 2)
        wait_for_any(self.ready, stop, timeout=timeout)

    def wait_unless_compiling(self, timeout: float) -> None:
        """Wait for it so many seconds, but not for a compiler."""
        self.start()
        wait_for_any(self._cache_checked, timeout=timeout)
        if not self._must_compile:
            wait_for_any(self.ready, timeout=timeout)

    def fail(self, error: BaseException) -> None:
        """Give it up."""
        self.failed = True
        self._report(f"no {self._name}, {self._fallback}: {describe(error)}")

    def _load(self) -> None:
        """Load it; compile it first, in a child process, where that was never done."""
        try:
            from agent.kernel import compilation

            self._must_compile = not compilation.is_cached(self._part)
            if self._must_compile and not self._closed.is_set():
                self._report(f"compiling the {self._name}, once: a minute or so; {self._fallback}")
            problem = compilation.cache_problem() if self._must_compile else None
            if problem is not None and self._requires is None:  # else it has been said
                self._report(f"{problem}; what is compiled now serves this process alone")
            self._cache_checked.set()
            if self._requires is not None:
                wait_for_any(self._requires.ready, self._closed)
            if self._must_compile and problem is None and not self._closed.is_set():
                with compilation.compile_in_child(self._part) as self._child:
                    if self._closed.is_set():
                        self._child.kill()
                    self._child.wait()
            if self._closed.is_set():
                return
            load = compilation.load
            if (self._part, load) not in _loaded:
                load(self._part)
                _loaded.add((self._part, load))
            if self._must_compile:
                self._report(f"the {self._name} is compiled")
            self._on_loaded()
        except BaseException as error:  # noqa: BLE001 - there is something else to play with
            self.fail(error)
        finally:
            self._cache_checked.set()
            self.ready.set()
