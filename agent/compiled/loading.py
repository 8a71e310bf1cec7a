"""One part of the kernel on its way into this process.

A thread loads it; if it has never been compiled here, a child process compiles it first, or waits
for another that does, so that this one keeps answering. Numba is not imported before that.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from agent.player import describe
from agent.threads.latch import Latch, wait_for_any

if TYPE_CHECKING:
    import subprocess

    from agent.clock import Clock


# The parts that are in this process, which may have many engines, and what loaded them.
_loaded: set[tuple[str, Callable[[str], None]]] = set()


class Loading:
    """The loading of one part.

    name: what the user is told is compiled. meanwhile: what is done without it. after: what must
    be loaded before it. and_then: what the loading thread does before it is ready. report: gets
    one line of text for each thing the user should know.
    """

    def __init__(
        self,
        part: str,
        name: str,
        meanwhile: str,
        report: Callable[[str], None],
        after: Loading | None = None,
        and_then: Callable[[], None] = lambda: None,
    ) -> None:
        self.ready = Latch()  # it is loaded, or will not come
        self.failed = False
        self.started: float | None = None
        self._part = part
        self._name = name
        self._meanwhile = meanwhile
        self._report = report
        self._after = after
        self._and_then = and_then
        self._looked = Latch()  # it is known whether it must be compiled
        self._cold = False
        self._closed = Latch()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def usable(self) -> bool:
        """Whether it is loaded."""
        return self.ready.is_set() and not self.failed and not self._closed.is_set()

    def start(self) -> None:
        """Begin to load it, unless that has begun."""
        with self._starting:
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

    def wait(self, clock: Clock[Any], stop: Latch) -> None:
        """Wait for it as long as a search may: where a clock runs, not for a compiler."""
        self.start()
        wait_for_any(self._looked, stop)
        patience = None
        if clock.limited:
            patience = 0.0 if self._cold else clock.budget.soft / 2
            patience = min(patience, clock.budget.hard / 2)
        wait_for_any(self.ready, stop, timeout=patience)

    def wait_unless_cold(self, patience: float) -> None:
        """Wait for it so many seconds, but not for a compiler."""
        self.start()
        wait_for_any(self._looked, timeout=patience)
        if not self._cold:
            wait_for_any(self.ready, timeout=patience)

    def fail(self, error: BaseException) -> None:
        """Give it up."""
        self.failed = True
        self._report(f"no {self._name}, {self._meanwhile}: {describe(error)}")

    def _load(self) -> None:
        """Load it; compile it first, in a child process, where that was never done."""
        try:
            from agent.compiled import warming

            self._cold = not warming.is_warm(self._part)
            if self._cold and not self._closed.is_set():
                self._report(f"compiling the {self._name}, once: a minute or so; {self._meanwhile}")
            problem = warming.problem() if self._cold else None
            if problem is not None and self._after is None:  # else it has been said
                self._report(f"{problem}; what is compiled now serves this process alone")
            self._looked.set()
            if self._after is not None:
                wait_for_any(self._after.ready, self._closed)
            if self._cold and problem is None and not self._closed.is_set():
                with warming.compile_in_child(self._part) as self._child:
                    if self._closed.is_set():
                        self._child.kill()
                    self._child.wait()
            if self._closed.is_set():
                return
            load = warming.load
            if (self._part, load) not in _loaded:
                load(self._part)
                _loaded.add((self._part, load))
            if self._cold:
                self._report(f"the {self._name} is compiled")
            self._and_then()
        except BaseException as error:  # noqa: BLE001 - there is something else to play with
            self.fail(error)
        finally:
            self._looked.set()
            self.ready.set()
