"""Loading of evaluations by name: built-in ones, networks, and functions of the user."""

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
from agent.threads.background_call import BackgroundCall

# How long the file of an evaluation may take to run, in seconds.
LOAD_TIMEOUT_S = 30.0


def load(spec: str) -> Evaluation:
    """Find the evaluation that `spec` names (see the module), reading its file anew.

    Raises EvaluationError with a message that names what is wrong.
    """
    spec = spec.strip()
    if is_built_in(spec):
        return HANDCRAFTED
    if network_file(spec) is not None:
        raise EvaluationError(
            f"evaluation {spec}: networks evaluate the compiled chess search alone"
        )
    if (file := learned_file(spec)) is not None:
        from agent.games import learned_evaluation  # lazy import: brings in NumPy

        return Evaluation(spec, python=learned_evaluation.load(file))
    place, name = split_spec(spec)
    try:
        module = user_code.load_module(place, "evaluation")
    except user_code.UserCodeError as error:
        raise EvaluationError(str(error)) from error
    function = getattr(module, name, None)
    if not callable(function) and not isinstance(function, JittedEvaluator):
        known = ", ".join(_functions(module)) or "none"
        raise EvaluationError(f"{place} has no function {name!r}; it has: {known}")
    return from_function(function, spec)


def _functions(module: ModuleType) -> list[str]:
    """List the functions that a module defines, not those it imports."""
    return [
        name
        for name, value in vars(module).items()
        if isinstance(value, JittedEvaluator | BatchedEvaluator)
        or (callable(value) and getattr(value, "__module__", None) == module.__name__)
    ]


def load_with_timeout(spec: str, loader: Callable[[str], Evaluation] = load) -> Evaluation:
    """Load an evaluation by a loader, in a thread apart.

    Raises EvaluationError as the loader does, and if the file takes too long.
    """
    loading = BackgroundCall(lambda: loader(spec), "evaluation")
    if not loading.wait(timeout=LOAD_TIMEOUT_S):
        loading.abandon()
        raise EvaluationError(f"evaluation {spec} takes more than {LOAD_TIMEOUT_S:.0f} s to load")
    return loading.result()


def load_game_evaluation(game_type: GameType, spec: str) -> GameEvaluation:
    """Return an evaluation of a game: the value of a position for the side to move.

    spec: an evaluation as in `agent.evaluation`. A function gets the game; in chess it gets a
    `chess.Board`. Raises EvaluationError if it cannot be loaded; the evaluation raises
    EvaluationError if the function fails or returns no number.
    """
    return game_type.adapt_evaluation(load(spec))
