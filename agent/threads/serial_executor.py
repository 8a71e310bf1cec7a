"""A worker: one thread that does what is asked of it, in order, while the asker goes on."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

from agent.threads.one_shot_event import OneShotEvent


class Job:
    """What a player does after everything that was asked of it before.

    stop: asked to end. overtaken: something else has been asked of the player since.
    lengthy: it may take long, so nobody should wait for it to end. endless: it ends when it is
    asked to, and not before.
    """

    def __init__(
        self, work: Callable[[Job], object], long_running: bool, *, endless: bool = False
    ) -> None:
        self.work = work
        self.long_running = long_running
        self.endless = endless
        self.stop = OneShotEvent()
        self.superseded = OneShotEvent()
        self.ponderhit = OneShotEvent()


class SerialExecutor:
    """Does lengthy work, one thing at a time, in a thread of its own.

    failed: told what a job raised; the worker goes on.
    """

    def __init__(self, on_error: Callable[[BaseException], None], name: str = "worker") -> None:
        self._on_error = on_error
        self._name = name
        self._changed = threading.Condition()
        self._jobs: deque[Job] = deque()
        self._current: Job | None = None
        self._closed = False
        self._thread: threading.Thread | None = None

    @property
    def busy(self) -> bool:
        """Whether lengthy work, such as a search, is being done or waits to be done."""
        with self._changed:
            return any(job.long_running for job in self._pending())

    def submit(self, work: Callable[[Job], object], long_running: bool = False) -> None:
        """Do `work` when everything asked before is done; what it raises is reported."""
        self._submit(Job(work, long_running))

    def pending(self) -> list[Job]:
        """Return what is being done and what waits to be done."""
        with self._changed:
            return self._pending()

    def stop_endless(self) -> None:
        """End what would not end by itself."""
        for job in self.pending():
            if job.endless:
                job.stop.set()

    def stop(self) -> None:
        """End everything that was asked for so far, at once; it is still answered."""
        for job in self.pending():
            job.stop.set()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until everything is done; return whether it is."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._pending(), timeout)

    def close(self, timeout: float) -> bool:
        """Stop and end the thread; return whether it ended within `timeout` seconds."""
        self.stop()
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(timeout)
        return self._thread is None or not self._thread.is_alive()

    def _pending(self) -> list[Job]:
        return ([self._current] if self._current else []) + list(self._jobs)

    def _submit(self, job: Job) -> None:
        with self._changed:
            if self._closed:
                return
            before = self._pending()
            self._jobs.append(job)
            self._changed.notify_all()
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
                self._thread.start()
        for earlier in before:
            earlier.superseded.set()

    def _work(self) -> None:
        while job := self._next():
            try:
                job.work(job)
            except BaseException as error:  # noqa: BLE001 - a failure ends the job, not the player
                self._on_error(error)
            with self._changed:
                self._current = None
                self._changed.notify_all()

    def _next(self) -> Job | None:
        with self._changed:
            self._changed.wait_for(lambda: self._jobs or self._closed)
            self._current = self._jobs.popleft() if self._jobs else None
            return self._current
