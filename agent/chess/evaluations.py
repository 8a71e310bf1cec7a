"""The evaluation of chess that a user names: a network's too, `nnue:FILE`."""

from agent import evaluation
from agent.evaluation import Evaluation, EvaluationError, network_file


def load(spec: str) -> Evaluation:
    """Find the evaluation that `spec` names, reading its file anew.

    Raises EvaluationError with a message that names what is wrong.
    """
    file = network_file(spec)
    if file is None:
        return evaluation.load(spec)
    from agent.chess import network_format  # which takes NumPy

    if not file:
        raise EvaluationError(f"evaluation {spec} names no file: nnue:FILE is meant")
    try:
        return Evaluation(spec, network=network_format.read(file))
    except network_format.NetworkError as error:
        raise EvaluationError(f"evaluation {spec}: {error}") from None
