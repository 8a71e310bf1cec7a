"""A user's evaluation of a game whose values are on any scale, as the kernel calls it."""

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
    """Return the score of a number that a user's compiled evaluation returned."""
    return int32(_score_of_value(float64(value)))


def make_user_evaluator(
    evaluation: Evaluation,
    worker: Any,
    game_at: Callable[[int, int], Any],
    on_error: Callable[[], None],
) -> Evaluator:
    """Make the C function of a user's evaluation, compiling it if need be.

    worker: the record that a compiled one takes. game_at: returns the game at a worker's address
    and a ply, for a plain one. on_error: ends the search. Raises EvaluationError if the function
    cannot be compiled.
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
