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
        self.failed = False
        self.started: float | None = None
        self._part = part
        self._name = name
        self._fallback = fallback
        self._report = report
        self._requires = requires
        self._on_loaded = on_loaded
        self._cache_checked = OneShotEvent()  # after this, _must_compile is known
        self._must_compile = False
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
        """Wait for the part until `stop` is set, or as long as `clock` allows.

        If time is limited, do not wait for compilation.
        """
        self.start()
        wait_for_any(self._cache_checked, stop)
        timeout = None
        if clock.limited:
            timeout = 0.0 if self._must_compile else clock.budget.soft / 2
            timeout = min(timeout, clock.budget.hard / 2)
        wait_for_any(self.ready, stop, timeout=timeout)

    def wait_unless_compiling(self, timeout: float) -> None:
        """Wait up to `timeout` seconds for the part, unless it must be compiled."""
        self.start()
        wait_for_any(self._cache_checked, timeout=timeout)
        if not self._must_compile:
            wait_for_any(self.ready, timeout=timeout)

    def fail(self, error: BaseException) -> None:
        self.failed = True
        self._report(f"could not load the {self._name}; {self._fallback}: {describe(error)}")

    def _load(self) -> None:
        try:
            from agent.kernel import compilation

            self._must_compile = not compilation.is_cached(self._part)
            if self._must_compile and not self._closed.is_set():
                self._report(f"compiling the {self._name} (once, about a minute); {self._fallback}")
            problem = compilation.cache_problem() if self._must_compile else None
            if problem is not None and self._requires is None:  # the required part reports it
                self._report(f"{problem}; compiled code will not be cached")
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
                self._report(f"finished compiling the {self._name}")
            self._on_loaded()
        except BaseException as error:  # noqa: BLE001 - the fallback is used instead
            self.fail(error)
        finally:
            self._cache_checked.set()
            self.ready.set()
