"""Evaluations of Connect Four as the kernel calls them: values on any scale, made scores."""

from collections.abc import Callable
from typing import Any

from agent.compiled.evaluators import CompiledEvaluator, Evaluator, PythonEvaluator
from agent.compiled.scale import to_score
from agent.compiled.user_evaluation import compile_evaluation
from agent.connect_four.evaluation import handcrafted_function, users_score
from agent.connect_four.records import Worker
from agent.evaluation import Evaluation


def make_evaluator(
    evaluation: Evaluation, game_at: Callable[[int], Any], on_error: Callable[[], None]
) -> Evaluator:
    """Make the C function of an evaluation, compiling it if need be.

    game_at: returns the game at a ply of the search, for a plain function. on_error: ends the
    search. Raises EvaluationError if the function cannot be compiled.
    """
    if evaluation.python is not None:
        function: Callable[[Any], float] = evaluation.python
        return PythonEvaluator(
            evaluation.name, lambda _, ply: to_score(function(game_at(ply))), on_error
        )
    if evaluation.jitted is None:
        return CompiledEvaluator(evaluation.name, handcrafted_function)
    return CompiledEvaluator(
        evaluation.name,
        compile_evaluation(evaluation.name, evaluation.jitted, Worker, users_score),
    )
