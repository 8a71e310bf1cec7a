from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

from agent.threads.one_shot_event import OneShotEvent


class Job:
    """A job for a `SerialExecutor`.

    - `long_running`: whether callers should not wait for the job.
    - `endless`: whether the job ends only when it is stopped.
    - `stop`: an event that requests the end of the job.
    - `superseded`: an event that is set when a later job is submitted.
    - `ponderhit`: an event that is set when the opponent plays the expected move.
    - `ended`: an event that is set after the job and its error message, if any.
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
        self.ended = OneShotEvent()


class SerialExecutor:
    """Runs jobs one at a time in its own thread. `on_error` receives exceptions from jobs."""

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
        """Whether a long-running job, such as a search, is running or pending."""
        return any(job.long_running for job in self.pending())

    def submit(
        self, work: Callable[[Job], object], long_running: bool = False, *, endless: bool = False
    ) -> Job:
        """Run `work` after all earlier jobs. Exceptions are passed to `on_error`."""
        job = Job(work, long_running, endless=endless)
        with self._changed:
            if self._closed:
                return job
            # Earlier jobs than the last one are already superseded.
            previous = self._jobs[-1] if self._jobs else self._current
            self._jobs.append(job)
            self._changed.notify_all()
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
                self._thread.start()
        if previous is not None:
            previous.superseded.set()
        return job

    def pending(self) -> list[Job]:
        with self._changed:
            return self._pending()

    def stop_endless(self) -> None:
        for job in self.pending():
            if job.endless:
                job.stop.set()

    def stop(self) -> None:
        """Set the `stop` event of all jobs. Pending jobs still run and report their results."""
        for job in self.pending():
            job.stop.set()

    def wait(self, timeout: float | None = None, *, max_pending: int = 0) -> bool:
        """Wait until at most `max_pending` jobs are not done. Return False on timeout."""
        with self._changed:
            return self._changed.wait_for(lambda: len(self._pending()) <= max_pending, timeout)

    def close(self, timeout: float) -> bool:
        """Stop all jobs. Return whether the thread ended within `timeout` seconds."""
        with self._changed:
            self._closed = True  # first, so that no later job remains unstopped
            self._changed.notify_all()
        self.stop()
        if self._thread is not None:
            self._thread.join(timeout)
        return self._thread is None or not self._thread.is_alive()

    def _pending(self) -> list[Job]:
        return ([self._current] if self._current else []) + list(self._jobs)

    def _work(self) -> None:
        while job := self._next():
            try:
                job.work(job)
            except BaseException as error:  # noqa: BLE001 - the executor must survive failing jobs
                self._on_error(error)
            job.ended.set()
            with self._changed:
                self._current = None
                self._changed.notify_all()

    def _next(self) -> Job | None:
        with self._changed:
            self._changed.wait_for(lambda: self._jobs or self._closed)
            self._current = self._jobs.popleft() if self._jobs else None
            return self._current
