"""What is known of a user's code that did not return."""

import threading

from agent.threads import abandoned_threads
from agent.threads.abandoned_threads import AbandonedThreads


def test_finished_threads_are_dropped_at_next_search():
    left, end = AbandonedThreads(), threading.Event()
    threads = [threading.Thread(target=end.wait, args=(20,)) for _ in range(2)]
    for thread in threads:
        thread.start()
        left.add(thread)
    left.start_search()
    assert left.count_exceeds(1)
    assert not left.count_exceeds(2)
    end.set()
    for thread in threads:
        thread.join()
    assert left.count_exceeds(1)  # till the next search
    left.start_search()
    assert not left.count_exceeds(0)
    left.add(threads[0])
    left.clear()
    assert not left.count_exceeds(0)


def test_search_is_silent_without_new_nodes(monkeypatch):
    now = 100.0
    monkeypatch.setattr(abandoned_threads.time, "monotonic", lambda: now)
    left = AbandonedThreads()
    assert not left.is_stalled(5, 1.0)
    now = 100.9
    assert not left.is_stalled(5, 1.0)
    assert not left.is_stalled(6, 1.0)
    now = 101.8
    assert not left.is_stalled(6, 1.0)
    now = 101.9
    assert left.is_stalled(6, 1.0)
    left.start_search()
    assert not left.is_stalled(6, 1.0)
