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
