import threading

from agent.threads.one_shot_event import OneShotEvent, wait_for_any


def test_hooks_run_once_when_set_or_at_once_if_already_set():
    event, calls = OneShotEvent(), []
    event.add_callback(lambda: calls.append("before"))
    assert not event.is_set()
    event.set()
    event.set()
    assert event.is_set()
    event.add_callback(lambda: calls.append("after"))
    assert calls == ["before", "after"]


def test_waiting_ends_when_any_latch_is_set():
    first, second = OneShotEvent(), OneShotEvent()
    timer = threading.Timer(0.01, second.set)
    timer.start()
    wait_for_any(first, second, timeout=20.0)
    timer.join()
    assert second.is_set()
    assert not first.is_set()


def test_waiting_ends_with_the_timeout():
    wait_for_any(OneShotEvent(), timeout=0.001)
    wait_for_any(OneShotEvent(), timeout=0.0)
