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
TICK = 0.005
LEAST = 0.005
# The same, without a clock: what a deep iteration loses by an interruption is little beside it.
LONG = 0.5
# The last moments in which to search without a turn.
LAST_MOMENTS = 0.010
# What is kept free of each move, since the answers of many come later than those of one: the least
# and the most, and how it follows what was seen, the worst for the longest; what is expected first.
LEAST_RESERVE, MOST_RESERVE = 0.010, 0.100
RESERVED, FORGOTTEN = 1.5, 0.98
FIRST_LATENESS = 0.020
# How long the thread that looks stays when nobody waits.
IDLE = 5.0

# What comes first, and the least step of time left.
_TIMED, _UNTIMED, _ENDLESS = range(3)
_SHORTEST = 0.001

Rank = tuple[int, int, float]


class Expected(Protocol):
    """The time of a search, in seconds: infinite while nothing limits it."""

    def left(self) -> float:
        """Return how long it will probably go on, waiting included."""

    def remaining(self) -> float:
        """Return how long it may go on, waiting included."""


class Untimed:
    """The time of what no clock limits."""

    def left(self) -> float:
        """Return that it has no end."""
        return inf

    def remaining(self) -> float:
        """Return that it has no end."""
        return inf


class Turn:
    """The place of one search among the others; made by `Turns.enter`.

    Of the searching thread but for `stop`. waited: seconds that it has waited so far.
    """

    def __init__(self, turns: Turns, expected: Expected, threads: int, endless: bool) -> None:
        self.waited = 0.0
        self.expected = expected
        self.threads = threads
        self.endless = endless
        self.pause: Callable[[], None] = _nothing
        self.granted = threading.Event()
        self.recalled = False
        self.over = False
        self.begun: float | None = None  # since when it has its turn, if it has
        self.searched = False  # ever
        self.served = 0.0  # seconds of turns that have ended
        self._turns = turns

    def take(self) -> bool:
        """Wait for a turn, unless it has one that nobody wants back; return whether it has one.

        It has none after `stop`.
        """
        began = time.monotonic()
        if not self._turns.request(self):
            return not self.over
        self.granted.wait()
        self.waited += time.monotonic() - began
        return not self.over

    def stop(self) -> None:
        """End all waiting for good; from any thread."""
        self._turns.cancel(self)

    def leave(self) -> None:
        """Make room: the search is over. A second time it does nothing."""
        self._turns.leave(self)

    def has_run(self) -> float:
        """Return the seconds of the turn that it has now; 0 for none."""
        return 0.0 if self.begun is None else time.monotonic() - self.begun

    def rank(self) -> Rank:
        """Return what comes first: the least."""
        served = self.served + self.has_run()
        left = self.expected.left()
        if left < inf:
            return _TIMED, frexp(max(left, _SHORTEST))[1], served
        if self.endless:
            return _ENDLESS, 0, served
        # It will probably go on for as long as it did until now.
        return _UNTIMED, frexp(max(served, LONG))[1], served


class Turns:
    """Turns to search for everybody in this process; any thread may ask. slots: threads at once."""

    def __init__(self, slots: int) -> None:
        self.slots = max(slots, 1)
        self._lock = threading.Lock()
        self._waiting: list[Turn] = []
        self._running: list[Turn] = []
        self._beyond: list[Turn] = []  # in the last moments of their time
        self._somebody_waits = threading.Condition(self._lock)
        self._looking = False
        self._latest = FIRST_LATENESS

    @property
    def reserve(self) -> float:
        """Seconds to keep free of each move, by how late answers have been."""
        return min(max(RESERVED * self._latest, LEAST_RESERVE), MOST_RESERVE)

    def note_lateness(self, seconds: float) -> None:
        """Take note how long after the end of its time a search was answered."""
        self._latest = max(self._latest * FORGOTTEN, min(seconds, MOST_RESERVE))

    def enter(self, expected: Expected, threads: int = 1, *, endless: bool = False) -> Turn:
        """Return the place of a search of so many threads, which has no turn yet.

        endless: only a word from outside ends it, unless a time is expected by now.
        """
        turn = Turn(self, expected, min(threads, self.slots), endless)
        if endless:  # what others have searched before it came is no merit
            with self._lock:
                others = [each for each in self._waiting + self._running if each.endless]
                served = (each.served + each.has_run() for each in others)
                turn.served = min(served, default=0.0)
        return turn

    def standing(self) -> tuple[int, int]:
        """Return how many searches have a turn, and how many wait for one."""
        with self._lock:
            return len(self._running) + len(self._beyond), len(self._waiting)

    def request(self, turn: Turn) -> bool:
        """Let it wait, and return whether it must: not if it is over, or has its turn to itself."""
        with self._lock:
            if turn.over or (turn.begun is not None and not turn.recalled):
                return False
            self._end_turn(turn)
            turn.granted.clear()
            self._waiting.append(turn)
            self._arrange()
            if self._waiting:
                self._look()
            return True

    def cancel(self, turn: Turn) -> None:
        """End its waiting for good."""
        with self._lock:
            turn.over = True
            if turn in self._waiting:
                self._waiting.remove(turn)
            turn.granted.set()

    def leave(self, turn: Turn) -> None:
        """Take its turn back for good."""
        self.cancel(turn)
        with self._lock:
            self._end_turn(turn)
            self._arrange()

    # The lock is held.

    def _end_turn(self, turn: Turn) -> None:
        for those in (self._running, self._beyond):
            if turn in those:
                those.remove(turn)
        turn.served += turn.has_run()
        turn.begun, turn.recalled = None, False

    def _grant(self, turn: Turn, those: list[Turn]) -> None:
        self._waiting.remove(turn)
        those.append(turn)
        turn.begun, turn.searched = time.monotonic(), True
        turn.granted.set()

    def _arrange(self) -> None:
        """Give turns that are free to whoever is first, and recall those that should be."""
        free = self.slots - sum(turn.threads for turn in self._running)
        coming = sum(turn.threads for turn in self._running if turn.recalled)
        if self._waiting:
            ranks = {turn: turn.rank() for turn in self._waiting + self._running}
            victims = [turn for turn in self._running if not turn.recalled]
            victims.sort(key=ranks.__getitem__)
            for turn in sorted(self._waiting, key=ranks.__getitem__):
                if turn.threads <= free:
                    free -= turn.threads
                    self._grant(turn, self._running)
                    continue
                while (
                    free + coming < turn.threads
                    and victims
                    and self._gives_way(victims[-1], turn, ranks)
                ):
                    victim = victims.pop()
                    victim.recalled = True
                    victim.pause()
                    coming += victim.threads
                if free + coming < turn.threads:
                    break  # nobody overtakes it
                coming -= turn.threads - free
                free = 0
        for turn in list(self._waiting):
            if len(self._beyond) >= self.slots:
                break
            if not turn.searched and turn.expected.remaining() <= LAST_MOMENTS:
                self._grant(turn, self._beyond)

    def _gives_way(self, victim: Turn, turn: Turn, ranks: dict[Turn, Rank]) -> bool:
        """Tell whether one that has a turn is to make room for one that waits."""
        *kind, served = ranks[victim]
        *other, less = ranks[turn]
        if kind != other:
            return other < kind and (victim.has_run() >= LEAST or kind[0] == _ENDLESS)
        if kind[0] != _TIMED:
            return served - less >= LONG
        alike = sum(rank[:2] == ranks[turn][:2] for rank in ranks.values())
        fair = turn.expected.left() * self.slots / alike
        return victim.has_run() >= LEAST and served - less >= max(fair, LEAST)

    def _look(self) -> None:
        """Have somebody look at the order again and again."""
        if self._looking:
            self._somebody_waits.notify()
            return
        self._looking = True
        threading.Thread(target=self._keep_looking, name="turns", daemon=True).start()

    def _keep_looking(self) -> None:
        with self._lock:
            while self._waiting or self._somebody_waits.wait(IDLE) or self._waiting:
                # Whoever comes meanwhile is seen to at once; this is for what time alone changes.
                self._lock.release()
                try:
                    time.sleep(TICK)
                finally:
                    self._lock.acquire()
                self._arrange()
            self._looking = False


def _nothing() -> None:
    """Stand for a search that cannot be interrupted: it makes room between two iterations."""
