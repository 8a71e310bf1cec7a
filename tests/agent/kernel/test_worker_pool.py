"""Workers that search together: who is loaded, who is told to stop, who is waited for."""

import threading
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from agent.kernel.worker_pool import WorkerPool


class Hand:
    """What a kernel works in: its record has the fields that a crew knows of."""

    def __init__(self) -> None:
        self.worker = SimpleNamespace(stop=1)
        self.goes_on = threading.Event()

    def work(self, done: Callable[[], None]) -> None:
        """Be a kernel: work until the stop is set, which is looked for now and then."""
        while not self.worker.stop:
            self.goes_on.wait(0.001)
        done()


def load(hand: Hand) -> None:
    hand.worker.stop = 0


@pytest.fixture
def crew() -> WorkerPool[Hand]:
    return WorkerPool(Hand, 3)


def test_search_begins_with_one_worker(crew: WorkerPool[Hand]) -> None:
    crew.begin(load)
    assert [hand.worker.stop for hand in crew] == [0, 1, 1]
    assert list(crew.active) == [crew.first]
    crew.add_workers(2)
    assert [hand.worker.stop for hand in crew] == [0, 0, 1]
    assert list(crew.active) == list(crew)[:2]


def test_other_workers_run_in_threads_and_are_stopped(crew: WorkerPool[Hand]) -> None:
    crew.begin(load)
    crew.add_workers(3)
    worked: list[tuple[int, Hand]] = []
    before = threading.active_count()
    crew.start(lambda hand, number: hand.work(lambda: worked.append((number, hand))))
    assert threading.active_count() == before + 2
    crew.end()
    assert threading.active_count() == before
    _, second, third = crew
    assert sorted(number for number, _ in worked) == [1, 2]
    assert {id(hand) for _, hand in worked} == {id(second), id(third)}
    assert not crew.first.worker.stop


def test_workers_can_be_joined_and_restarted(crew: WorkerPool[Hand]) -> None:
    crew.begin(load)
    crew.add_workers(3)
    worked: list[int] = []
    for _ in range(2):
        crew.start(lambda hand, number: worked.append(number))
        crew.join()
    assert sorted(worked) == [1, 1, 2, 2]


def test_a_stop_is_kept_until_the_crew_is_armed(crew: WorkerPool[Hand]) -> None:
    crew.stop()
    crew.begin(load)
    assert crew.stopped
    assert [hand.worker.stop for hand in crew] == [1, 1, 1]
    crew.clear_stop()
    crew.begin(load)
    assert not crew.stopped
    assert crew.first.worker.stop == 0


def test_stop_during_loading_reaches_all_workers(crew: WorkerPool[Hand]) -> None:
    def load_and_stop(hand: Hand) -> None:
        if hand is not crew.first:
            crew.stop()
        load(hand)

    crew.begin(load_and_stop)
    assert not crew.stopped
    crew.add_workers(3)
    assert [hand.worker.stop for hand in crew] == [1, 1, 1]


def test_crew_can_be_resized_and_renewed(crew: WorkerPool[Hand]) -> None:
    first, second, _ = crew
    crew.resize(2)
    assert list(crew) == [first, second]
    crew.resize(4)
    assert len(crew) == 4
    assert list(crew)[:2] == [first, second]
    crew.reset_helpers()
    assert len(crew) == 4
    assert crew.first is first
    assert second not in list(crew)
