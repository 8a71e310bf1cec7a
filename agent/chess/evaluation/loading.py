"""The evaluation of chess that a user names: a network's too, `nnue` or `nnue:FILE`.

DEFAULT alone says by which one chess is played where nobody names any.
"""

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
# What stands for it until it is loaded.
UNLOADED_DEFAULT = Evaluation(DEFAULT)

# The networks in use, by file and state of the file: one serves all engines of this process.
_networks: WeakValueDictionary[tuple[str, tuple[int, ...]], Any] = WeakValueDictionary()


def load(spec: str) -> Evaluation:
    """Find the evaluation that `spec` names, reading its file anew if it has changed.

    "" is the default. Raises EvaluationError with a message that names what is wrong.
    """
    spec = spec.strip() or DEFAULT
    file = network_file(spec)
    if file is None:
        return evaluation_loading.load(spec)
    from agent.chess.evaluation import nnue_format  # which takes NumPy

    if not file:
        raise EvaluationError(f"evaluation {spec} names no file: nnue:FILE is meant")
    shipped = file == str(SHIPPED_NETWORK)  # to which nobody writes
    try:
        try:
            state = os.stat(file)
        except (OSError, ValueError):
            return Evaluation(spec, network=nnue_format.read(file))  # which says what is wrong
        # Of a file that another has taken the place of, times and size may be the same.
        changes = state.st_mtime_ns, state.st_ctime_ns, state.st_ino, state.st_size
        key = os.path.realpath(file), changes
        network = _networks.get(key)
        if network is None:
            network = _networks[key] = nnue_format.read(file, mapped=shipped)
        return Evaluation(spec, network=network)
    except nnue_format.NetworkError as error:
        remedy = f"; install Kempelen anew, or choose `{HANDCRAFTED.name}`" if shipped else ""
        raise EvaluationError(f"evaluation {spec}: {error}{remedy}") from None


def load_with_timeout(spec: str) -> Evaluation:
    """Load an evaluation to be played with, in bounded time; a plain function is watched.

    Raises EvaluationError as `load` does, and if its file takes too long.
    """
    loaded = evaluation_loading.load_with_timeout(spec, load)
    if loaded.python is None:
        return loaded
    return replace(loaded, python=MonitoredFunction(loaded.python))
