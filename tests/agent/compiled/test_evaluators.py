"""Functions of Python as compiled searches call them."""

import threading

import pytest

from agent.compiled.evaluators import PythonEvaluator, call
from agent.evaluation import EvaluationError


def interrupted(worker: int, ply: int) -> int:
    raise KeyboardInterrupt


def test_the_keyboard_ends_whoever_calls_in_the_main_thread() -> None:
    ended: list[bool] = []
    evaluator = PythonEvaluator("mine", interrupted, lambda: ended.append(True))
    assert call(evaluator, 0) == 0
    assert ended == [True]
    with pytest.raises(KeyboardInterrupt):
        evaluator.take_error(())
    assert evaluator.take_error(()) is None


def test_elsewhere_it_is_a_failure_of_the_function_as_all_others() -> None:
    evaluator = PythonEvaluator("mine", interrupted, lambda: None)
    thread = threading.Thread(target=call, args=(evaluator, 0))
    thread.start()
    thread.join()
    error = evaluator.take_error(())
    assert isinstance(error, EvaluationError)
    assert "mine" in str(error)
