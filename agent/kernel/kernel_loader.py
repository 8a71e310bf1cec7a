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


# Cached code is normally loaded within this time, so a search with twice as much time waits for it.
LOADING_TIME_S = 3.0

# Parts loaded in this process, with the function that loaded them.
_loaded: set[tuple[str, Callable[[str], None]]] = set()


class KernelLoader:
    """Loads one part of the compiled code in a background thread.

    A part that is not cached is first compiled in a child process. `requires` is the loader of
    another part that must be loaded first. `report` receives messages, which contain `name` and
    `fallback`, such as "using the Python search". `on_loaded` is called before `ready` is set.
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
        self.ready = OneShotEvent()  # loaded or failed
        self.compiling = OneShotEvent()  # not cached
        self.failed = False
        self.started: float | None = None
        self._part = part
        self._name = name
        self._fallback = fallback
        self._report = report
        self._requires = requires
        self._on_loaded = on_loaded
        self._closed = OneShotEvent()
        self._start_lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def is_loaded(self) -> bool:
        return self.ready.is_set() and not self.failed and not self._closed.is_set()

    def start(self) -> None:
        """Start to load the part, unless loading has already started."""
        with self._start_lock:
            if self._thread is None and not self._closed.is_set():
                self.started = time.monotonic()
                self._thread = threading.Thread(target=self._load, name="kernel", daemon=True)
                self._thread.start()

    def close(self, timeout: float) -> bool:
        """Stop compiling and loading. Return whether loading ended within `timeout` seconds."""
        self._closed.set()
        if self._child is not None:
            self._child.kill()
        if self._thread is not None:
            self._thread.join(timeout)
        return self._thread is None or not self._thread.is_alive()

    def wait(self, clock: SearchClock[Any], stop: OneShotEvent) -> None:
        """Wait for the part until `stop` is set, or for at most half of the time of `clock`.

        If time is limited, do not wait for compilation.
        """
        self.start()
        if self.ready.is_set():
            return
        if not clock.limited:
            wait_for_any(self.ready, stop)
            return
        timeout = min(max(clock.budget.soft / 2, LOADING_TIME_S), clock.budget.hard / 2)
        timeout = max(timeout - clock.elapsed(), 0.0)
        wait_for_any(self.ready, self.compiling, stop, timeout=timeout)

    def wait_unless_compiling(self, timeout: float) -> None:
        """Wait up to `timeout` seconds for the part, unless it must be compiled."""
        self.start()
        wait_for_any(self.ready, self.compiling, timeout=timeout)

    def fail(self, error: BaseException) -> None:
        self.failed = True
        self._report(f"could not load the {self._name}; {self._fallback}: {describe(error)}")

    def _load(self) -> None:
        try:
            from agent.kernel import compilation

            must_compile = not compilation.is_cached(self._part)
            if must_compile and not self._closed.is_set():
                self._report(f"compiling the {self._name} (once, about a minute); {self._fallback}")
            problem = compilation.cache_problem() if must_compile else None
            if problem is not None and self._requires is None:  # the required part reports it
                self._report(f"{problem}; compiled code will not be cached")
            if must_compile:
                self.compiling.set()
            if self._requires is not None:
                wait_for_any(self._requires.ready, self._closed)
            if must_compile and problem is None and not self._closed.is_set():
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
            if must_compile:
                self._report(f"finished compiling the {self._name}")
            self._on_loaded()
        except BaseException as error:  # noqa: BLE001 - the fallback is used instead
            self.fail(error)
        finally:
            self.ready.set()
