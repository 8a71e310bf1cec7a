"""A user's evaluation, loaded in bounded time: its file may take long, or never end."""

from collections.abc import Callable

from agent.evaluation import Evaluation, EvaluationError, load
from agent.threads.apart import BackgroundCall

# How long the file of an evaluation may take to run, in seconds.
LOAD_TIMEOUT_S = 30.0


def load_with_timeout(spec: str, loader: Callable[[str], Evaluation] = load) -> Evaluation:
    """Load an evaluation by a loader, in a thread apart.

    Raises EvaluationError as the loader does, and if the file takes too long.
    """
    loading = BackgroundCall(lambda: loader(spec), "evaluation")
    if not loading.wait(timeout=LOAD_TIMEOUT_S):
        loading.abandon()
        raise EvaluationError(f"evaluation {spec} takes more than {LOAD_TIMEOUT_S:.0f} s to load")
    return loading.result()
