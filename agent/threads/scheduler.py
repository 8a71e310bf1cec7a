"""Search scheduler, which decides which of the searches in a process may run.

At most `slots` threads search at a time, and the other searches wait. Searches with an earlier
deadline run first. Remaining times are rounded to powers of two, and among equal times the search
with the least run time goes first. Searches without a deadline run after searches with one.
Searches that only a command can end run last.

A preempted search pauses until it gets another slot. Its clock keeps running. A search that has
never run gets an extra slot shortly before its deadline. At most `slots` searches have extra slots.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from math import frexp, inf
from typing import Protocol

# Interval between scheduler runs while searches wait.
TICK_S = 0.005
# Minimum run time before preemption, because resuming a search takes a fraction of a millisecond.
MIN_SLICE_S = 0.005
# The same for searches without a deadline, where an interruption loses little.
UNTIMED_SLICE_S = 0.5
# Remaining time in seconds at which a search that has never run gets an extra slot.
LAST_MOMENTS = 0.010
# Limits of the reserved time per move in seconds, because answers are later when many searches run.
# The reserve is RESERVE_FACTOR times the worst recent lateness, which decays with each answer.
MIN_RESERVE, MAX_RESERVE = 0.010, 0.100
RESERVE_FACTOR, LATENESS_DECAY = 1.5, 0.98
INITIAL_LATENESS = 0.020
# How long the scheduler thread stays alive while no search waits.
IDLE_TIMEOUT_S = 5.0

# Classes of searches in descending priority.
_TIMED, _UNTIMED, _ENDLESS = range(3)
_MIN_REMAINING = 0.001  # seconds: shorter remaining times have equal priority

Priority = tuple[int, int, float]


class Deadline(Protocol):
    """The remaining time for a search in seconds, including waiting time. It may be infinite."""

    def expected_remaining(self) -> float:
        """Return the expected remaining time in seconds."""

    def remaining(self) -> float:
        """Return the maximum remaining time in seconds."""


class NoDeadline:
    def expected_remaining(self) -> float:
        return inf

    def remaining(self) -> float:
        return inf


class ScheduledSearch:
    """A search that was registered with `SearchScheduler.register`.

    All methods except `stop` must be called in the search thread. The scheduler calls
    the function `pause` to make the search call `acquire` soon. `wait_time` is the total waiting
    time in seconds.
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
        self.started_at: float | None = None  # start of the current slice; None while not running
        self.has_started = False  # whether the search has ever run
        self.run_time = 0.0  # seconds in completed time slices
        self._scheduler = scheduler

    def acquire(self) -> bool:
        """Wait for a slot, unless the search may keep its slot. Return False after `stop`."""
        began = time.monotonic()
        if not self._scheduler.request(self):
            return not self.cancelled
        self.granted.wait()
        self.wait_time += time.monotonic() - began
        return not self.cancelled

    def stop(self) -> None:
        """Cancel the current wait and all later ones. Thread-safe."""
        self._scheduler.cancel(self)

    def release(self) -> None:
        """Release the slot at the end of the search. Later calls do nothing."""
        self._scheduler.release(self)

    def current_run_time(self) -> float:
        """Return the seconds since the search got its slot, or 0 if it has none."""
        return 0.0 if self.started_at is None else time.monotonic() - self.started_at

    def priority(self) -> Priority:
        """Return the sort key of the search. The smallest key runs first."""
        served = self.run_time + self.current_run_time()
        remaining = self.deadline.expected_remaining()
        if remaining < inf:
            return _TIMED, frexp(max(remaining, _MIN_REMAINING))[1], served
        if self.endless:
            return _ENDLESS, 0, served
        # A search without a deadline is expected to take as long again as it has run so far.
        return _UNTIMED, frexp(max(served, UNTIMED_SLICE_S))[1], served


class SearchScheduler:
    """Runs at most `slots` search threads at a time, in order of priority. Thread-safe."""

    def __init__(self, slots: int) -> None:
        self.slots = max(slots, 1)
        self._lock = threading.Lock()
        self._waiting: list[ScheduledSearch] = []
        self._running: list[ScheduledSearch] = []
        self._over_capacity: list[ScheduledSearch] = []  # searches in extra slots
        self._search_waiting = threading.Condition(self._lock)
        self._ticking = False
        self._lateness = INITIAL_LATENESS

    @property
    def reserve(self) -> float:
        """The seconds to reserve for each move, estimated from the lateness of earlier answers."""
        return min(max(RESERVE_FACTOR * self._lateness, MIN_RESERVE), MAX_RESERVE)

    def record_lateness(self, seconds: float) -> None:
        """Record how late an answer was, in seconds after its time limit."""
        self._lateness = max(self._lateness * LATENESS_DECAY, min(seconds, MAX_RESERVE))

    def register(
        self, deadline: Deadline, threads: int = 1, *, endless: bool = False
    ) -> ScheduledSearch:
        """Register a search, which does not have a slot yet. Each of its `threads` takes one slot.

        `endless` states that only a command ends the search, unless the deadline is finite.
        """
        scheduled = ScheduledSearch(self, deadline, min(threads, self.slots), endless)
        if endless:  # no priority over the endless searches that already run
            with self._lock:
                others = [search for search in self._waiting + self._running if search.endless]
                served = (search.run_time + search.current_run_time() for search in others)
                scheduled.run_time = min(served, default=0.0)
        return scheduled

    def counts(self) -> tuple[int, int]:
        """Return the numbers of running and waiting searches."""
        with self._lock:
            return len(self._running) + len(self._over_capacity), len(self._waiting)

    def request(self, scheduled: ScheduledSearch) -> bool:
        """Request a slot. Return False if the search may keep its slot or is cancelled."""
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
        """Cancel the search, so that it never waits again."""
        with self._lock:
            scheduled.cancelled = True
            if scheduled in self._waiting:
                self._waiting.remove(scheduled)
            scheduled.granted.set()

    def release(self, scheduled: ScheduledSearch) -> None:
        self.cancel(scheduled)
        with self._lock:
            self._stop_running(scheduled)
            self._schedule()

    # The lock must be held when the methods below are called.

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
        free = self.slots - sum(scheduled.threads for scheduled in self._running)
        # slots that preempted searches will soon release
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
                    break  # searches of lower priority must not overtake this one
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
        *victim_class, victim_served = priorities[victim]
        *waiting_class, waiting_served = priorities[scheduled]
        if victim_class != waiting_class:
            return waiting_class < victim_class and (
                victim.current_run_time() >= MIN_SLICE_S or victim_class[0] == _ENDLESS
            )
        lead = victim_served - waiting_served
        if victim_class[0] != _TIMED:
            return lead >= UNTIMED_SLICE_S
        peers = sum(rank[:2] == priorities[scheduled][:2] for rank in priorities.values())
        fair_share = scheduled.deadline.expected_remaining() * self.slots / peers
        return victim.current_run_time() >= MIN_SLICE_S and lead >= max(fair_share, MIN_SLICE_S)

    def _start_ticking(self) -> None:
        if self._ticking:
            self._search_waiting.notify()
            return
        self._ticking = True
        threading.Thread(target=self._tick, name="scheduler", daemon=True).start()

    def _tick(self) -> None:
        with self._lock:
            while self._waiting or self._search_waiting.wait(IDLE_TIMEOUT_S) or self._waiting:
                # Requests run the scheduler at once. This thread handles changes due to the passing
                # of time.
                self._lock.release()
                try:
                    time.sleep(TICK_S)
                finally:
                    self._lock.acquire()
                self._schedule()
            self._ticking = False


def _nothing() -> None:
    """Do nothing, as the default of `ScheduledSearch.pause`."""
