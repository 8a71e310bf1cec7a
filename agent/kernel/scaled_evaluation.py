from collections.abc import Callable
from typing import Any

from numba import float64, int32

from agent.evaluation_types import Evaluation
from agent.kernel.decorators import kernel
from agent.kernel.evaluators import CompiledEvaluator, Evaluator, PythonEvaluator
from agent.kernel.score_scale import to_score
from agent.kernel.user_evaluation import checked, compile_evaluation

_score_of_value = kernel(to_score)


@checked  # type: ignore[untyped-decorator]
def _user_score(value: Any) -> Any:
    return int32(_score_of_value(float64(value)))


def make_user_evaluator(
    evaluation: Evaluation,
    worker: Any,
    game_at: Callable[[int, int], Any],
    on_error: Callable[[], None],
) -> Evaluator:
    """Return an evaluator for a user's evaluation, whose values can have any scale.

    `worker` is the type of the worker record. `game_at(address, ply)` returns the game for a Python
    evaluation. `on_error` is called after a Python evaluation has raised an exception, and must
    stop the search. Raise `EvaluationError` if compilation fails.
    """
    if evaluation.python is not None:
        function: Callable[[Any], float] = evaluation.python
        return PythonEvaluator(
            evaluation.name,
            lambda address, ply: to_score(function(game_at(address, ply))),
            on_error,
        )
    assert evaluation.jitted is not None, "an evaluation is a function"
    return CompiledEvaluator(
        evaluation.name,
        compile_evaluation(evaluation.name, evaluation.jitted, worker, _user_score),
    )
