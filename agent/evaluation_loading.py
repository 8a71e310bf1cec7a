"""A user's evaluation, loaded in bounded time: its file may take long, or never end."""

from collections.abc import Callable

from agent.evaluation import Evaluation, EvaluationError, load
from agent.threads.apart import Apart

# How long the file of an evaluation may take to run, in seconds.
LOADING_PATIENCE = 30.0


def load_in_time(spec: str, loader: Callable[[str], Evaluation] = load) -> Evaluation:
    """Load an evaluation by a loader, in a thread apart.

    Raises EvaluationError as the loader does, and if the file takes too long.
    """
    loading = Apart(lambda: loader(spec), "evaluation")
    if not loading.wait(timeout=LOADING_PATIENCE):
        loading.give_up()
        raise EvaluationError(f"evaluation {spec} takes more than {LOADING_PATIENCE:.0f} s to load")
    return loading.result()
