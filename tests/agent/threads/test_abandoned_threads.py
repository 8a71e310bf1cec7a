"""Bookkeeping of abandoned threads, and detection of stalled searches."""

import threading

from agent.threads import abandoned_threads
from agent.threads.abandoned_threads import AbandonedThreads


def test_finished_threads_are_dropped_at_next_search():
    abandoned, end = AbandonedThreads(), threading.Event()
    threads = [threading.Thread(target=end.wait, args=(20,)) for _ in range(2)]
    for thread in threads:
        thread.start()
        abandoned.add(thread)
    abandoned.start_search()
    assert abandoned.count_exceeds(1)
    assert not abandoned.count_exceeds(2)
    end.set()
    for thread in threads:
        thread.join()
    assert abandoned.count_exceeds(1)  # until the next search
    abandoned.start_search()
    assert not abandoned.count_exceeds(0)
    abandoned.add(threads[0])
    abandoned.clear()
    assert not abandoned.count_exceeds(0)


def test_search_is_silent_without_new_nodes(monkeypatch):
    now = 100.0
    monkeypatch.setattr(abandoned_threads.time, "monotonic", lambda: now)
    abandoned = AbandonedThreads()
    assert not abandoned.is_stalled(5, 1.0)
    now = 100.9
    assert not abandoned.is_stalled(5, 1.0)
    assert not abandoned.is_stalled(6, 1.0)
    now = 101.8
    assert not abandoned.is_stalled(6, 1.0)
    now = 101.9
    assert abandoned.is_stalled(6, 1.0)
    abandoned.start_search()
    assert not abandoned.is_stalled(6, 1.0)
