from functools import partial

from agent.threads.one_shot_event import wait_for_any
from agent.threads.serial_executor import SerialExecutor
from tests.waiting import PATIENCE


def test_job_submitted_while_the_executor_closes_is_not_run():
    """Nobody would stop it."""
    executor, later = SerialExecutor(lambda error: None), []
    running = executor.submit(lambda job: wait_for_any(job.stop))
    running.stop.add_callback(lambda: executor.submit(later.append))
    assert executor.close(PATIENCE)
    assert later == []


def test_each_job_is_superseded_by_the_next_one():
    executor = SerialExecutor(lambda error: None)
    jobs = [executor.submit(lambda job: wait_for_any(job.stop)) for _ in range(4)]
    assert [job.superseded.is_set() for job in jobs] == [True, True, True, False]
    assert executor.close(PATIENCE)


def test_submitting_a_job_does_not_visit_all_waiting_jobs(monkeypatch):
    """Scripts send thousands of commands at once."""
    executor = SerialExecutor(lambda error: None)
    jobs = [executor.submit(lambda job: wait_for_any(job.stop)) for _ in range(4)]
    visited = []
    for job in jobs:
        monkeypatch.setattr(job.superseded, "set", partial(visited.append, job))
    executor.submit(lambda job: None)
    assert visited == jobs[-1:]
    assert executor.close(PATIENCE)
