"""A crew: workers that search together, the first in its caller's thread, the others in their own.

A worker is memory that a kernel works in. Its record has a field `stop`: once that is set, the
kernel returns within a millisecond. Kernels hold no lock of the interpreter, so that threads which
call them run side by side.

A search may be paused: its workers' kernels return, and whoever called one asks `rested` whether
to call it again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, Protocol, TypeVar

NO_LIMIT = 1 << 62  # of the nodes of a worker


class _WorkerRecord(Protocol):
    stop: int


class _WorkerMemory(Protocol):
    @property
    def worker(self) -> _WorkerRecord: ...


WorkerMemory = TypeVar("WorkerMemory", bound=_WorkerMemory)


class WorkerPool(Generic[WorkerMemory]):
    """So many workers, some of which are at work in a search. hire: makes one worker's memory."""

    def __init__(self, create_worker: Callable[[], WorkerMemory], size: int) -> None:
        self._create_worker = create_worker
        self._all_workers = [create_worker() for _ in range(size)]
        self._load: Callable[[WorkerMemory], None] | None = None
        self._active = self._all_workers[:1]
        self._threads: list[threading.Thread] = []
        self._work: Callable[[WorkerMemory, int], object] | None = None
        self._stopped = False
        self._wait: Callable[[], object] | None = None  # until a pause is over

    def __len__(self) -> int:
        return len(self._all_workers)

    def __iter__(self) -> Iterator[WorkerMemory]:
        return iter(self._all_workers)

    @property
    def first(self) -> WorkerMemory:
        """The worker in its caller's thread."""
        return self._all_workers[0]

    # Settings: never called during a search.

    def resize(self, size: int) -> None:
        """Have so many workers."""
        self._all_workers = self._all_workers[:size] + [
            self._create_worker() for _ in range(size - len(self._all_workers))
        ]

    def reset_helpers(self) -> None:
        """Put new workers, which know nothing, in place of all but the first."""
        self._all_workers[1:] = [self._create_worker() for _ in self._all_workers[1:]]

    # From any thread.

    def clear_stop(self) -> None:
        """Allow the next search to run."""
        self._stopped = False
        self._wait = None

    def stop(self) -> None:
        """End the search within a millisecond; none runs until `arm`."""
        self._stopped = True
        self._interrupt()

    def pause(self, wait: Callable[[], object]) -> None:
        """Let the search rest soon: its thread calls `wait` and goes on when that returns."""
        self._wait = wait
        self._interrupt()

    def _interrupt(self) -> None:
        for member in self._all_workers:
            member.worker.stop = 1

    @property
    def stopped(self) -> bool:
        """Whether no search may run."""
        return self._stopped

    @property
    def interrupted(self) -> bool:
        """Whether the search has ended before its time, by a stop or a limit of the kernel's own.

        A pause is no end, though it may be asked for at any moment.
        """
        return self._stopped or (self._wait is None and bool(self.first.worker.stop))

    @property
    def active(self) -> Sequence[WorkerMemory]:
        """Those that are loaded for this search, or were for the last."""
        return self._active

    # The search.

    def begin(self, load: Callable[[WorkerMemory], None]) -> None:
        """Begin a search with the first worker alone. load: prepares one for it, clears `stop`."""
        self._load = load
        self._active = []
        self.add_workers(1)

    def add_workers(self, number: int) -> None:
        """Load more workers, until so many are at work."""
        assert self._load is not None, "no search has begun"
        joining = self._all_workers[len(self._active) : number]
        for member in joining:
            self._load(member)
        self._active = self._active + joining
        if self._stopped or self._wait is not None:  # asked while they were being loaded
            self._interrupt()

    def resume_after_pause(self) -> bool:
        """After a kernel has returned: rest if that is asked for; tell whether to call it again.

        Those that were started rest, too, and are started again.
        """
        if self._wait is None or self._stopped:
            return False
        work = self._work if self._threads else None
        self.join()
        wait, self._wait = self._wait, None
        wait()
        for member in self._active:
            member.worker.stop = 0
        if self._stopped or self._wait is not None:  # asked meanwhile
            self._interrupt()
        if self._stopped:
            return False
        if work is not None:
            self.start(work)
        return True

    def start(self, work: Callable[[WorkerMemory, int], object]) -> None:
        """Let those at work but the first do something, each in a thread. work: gets its number."""
        self._work = work
        self._threads = [
            threading.Thread(target=work, args=(member, number), daemon=True)
            for number, member in enumerate(self._active[1:], 1)
        ]
        for thread in self._threads:
            thread.start()

    def join(self) -> None:
        """Wait for those that were started."""
        for thread in self._threads:
            thread.join()
        self._threads = []

    def end(self) -> None:
        """End the search of all but the first, which has ended, and wait for them.

        What loaded them is let go: it knows the search, which would else outlive its last user.
        """
        for member in self._active[1:]:
            member.worker.stop = 1
        self.join()
        self._load = self._work = self._wait = None


class ParallelSearch(Generic[WorkerMemory]):
    """What a search by a crew leaves to that, from any thread."""

    _workers: WorkerPool[WorkerMemory]

    def clear_stop(self) -> None:
        """Allow the next search to run."""
        self._workers.clear_stop()

    def stop(self) -> None:
        """End the search within a millisecond; none runs until `arm`."""
        self._workers.stop()

    def pause(self, wait: Callable[[], object], /) -> None:
        """Let the search rest: its thread calls `wait`, and then goes on where it was."""
        self._workers.pause(wait)

    @property
    def threads(self) -> int:
        """How many threads search."""
        return len(self._workers)
