"""A pool of workers for parallel search.

A worker is the memory of one search thread. The first worker runs in the caller's thread, and every
other worker in its own thread. Compiled searches release the GIL, and return within a millisecond
after `stop` is set in the worker's record. A pause also makes them return, and the caller must then
call `resume_after_pause`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, Protocol, TypeVar

NO_LIMIT = 1 << 62  # value of a worker's node limit that means no limit


class _WorkerRecord(Protocol):
    stop: int


class _WorkerMemory(Protocol):
    @property
    def worker(self) -> _WorkerRecord: ...


WorkerMemory = TypeVar("WorkerMemory", bound=_WorkerMemory)


class WorkerPool(Generic[WorkerMemory]):
    """A pool of `size` search workers, whose memory `create_worker` allocates."""

    def __init__(self, create_worker: Callable[[], WorkerMemory], size: int) -> None:
        self._create_worker = create_worker
        self._all_workers = [create_worker() for _ in range(size)]
        self._load: Callable[[WorkerMemory], None] | None = None
        self._active = self._all_workers[:1]
        self._threads: list[threading.Thread] = []
        self._work: Callable[[WorkerMemory, int], object] | None = None
        self._stopped = False
        self._wait: Callable[[], object] | None = None  # set if a pause is requested
        # Without it, a pause that the search thread already resumes could still interrupt.
        self._pause_lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._all_workers)

    def __iter__(self) -> Iterator[WorkerMemory]:
        return iter(self._all_workers)

    @property
    def first(self) -> WorkerMemory:
        """The worker that runs in the caller's thread."""
        return self._all_workers[0]

    # Settings: these methods must not be called during a search.

    def resize(self, size: int) -> None:
        self._all_workers = self._all_workers[:size] + [
            self._create_worker() for _ in range(size - len(self._all_workers))
        ]

    def reset_helpers(self) -> None:
        """Replace all workers except the first by new workers."""
        self._all_workers[1:] = [self._create_worker() for _ in self._all_workers[1:]]

    # Thread-safe methods.

    def clear_stop(self) -> None:
        """Allow the next search to run after a call of `stop`."""
        self._stopped = False
        self._wait = None

    def stop(self) -> None:
        """Stop the search within a millisecond, and block later searches until `clear_stop`."""
        self._stopped = True
        self._interrupt()

    def pause(self, wait: Callable[[], object]) -> None:
        """Request a pause. The search thread calls `wait` and then resumes the search."""
        with self._pause_lock:
            self._wait = wait
            self._interrupt()

    def _interrupt(self) -> None:
        for memory in self._all_workers:
            memory.worker.stop = 1

    @property
    def stopped(self) -> bool:
        return self._stopped

    @property
    def interrupted(self) -> bool:
        """Whether the search was ended by `stop` or by its own limit."""
        return self._stopped or (self._wait is None and bool(self.first.worker.stop))

    @property
    def active(self) -> Sequence[WorkerMemory]:
        """The workers of the current search, or of the last search if none is running."""
        return self._active

    # The search.

    def begin(self, load: Callable[[WorkerMemory], None]) -> None:
        """Begin a search with the first worker. `load` prepares a worker and clears its `stop`."""
        self._load = load
        self._active = []
        self.add_workers(1)

    def add_workers(self, count: int) -> None:
        """Prepare more workers until `count` workers are active."""
        assert self._load is not None, "no search has begun"
        added = self._all_workers[len(self._active) : count]
        for memory in added:
            self._load(memory)
        self._active = self._active + added
        if self._stopped or self._wait is not None:  # requested while they were being loaded
            self._interrupt()

    def resume_after_pause(self) -> bool:
        """Wait during a pause. Return whether the caller must call its search function again.

        Call this method after each call of that function. It also restarts the other threads.
        """
        if self._wait is None or self._stopped:
            return False
        work = self._work if self._threads else None
        self.join()
        with self._pause_lock:
            wait, self._wait = self._wait, None
        wait()
        for memory in self._active:
            memory.worker.stop = 0
        if self._stopped or self._wait is not None:  # requested during the pause
            self._interrupt()
        if self._stopped:
            return False
        if work is not None:
            self.start(work)
        return True

    def start(self, work: Callable[[WorkerMemory, int], object]) -> None:
        """Run `work(memory, index)` in a thread for each active worker except the first."""
        self._work = work
        self._threads = [
            threading.Thread(target=work, args=(memory, index), daemon=True)
            for index, memory in enumerate(self._active[1:], 1)
        ]
        for thread in self._threads:
            thread.start()

    def join(self) -> None:
        """Wait until the threads that `start` created have ended."""
        for thread in self._threads:
            thread.join()
        self._threads = []

    def end(self) -> None:
        """Stop all workers except the first, and wait for their threads."""
        for memory in self._active[1:]:
            memory.worker.stop = 1
        self.join()
        self._load = self._work = self._wait = None


class ParallelSearch(Generic[WorkerMemory]):
    """A mix-in with the thread-safe methods of a search that uses a worker pool."""

    _workers: WorkerPool[WorkerMemory]

    def clear_stop(self) -> None:
        self._workers.clear_stop()

    def stop(self) -> None:
        self._workers.stop()

    def pause(self, wait: Callable[[], object], /) -> None:
        self._workers.pause(wait)

    @property
    def threads(self) -> int:
        return len(self._workers)
