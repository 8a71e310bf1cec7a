"""Who of many may search: by fixed times, and by threads that search."""

import threading
import time
from itertools import pairwise
from math import inf

import pytest

from agent.threads import turns as turns_module
from agent.threads.turns import LAST_MOMENTS, LEAST, Turns
from tests.waiting import PATIENCE


class Time:
    """What is left of a search's time."""

    def __init__(self, left=inf):
        self.seconds = left

    def left(self):
        return self.seconds

    def remaining(self):
        return self.seconds


class Searching:
    """A thread that wants a turn, and has what it got until it is told to leave."""

    def __init__(self, turns, left=inf, threads=1, endless=False, pausable=True):
        self.turn = turns.enter(Time(left), threads, endless=endless)
        self.has_turn = threading.Event()
        self.paused = threading.Event()
        self.resume = threading.Event()
        self.over = threading.Event()
        self.ended = threading.Event()
        if pausable:
            self.turn.pause = self.paused.set
        self.thread = threading.Thread(target=self._search, daemon=True)
        self.thread.start()

    def _search(self):
        while self.turn.take():
            self.has_turn.set()
            while not (self.paused.is_set() or self.over.is_set()):
                time.sleep(0.0005)
            self.has_turn.clear()
            self.paused.clear()
            if self.over.is_set():
                break
        self.turn.leave()
        self.ended.set()

    def leave(self):
        self.over.set()
        assert self.ended.wait(PATIENCE)


@pytest.fixture
def begin():
    all_of_them = []

    def start(*arguments, **options):
        all_of_them.append(Searching(*arguments, **options))
        return all_of_them[-1]

    yield start
    for each in all_of_them:
        each.over.set()
        each.turn.stop()
        assert each.ended.wait(PATIENCE)


def wait_until(true):
    deadline = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def test_running_searches_are_limited_to_slots(begin):
    turns = Turns(2)
    holders = [begin(turns, 60.0, pausable=False) for _ in range(2)]
    assert all(each.has_turn.wait(PATIENCE) for each in holders)
    third = begin(turns, 60.0)
    wait_until(lambda: turns.standing() == (2, 1))
    assert not third.has_turn.is_set()
    holders[0].leave()
    assert third.has_turn.wait(PATIENCE)
    assert third.turn.waited > 0


def test_earliest_deadline_runs_first_and_endless_search_last(begin):
    turns = Turns(1)
    holder = begin(turns, 0.5, pausable=False)
    assert holder.has_turn.wait(PATIENCE)
    waiting = []
    kinds = {"endless": (inf, True), "unlimited": (inf, False), "long": (60.0, False)}
    for number, (left, endless) in enumerate(kinds.values(), 1):
        waiting.append(begin(turns, left, endless=endless, pausable=False))
        wait_until(lambda number=number: turns.standing() == (1, number))
    short = begin(turns, 1.0, pausable=False)
    wait_until(lambda: turns.standing() == (1, 4))
    for before, next_one in pairwise([holder, short, *reversed(waiting)]):
        before.leave()
        assert next_one.has_turn.wait(PATIENCE)


def test_endless_search_is_paused_and_resumed(begin):
    turns = Turns(1)
    endless = begin(turns, endless=True)
    assert endless.has_turn.wait(PATIENCE)
    short = begin(turns, 0.2)
    assert short.has_turn.wait(PATIENCE)
    assert turns.standing() == (1, 1)
    assert not endless.has_turn.is_set()
    short.leave()
    assert endless.has_turn.wait(PATIENCE)


def test_unpausable_search_yields_when_it_asks_for_a_turn(begin):
    turns = Turns(1)
    deep = turns.enter(Time(), endless=True)
    assert deep.take()
    assert deep.take()  # nobody wants it back
    short = begin(turns, 0.2)
    wait_until(lambda: turns.standing() == (1, 1))
    wait_until(lambda: deep.recalled)
    later = threading.Timer(0.05, short.over.set)
    later.start()
    assert deep.take()
    assert short.ended.is_set()
    deep.leave()
    deep.leave()
    assert turns.standing() == (0, 0)


@pytest.mark.parametrize("endless", [True, False])
def test_similar_searches_share_a_slot(begin, monkeypatch, endless):
    monkeypatch.setattr(turns_module, "LONG", 0.02)
    turns = Turns(1)
    three = [begin(turns, inf if endless else 1000.0, endless=endless) for _ in range(3)]
    if not endless:  # as if each had little time
        for each in three:
            each.turn.expected.seconds = 0.12
    time.sleep(0.6)
    served = [each.turn.served for each in three]
    assert min(served) > 0.03, served


def test_late_endless_search_does_not_take_all_turns(begin, monkeypatch):
    monkeypatch.setattr(turns_module, "LONG", 0.02)
    turns = Turns(1)
    old = begin(turns, endless=True)
    assert old.has_turn.wait(PATIENCE)
    time.sleep(0.5)
    begin(turns, endless=True)
    wait_until(lambda: not old.has_turn.is_set())
    assert old.has_turn.wait(0.4)  # not only when the other has had half a second, too


def test_search_with_many_threads_waits_for_all_slots(begin):
    turns = Turns(2)
    one = begin(turns, 60.0, pausable=False)
    assert one.has_turn.wait(PATIENCE)
    both = begin(turns, 1.0, threads=64)
    wait_until(lambda: turns.standing() == (1, 1))
    other = begin(turns, 60.0)
    wait_until(lambda: turns.standing() == (1, 2))  # it does not overtake
    assert not other.has_turn.is_set()
    one.leave()
    assert both.has_turn.wait(PATIENCE)
    both.leave()
    assert other.has_turn.wait(PATIENCE)


def test_stop_ends_waiting_at_once(begin):
    turns = Turns(1)
    holder = begin(turns, 60.0, pausable=False)
    assert holder.has_turn.wait(PATIENCE)
    waiting = begin(turns, 60.0)
    wait_until(lambda: turns.standing() == (1, 1))
    waiting.turn.stop()
    assert waiting.ended.wait(PATIENCE)
    assert turns.standing() == (1, 0)
    after = turns.enter(Time(1.0))
    after.stop()
    assert not after.take()


def test_waiting_search_gets_extra_slot_in_last_moments(begin):
    turns = Turns(1)
    holder = begin(turns, 60.0, pausable=False)
    assert holder.has_turn.wait(PATIENCE)
    two = [begin(turns, 1.0, pausable=False) for _ in range(2)]
    wait_until(lambda: turns.standing() == (1, 2))
    for each in two:
        each.turn.expected.seconds = LAST_MOMENTS / 2
    wait_until(lambda: turns.standing() == (2, 1))  # but not all at once
    wait_until(lambda: sum(each.has_turn.is_set() for each in two) == 1)
    next(each for each in two if each.has_turn.is_set()).leave()
    wait_until(lambda: two[0].has_turn.is_set() or two[1].has_turn.is_set())


def test_turn_lasts_a_minimum_time(begin):
    turns = Turns(1)
    long = begin(turns, 60.0)
    assert long.has_turn.wait(PATIENCE)
    began = time.monotonic()
    short = begin(turns, 0.5)
    assert short.has_turn.wait(PATIENCE)
    assert long.turn.served >= LEAST or time.monotonic() - began >= LEAST


def test_reserve_follows_measured_lateness():
    turns = Turns(1)
    assert turns.reserve == pytest.approx(0.03)
    turns.note_lateness(0.05)
    assert turns.reserve == pytest.approx(0.075)
    turns.note_lateness(5.0)
    assert turns.reserve == turns_module.MOST_RESERVE
    for _ in range(1000):
        turns.note_lateness(-0.1)
    assert turns.reserve == turns_module.LEAST_RESERVE
