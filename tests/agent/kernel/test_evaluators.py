"""Python functions called by compiled searches."""

import threading

import pytest

from agent.evaluation import EvaluationError
from agent.kernel.evaluators import PythonEvaluator, evaluate_root


def interrupted(worker: int, ply: int) -> int:
    raise KeyboardInterrupt


def test_keyboard_interrupt_is_raised_in_main_thread() -> None:
    ended: list[bool] = []
    evaluator = PythonEvaluator("mine", interrupted, lambda: ended.append(True))
    assert evaluate_root(evaluator, 0) == 0
    assert ended == [True]
    with pytest.raises(KeyboardInterrupt):
        evaluator.pop_error(())
    assert evaluator.pop_error(()) is None


def test_keyboard_interrupt_is_evaluation_error_in_other_threads() -> None:
    evaluator = PythonEvaluator("mine", interrupted, lambda: None)
    thread = threading.Thread(target=evaluate_root, args=(evaluator, 0))
    thread.start()
    thread.join()
    error = evaluator.pop_error(())
    assert isinstance(error, EvaluationError)
    assert "mine" in str(error)
