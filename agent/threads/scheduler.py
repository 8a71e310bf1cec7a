"""Turns: who of many may search now, where one process plays for many at once.

As many threads search as there are slots; whoever else would search waits. Those whose time ends
sooner go first, in steps of a factor of two, and among those of one step whoever has searched
least, so that searches of one kind share what there is. Those without a clock come after all with
one, and those that only a word from outside ends come last; these share, too.

A search that has to make room is interrupted, waits for its next turn, and goes on where it was.
Nobody's clock stands still meanwhile. Who never had a turn gets one beyond the slots for the last
moments of his time, as long as there are few of them; what becomes of the others is up to them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from math import frexp, inf
from typing import Protocol

# Seconds. How often it is looked who is to search while somebody waits; the least that one
# searches before another takes the turn, since to begin again costs a part of a millisecond.
TICK_S = 0.005
MIN_SLICE_S = 0.005
# The same, without a clock: what a deep iteration loses by an interruption is little beside it.
UNTIMED_SLICE_S = 0.5
# The last moments in which to search without a turn.
LAST_MOMENTS = 0.010
# What is kept free of each move, since the answers of many come later than those of one: the least
# and the most, and how it follows what was seen, the worst for the longest; what is expected first.
MIN_RESERVE, MAX_RESERVE = 0.010, 0.100
RESERVE_FACTOR, LATENESS_DECAY = 1.5, 0.98
INITIAL_LATENESS = 0.020
# How long the thread that looks stays when nobody waits.
IDLE_TIMEOUT_S = 5.0

# What comes first, and the least step of time left.
_TIMED, _UNTIMED, _ENDLESS = range(3)
_MIN_REMAINING = 0.001

Priority = tuple[int, int, float]


class Deadline(Protocol):
    """The time of a search, in seconds: infinite while nothing limits it."""

    def expected_remaining(self) -> float:
        """Return how long it will probably go on, waiting included."""

    def remaining(self) -> float:
        """Return how long it may go on, waiting included."""


class NoDeadline:
    """The time of what no clock limits."""

    def expected_remaining(self) -> float:
        """Return that it has no end."""
        return inf

    def remaining(self) -> float:
        """Return that it has no end."""
        return inf


class ScheduledSearch:
    """The place of one search among the others; made by `Turns.enter`.

    Of the searching thread but for `stop`. waited: seconds that it has waited so far.
    """

    def __init__(
        self, scheduler: SearchScheduler, deadline: Deadline, threads: int, endless: bool
    ) -> None:
        self.wait_time = 0.0
        self.deadline = deadline
        self.threads = threads
        self.endless = endless
        self.pause: Callable[[], None] = _nothing
        self.granted = threading.Event()
        self.preempted = False
        self.cancelled = False
        self.started_at: float | None = None  # since when it has its turn, if it has
        self.has_started = False  # ever
        self.run_time = 0.0  # seconds of turns that have ended
        self._scheduler = scheduler

    def acquire(self) -> bool:
        """Wait for a turn, unless it has one that nobody wants back; return whether it has one.

        It has none after `stop`.
        """
        began = time.monotonic()
        if not self._scheduler.request(self):
            return not self.cancelled
        self.granted.wait()
        self.wait_time += time.monotonic() - began
        return not self.cancelled

    def stop(self) -> None:
        """End all waiting for good; from any thread."""
        self._scheduler.cancel(self)

    def release(self) -> None:
        """Make room: the search is over. A second time it does nothing."""
        self._scheduler.release(self)

    def current_run_time(self) -> float:
        """Return the seconds of the turn that it has now; 0 for none."""
        return 0.0 if self.started_at is None else time.monotonic() - self.started_at

    def priority(self) -> Priority:
        """Return what comes first: the least."""
        served = self.run_time + self.current_run_time()
        left = self.deadline.expected_remaining()
        if left < inf:
            return _TIMED, frexp(max(left, _MIN_REMAINING))[1], served
        if self.endless:
            return _ENDLESS, 0, served
        # It will probably go on for as long as it did until now.
        return _UNTIMED, frexp(max(served, UNTIMED_SLICE_S))[1], served


class SearchScheduler:
    """Turns to search for everybody in this process; any thread may ask. slots: threads at once."""

    def __init__(self, slots: int) -> None:
        self.slots = max(slots, 1)
        self._lock = threading.Lock()
        self._waiting: list[ScheduledSearch] = []
        self._running: list[ScheduledSearch] = []
        self._over_capacity: list[ScheduledSearch] = []  # in the last moments of their time
        self._search_waiting = threading.Condition(self._lock)
        self._ticking = False
        self._lateness = INITIAL_LATENESS

    @property
    def reserve(self) -> float:
        """Seconds to keep free of each move, by how late answers have been."""
        return min(max(RESERVE_FACTOR * self._lateness, MIN_RESERVE), MAX_RESERVE)

    def record_lateness(self, seconds: float) -> None:
        """Take note how long after the end of its time a search was answered."""
        self._lateness = max(self._lateness * LATENESS_DECAY, min(seconds, MAX_RESERVE))

    def register(
        self, deadline: Deadline, threads: int = 1, *, endless: bool = False
    ) -> ScheduledSearch:
        """Return the place of a search of so many threads, which has no turn yet.

        endless: only a word from outside ends it, unless a time is expected by now.
        """
        scheduled = ScheduledSearch(self, deadline, min(threads, self.slots), endless)
        if endless:  # what others have searched before it came is no merit
            with self._lock:
                others = [each for each in self._waiting + self._running if each.endless]
                served = (each.run_time + each.current_run_time() for each in others)
                scheduled.run_time = min(served, default=0.0)
        return scheduled

    def counts(self) -> tuple[int, int]:
        """Return how many searches have a turn, and how many wait for one."""
        with self._lock:
            return len(self._running) + len(self._over_capacity), len(self._waiting)

    def request(self, scheduled: ScheduledSearch) -> bool:
        """Let it wait, and return whether it must: not if it is over, or has its turn to itself."""
        with self._lock:
            if scheduled.cancelled or (
                scheduled.started_at is not None and not scheduled.preempted
            ):
                return False
            self._stop_running(scheduled)
            scheduled.granted.clear()
            self._waiting.append(scheduled)
            self._schedule()
            if self._waiting:
                self._start_ticking()
            return True

    def cancel(self, scheduled: ScheduledSearch) -> None:
        """End its waiting for good."""
        with self._lock:
            scheduled.cancelled = True
            if scheduled in self._waiting:
                self._waiting.remove(scheduled)
            scheduled.granted.set()

    def release(self, scheduled: ScheduledSearch) -> None:
        """Take its turn back for good."""
        self.cancel(scheduled)
        with self._lock:
            self._stop_running(scheduled)
            self._schedule()

    # The lock is held.

    def _stop_running(self, scheduled: ScheduledSearch) -> None:
        for group in (self._running, self._over_capacity):
            if scheduled in group:
                group.remove(scheduled)
        scheduled.run_time += scheduled.current_run_time()
        scheduled.started_at, scheduled.preempted = None, False

    def _grant(self, scheduled: ScheduledSearch, group: list[ScheduledSearch]) -> None:
        self._waiting.remove(scheduled)
        group.append(scheduled)
        scheduled.started_at, scheduled.has_started = time.monotonic(), True
        scheduled.granted.set()

    def _schedule(self) -> None:
        """Give turns that are free to whoever is first, and recall those that should be."""
        free = self.slots - sum(scheduled.threads for scheduled in self._running)
        coming = sum(scheduled.threads for scheduled in self._running if scheduled.preempted)
        if self._waiting:
            priorities = {
                scheduled: scheduled.priority() for scheduled in self._waiting + self._running
            }
            victims = [scheduled for scheduled in self._running if not scheduled.preempted]
            victims.sort(key=priorities.__getitem__)
            for scheduled in sorted(self._waiting, key=priorities.__getitem__):
                if scheduled.threads <= free:
                    free -= scheduled.threads
                    self._grant(scheduled, self._running)
                    continue
                while (
                    free + coming < scheduled.threads
                    and victims
                    and self._should_preempt(victims[-1], scheduled, priorities)
                ):
                    victim = victims.pop()
                    victim.preempted = True
                    victim.pause()
                    coming += victim.threads
                if free + coming < scheduled.threads:
                    break  # nobody overtakes it
                coming -= scheduled.threads - free
                free = 0
        for scheduled in list(self._waiting):
            if len(self._over_capacity) >= self.slots:
                break
            if not scheduled.has_started and scheduled.deadline.remaining() <= LAST_MOMENTS:
                self._grant(scheduled, self._over_capacity)

    def _should_preempt(
        self,
        victim: ScheduledSearch,
        scheduled: ScheduledSearch,
        priorities: dict[ScheduledSearch, Priority],
    ) -> bool:
        """Tell whether one that has a turn is to make room for one that waits."""
        *kind, served = priorities[victim]
        *other, less = priorities[scheduled]
        if kind != other:
            return other < kind and (
                victim.current_run_time() >= MIN_SLICE_S or kind[0] == _ENDLESS
            )
        if kind[0] != _TIMED:
            return served - less >= UNTIMED_SLICE_S
        alike = sum(rank[:2] == priorities[scheduled][:2] for rank in priorities.values())
        fair = scheduled.deadline.expected_remaining() * self.slots / alike
        return victim.current_run_time() >= MIN_SLICE_S and served - less >= max(fair, MIN_SLICE_S)

    def _start_ticking(self) -> None:
        """Have somebody look at the order again and again."""
        if self._ticking:
            self._search_waiting.notify()
            return
        self._ticking = True
        threading.Thread(target=self._tick, name="turns", daemon=True).start()

    def _tick(self) -> None:
        with self._lock:
            while self._waiting or self._search_waiting.wait(IDLE_TIMEOUT_S) or self._waiting:
                # Whoever comes meanwhile is seen to at once; this is for what time alone changes.
                self._lock.release()
                try:
                    time.sleep(TICK_S)
                finally:
                    self._lock.acquire()
                self._schedule()
            self._ticking = False


def _nothing() -> None:
    """Stand for a search that cannot be interrupted: it makes room between two iterations."""
