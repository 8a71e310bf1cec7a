"""Worker pools: loading, starting, stopping and joining workers."""

import threading
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from agent.kernel.worker_pool import WorkerPool


class FakeWorker:
    """Fake worker memory, with a record as WorkerPool needs it."""

    def __init__(self) -> None:
        self.worker = SimpleNamespace(stop=1)
        self.idle = threading.Event()

    def work(self, done: Callable[[], None]) -> None:
        """Simulate a kernel, which runs until `stop` is set."""
        while not self.worker.stop:
            self.idle.wait(0.001)
        done()


def load(memory: FakeWorker) -> None:
    memory.worker.stop = 0


@pytest.fixture
def pool() -> WorkerPool[FakeWorker]:
    return WorkerPool(FakeWorker, 3)


def test_search_begins_with_one_worker(pool: WorkerPool[FakeWorker]) -> None:
    pool.begin(load)
    assert [memory.worker.stop for memory in pool] == [0, 1, 1]
    assert list(pool.active) == [pool.first]
    pool.add_workers(2)
    assert [memory.worker.stop for memory in pool] == [0, 0, 1]
    assert list(pool.active) == list(pool)[:2]


def test_other_workers_run_in_threads_and_are_stopped(pool: WorkerPool[FakeWorker]) -> None:
    pool.begin(load)
    pool.add_workers(3)
    worked: list[tuple[int, FakeWorker]] = []
    before = threading.active_count()
    pool.start(lambda memory, index: memory.work(lambda: worked.append((index, memory))))
    assert threading.active_count() == before + 2
    pool.end()
    assert threading.active_count() == before
    _, second, third = pool
    assert sorted(index for index, _ in worked) == [1, 2]
    assert {id(memory) for _, memory in worked} == {id(second), id(third)}
    assert not pool.first.worker.stop


def test_workers_can_be_joined_and_restarted(pool: WorkerPool[FakeWorker]) -> None:
    pool.begin(load)
    pool.add_workers(3)
    worked: list[int] = []
    for _ in range(2):
        pool.start(lambda memory, index: worked.append(index))
        pool.join()
    assert sorted(worked) == [1, 1, 2, 2]


def test_a_stop_is_kept_until_the_crew_is_armed(pool: WorkerPool[FakeWorker]) -> None:
    pool.stop()
    pool.begin(load)
    assert pool.stopped
    assert [memory.worker.stop for memory in pool] == [1, 1, 1]
    pool.clear_stop()
    pool.begin(load)
    assert not pool.stopped
    assert pool.first.worker.stop == 0


def test_stop_during_loading_reaches_all_workers(pool: WorkerPool[FakeWorker]) -> None:
    def load_and_stop(memory: FakeWorker) -> None:
        if memory is not pool.first:
            pool.stop()
        load(memory)

    pool.begin(load_and_stop)
    assert not pool.stopped
    pool.add_workers(3)
    assert [memory.worker.stop for memory in pool] == [1, 1, 1]


def test_crew_can_be_resized_and_renewed(pool: WorkerPool[FakeWorker]) -> None:
    first, second, _ = pool
    pool.resize(2)
    assert list(pool) == [first, second]
    pool.resize(4)
    assert len(pool) == 4
    assert list(pool)[:2] == [first, second]
    pool.reset_helpers()
    assert len(pool) == 4
    assert pool.first is first
    assert second not in list(pool)


def test_pause_does_not_interrupt_a_search_that_has_resumed(
    pool: WorkerPool[FakeWorker], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search returns by itself while another thread is requesting a pause."""
    pool.begin(load)
    interrupt = pool._interrupt
    resuming = threading.Thread(target=pool.resume_after_pause)

    def resume_first() -> None:
        monkeypatch.undo()
        resuming.start()
        resuming.join(0.2)  # it must wait for the request, so it does not end
        interrupt()

    monkeypatch.setattr(pool, "_interrupt", resume_first)
    pool.pause(lambda: None)
    resuming.join()
    assert not pool.interrupted
    assert not pool.first.worker.stop
