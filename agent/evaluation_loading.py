"""Load evaluations by name: built-in evaluations, networks, and user functions."""

from collections.abc import Callable
from types import ModuleType

from agent.evaluation_types import (
    HANDCRAFTED,
    BatchedEvaluator,
    Evaluation,
    EvaluationError,
    JittedEvaluator,
    from_function,
    is_built_in,
    learned_file,
    network_file,
    split_spec,
)
from agent.games.catalogue import GameEvaluation, GameType
from agent.io import user_code
from agent.io.message import Message
from agent.threads.background_call import BackgroundCall

# Time limit for importing an evaluation's file.
LOAD_TIMEOUT_S = 30.0


def load(spec: str) -> Evaluation:
    """Return the evaluation with the name `spec`. Raise EvaluationError if it fails to load."""
    spec = spec.strip()
    if is_built_in(spec):
        return HANDCRAFTED
    if network_file(spec) is not None:
        raise EvaluationError(
            "evaluation {}: networks work only in the compiled chess search", spec
        )
    if (file := learned_file(spec)) is not None:
        from agent.games import learned_evaluation  # lazy import: loads NumPy

        return Evaluation(spec, python=learned_evaluation.load(file))
    location, name = split_spec(spec)
    try:
        module = user_code.load_module(location, "evaluation")
    except user_code.UserCodeError as error:
        raise EvaluationError(str(error)) from error
    function = getattr(module, name, None)
    if not callable(function) and not isinstance(function, JittedEvaluator):
        known = ", ".join(_functions(module)) or Message("none")
        raise EvaluationError("{}: unknown function {!r} (defined: {})", location, name, known)
    return from_function(function, spec)


def _functions(module: ModuleType) -> list[str]:
    return [
        name
        for name, value in vars(module).items()
        if isinstance(value, JittedEvaluator | BatchedEvaluator)
        or (callable(value) and getattr(value, "__module__", None) == module.__name__)
    ]


def load_with_timeout(spec: str, loader: Callable[[str], Evaluation] = load) -> Evaluation:
    """Load an evaluation. Raise EvaluationError on failure, or after LOAD_TIMEOUT_S."""
    loading = BackgroundCall(lambda: loader(spec), "evaluation")
    if not loading.wait(timeout=LOAD_TIMEOUT_S):
        loading.abandon()
        raise EvaluationError(
            "evaluation {}: loading took more than {:.0f} s", spec, LOAD_TIMEOUT_S
        )
    return loading.result()


def load_game_evaluation(game_type: GameType, spec: str) -> GameEvaluation:
    """Return a function that evaluates a game object for the side to move.

    `spec` is the name of an evaluation (see `agent.evaluation`). This function and the returned one
    raise EvaluationError if a user's evaluation fails.
    """
    return game_type.adapt_evaluation(load(spec))
