"""The search scheduler, with fake deadlines and threads that simulate searches."""

import threading
import time
from itertools import pairwise
from math import inf

import pytest

from agent.threads import scheduler as scheduler_module
from agent.threads.scheduler import LAST_MOMENTS, MIN_SLICE_S, SearchScheduler
from tests.support import factory_fixture
from tests.waiting import PATIENCE, until


class FakeDeadline:
    """A Deadline with a settable remaining time."""

    def __init__(self, remaining=inf):
        self.seconds = remaining

    def expected_remaining(self):
        return self.seconds

    def remaining(self):
        return self.seconds


class FakeSearch:
    """A thread that holds a slot until it is paused or ended."""

    def __init__(self, scheduler, remaining=inf, threads=1, endless=False, pausable=True):
        self.scheduled = scheduler.register(FakeDeadline(remaining), threads, endless=endless)
        self.is_running = threading.Event()
        self.paused = threading.Event()
        self.resume = threading.Event()
        self.over = threading.Event()
        self.ended = threading.Event()
        if pausable:
            self.scheduled.pause = self.paused.set
        self.thread = threading.Thread(target=self._search, daemon=True)
        self.thread.start()

    def _search(self):
        while self.scheduled.acquire():
            self.is_running.set()
            while not (self.paused.is_set() or self.over.is_set()):
                time.sleep(0.0005)
            self.is_running.clear()
            self.paused.clear()
            if self.over.is_set():
                break
        self.scheduled.release()
        self.ended.set()

    def release(self):
        self.over.set()
        assert self.ended.wait(PATIENCE)

    def close(self):
        self.over.set()
        self.scheduled.stop()
        assert self.ended.wait(PATIENCE)


begin = factory_fixture(FakeSearch, FakeSearch.close)


def test_running_searches_are_limited_to_slots(begin):
    scheduler = SearchScheduler(2)
    holders = [begin(scheduler, 60.0, pausable=False) for _ in range(2)]
    assert all(each.is_running.wait(PATIENCE) for each in holders)
    third = begin(scheduler, 60.0)
    assert until(lambda: scheduler.counts() == (2, 1))
    assert not third.is_running.is_set()
    holders[0].release()
    assert third.is_running.wait(PATIENCE)
    assert third.scheduled.wait_time > 0


def test_earliest_deadline_runs_first_and_endless_search_last(begin):
    scheduler = SearchScheduler(1)
    holder = begin(scheduler, 0.5, pausable=False)
    assert holder.is_running.wait(PATIENCE)
    waiting = []
    kinds = {"endless": (inf, True), "unlimited": (inf, False), "long": (60.0, False)}
    for number, (remaining, endless) in enumerate(kinds.values(), 1):
        waiting.append(begin(scheduler, remaining, endless=endless, pausable=False))
        assert until(lambda number=number: scheduler.counts() == (1, number))
    short = begin(scheduler, 1.0, pausable=False)
    assert until(lambda: scheduler.counts() == (1, 4))
    for before, next_one in pairwise([holder, short, *reversed(waiting)]):
        before.release()
        assert next_one.is_running.wait(PATIENCE)


def test_endless_search_is_paused_and_resumed(begin):
    scheduler = SearchScheduler(1)
    endless = begin(scheduler, endless=True)
    assert endless.is_running.wait(PATIENCE)
    short = begin(scheduler, 0.2)
    assert short.is_running.wait(PATIENCE)
    assert scheduler.counts() == (1, 1)
    assert not endless.is_running.is_set()
    short.release()
    assert endless.is_running.wait(PATIENCE)


def test_unpausable_search_yields_when_it_asks_for_a_turn(begin):
    scheduler = SearchScheduler(1)
    deep = scheduler.register(FakeDeadline(), endless=True)
    assert deep.acquire()
    assert deep.acquire()  # not preempted
    short = begin(scheduler, 0.2)
    assert until(lambda: scheduler.counts() == (1, 1))
    assert until(lambda: deep.preempted)
    later = threading.Timer(0.05, short.over.set)
    later.start()
    assert deep.acquire()
    assert short.ended.is_set()
    deep.release()
    deep.release()
    assert scheduler.counts() == (0, 0)


@pytest.mark.parametrize("endless", [True, False])
def test_similar_searches_share_a_slot(begin, monkeypatch, endless):
    monkeypatch.setattr(scheduler_module, "UNTIMED_SLICE_S", 0.02)
    scheduler = SearchScheduler(1)
    three = [begin(scheduler, inf if endless else 1000.0, endless=endless) for _ in range(3)]
    if not endless:  # give each little time
        for each in three:
            each.scheduled.deadline.seconds = 0.12
    time.sleep(0.6)
    run_time = [each.scheduled.run_time for each in three]
    assert min(run_time) > 0.03, run_time


def test_late_endless_search_does_not_take_all_turns(begin, monkeypatch):
    monkeypatch.setattr(scheduler_module, "UNTIMED_SLICE_S", 0.02)
    scheduler = SearchScheduler(1)
    old = begin(scheduler, endless=True)
    assert old.is_running.wait(PATIENCE)
    time.sleep(0.5)
    begin(scheduler, endless=True)
    assert until(lambda: not old.is_running.is_set())
    assert old.is_running.wait(0.4)  # not only when the other has had half a second, too


def test_search_with_many_threads_waits_for_all_slots(begin):
    scheduler = SearchScheduler(2)
    one = begin(scheduler, 60.0, pausable=False)
    assert one.is_running.wait(PATIENCE)
    both = begin(scheduler, 1.0, threads=64)
    assert until(lambda: scheduler.counts() == (1, 1))
    other = begin(scheduler, 60.0)
    assert until(lambda: scheduler.counts() == (1, 2))  # it does not overtake
    assert not other.is_running.is_set()
    one.release()
    assert both.is_running.wait(PATIENCE)
    both.release()
    assert other.is_running.wait(PATIENCE)


def test_stop_ends_waiting_at_once(begin):
    scheduler = SearchScheduler(1)
    holder = begin(scheduler, 60.0, pausable=False)
    assert holder.is_running.wait(PATIENCE)
    waiting = begin(scheduler, 60.0)
    assert until(lambda: scheduler.counts() == (1, 1))
    waiting.scheduled.stop()
    assert waiting.ended.wait(PATIENCE)
    assert scheduler.counts() == (1, 0)
    after = scheduler.register(FakeDeadline(1.0))
    after.stop()
    assert not after.acquire()


def test_waiting_search_gets_extra_slot_in_last_moments(begin):
    scheduler = SearchScheduler(1)
    holder = begin(scheduler, 60.0, pausable=False)
    assert holder.is_running.wait(PATIENCE)
    two = [begin(scheduler, 1.0, pausable=False) for _ in range(2)]
    assert until(lambda: scheduler.counts() == (1, 2))
    for each in two:
        each.scheduled.deadline.seconds = LAST_MOMENTS / 2
    assert until(lambda: scheduler.counts() == (2, 1))  # at most as many extra slots as slots
    assert until(lambda: sum(each.is_running.is_set() for each in two) == 1)
    next(each for each in two if each.is_running.is_set()).release()
    assert until(lambda: two[0].is_running.is_set() or two[1].is_running.is_set())


def test_turn_lasts_a_minimum_time(begin):
    scheduler = SearchScheduler(1)
    long = begin(scheduler, 60.0)
    assert long.is_running.wait(PATIENCE)
    began = time.monotonic()
    short = begin(scheduler, 0.5)
    assert short.is_running.wait(PATIENCE)
    assert long.scheduled.run_time >= MIN_SLICE_S or time.monotonic() - began >= MIN_SLICE_S


def test_reserve_follows_measured_lateness():
    scheduler = SearchScheduler(1)
    assert scheduler.reserve == pytest.approx(0.03)
    scheduler.record_lateness(0.05)
    assert scheduler.reserve == pytest.approx(0.075)
    scheduler.record_lateness(5.0)
    assert scheduler.reserve == scheduler_module.MAX_RESERVE
    for _ in range(1000):
        scheduler.record_lateness(-0.1)
    assert scheduler.reserve == scheduler_module.MIN_RESERVE
