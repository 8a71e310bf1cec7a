"""Loading of chess evaluations by name, including networks (`nnue` or `nnue:FILE`)."""

import os
from dataclasses import replace
from typing import Any
from weakref import WeakValueDictionary

from agent import evaluation_loading
from agent.evaluation_types import (
    HANDCRAFTED,
    NETWORK,
    SHIPPED_NETWORK,
    Evaluation,
    EvaluationError,
    network_file,
)
from agent.threads.background_call import MonitoredFunction

DEFAULT = NETWORK
# The placeholder for the default evaluation until it is loaded.
UNLOADED_DEFAULT = Evaluation(DEFAULT)

# Loaded networks, by path and file status: all engines of a process share one copy.
_networks: WeakValueDictionary[tuple[str, tuple[int, ...]], Any] = WeakValueDictionary()


def load(spec: str) -> Evaluation:
    """Return the evaluation with the name `spec`, or the default evaluation for an empty string.

    A changed network file is read again. Raise `EvaluationError` if `spec` is unknown or invalid.
    """
    spec = spec.strip() or DEFAULT
    file = network_file(spec)
    if file is None:
        return evaluation_loading.load(spec)
    from agent.chess.evaluation import nnue_format  # lazy: NumPy is slow to load

    if not file:
        raise EvaluationError(f"evaluation {spec}: missing file name (expected nnue:FILE)")
    shipped = file == str(SHIPPED_NETWORK)  # never changed in place: can be mapped
    try:
        try:
            state = os.stat(file)
        except (OSError, ValueError):
            return Evaluation(spec, network=nnue_format.read(file))  # raises with a clear message
        # A file that replaces another may have the same times and size: compare the inode too.
        version = state.st_mtime_ns, state.st_ctime_ns, state.st_ino, state.st_size
        key = os.path.realpath(file), version
        network = _networks.get(key)
        if network is None:
            network = _networks[key] = nnue_format.read(file, mapped=shipped)
        return Evaluation(spec, network=network)
    except nnue_format.NetworkError as error:
        remedy = f"; reinstall Kempelen, or use `{HANDCRAFTED.name}`" if shipped else ""
        raise EvaluationError(f"evaluation {spec}: {error}{remedy}") from None


def load_with_timeout(spec: str) -> Evaluation:
    """Like `load`, but with a timeout. Calls of a Python evaluation are monitored for hanging."""
    evaluation = evaluation_loading.load_with_timeout(spec, load)
    if evaluation.python is None:
        return evaluation
    return replace(evaluation, python=MonitoredFunction(evaluation.python))
