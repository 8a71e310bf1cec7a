"""User code that does not return is detected and interrupted by another thread."""

import contextlib
import threading
import time

import pytest

from agent.threads.background_call import AbandonedError, BackgroundCall, MonitoredFunction
from agent.threads.one_shot_event import OneShotEvent
from tests.waiting import PATIENCE


def test_result_or_exception_is_passed_on():
    fine, failing = BackgroundCall(lambda: 5, "fine"), BackgroundCall(lambda: 1 / 0, "failing")
    assert fine.wait(timeout=PATIENCE)
    assert fine.result() == 5
    assert not fine.thread.is_alive()
    assert failing.wait(timeout=PATIENCE)
    with pytest.raises(ZeroDivisionError):
        failing.result()


def test_waiting_ends_when_stop_latch_is_set():
    gate, stop = threading.Event(), OneShotEvent()
    call = BackgroundCall(lambda: gate.wait(PATIENCE), "waiting")
    stop.set()
    assert not call.wait(stop, timeout=PATIENCE)
    gate.set()
    assert call.wait(timeout=PATIENCE)


def endless():
    while True:
        pass


def swallowing():
    while True:
        with contextlib.suppress(Exception):
            endless()


@pytest.mark.parametrize("loop", [endless, swallowing])
def test_stuck_loop_is_interrupted(loop):
    function = MonitoredFunction(loop)
    assert not function.is_stuck(0.0)
    call = BackgroundCall(function, "loop")
    assert not call.wait(timeout=0.05)
    assert function.is_stuck(0.01)
    assert not function.is_stuck(PATIENCE)
    function.abandon()
    assert call.wait(timeout=PATIENCE)
    with pytest.raises(AbandonedError):
        call.result()


def test_unwatched_loop_is_interrupted():
    call = BackgroundCall(endless, "loop")
    call.abandon()
    assert call.wait(timeout=PATIENCE)
    with pytest.raises(AbandonedError):
        call.result()


def test_call_given_up_at_any_moment_is_over():
    """Before the thread runs, while it runs, and while it ends."""
    for number in range(300):
        call = BackgroundCall(lambda: sum(range(100)), "short")
        for _ in range(number):
            pass
        call.abandon()
        assert call.wait(timeout=PATIENCE)
        with contextlib.suppress(AbandonedError):
            assert call.result() == 4950


def test_abandoned_sleeping_call_ends_when_it_wakes():
    gate = threading.Event()
    function = MonitoredFunction(lambda number: gate.wait(PATIENCE) and number)
    call = BackgroundCall(lambda: function(1), "asleep")
    while not function.is_stuck(0.0):
        time.sleep(0.001)
    function.abandon()
    assert not function.is_stuck(0.0)
    gate.set()
    assert function(2) == 2
    assert call.wait(timeout=PATIENCE)
    with pytest.raises(AbandonedError):
        call.result()


def test_call_as_long_as_earlier_calls_is_not_stuck(monkeypatch):
    now, found = [0.0], []
    monkeypatch.setattr(time, "monotonic", lambda: now[0])

    def network(*seconds):
        for each in seconds:
            now[0] += each
            found.append(function.is_stuck(0.03))

    function = MonitoredFunction(network)
    for slowest, limit in ((0.01, 0.03), (0.1, 0.2), (1.0, 0.25)):
        function(slowest)
        found.clear()
        function(0.9 * limit, 0.2 * limit)
        assert found == [False, True]
