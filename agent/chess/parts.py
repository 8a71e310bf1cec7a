"""The parts of the chess kernel: what every engine needs, and what a choice or a command adds."""

from collections.abc import Callable

ALPHABETA, MCTS, SELFPLAY = "alphabeta", "mcts", "selfplay"
TRACING, TIMING = "tracing", "timing"

# Of each part, the modules with entry points, in the order of compilation.
PARTS = {
    ALPHABETA: (
        "agent.chess.board.kernel_board",
        "agent.chess.endgames.builtin_tablebase",
        "agent.chess.search.quiescence",
        "agent.chess.search.alphabeta",
        "agent.chess.search.aspiration",
        "agent.chess.evaluation.handcrafted",
        "agent.chess.evaluation.shipped_network",
    ),
    MCTS: ("agent.kernel.mcts_tree", "agent.chess.search.mcts", "agent.chess.search.batched_mcts"),
    SELFPLAY: ("agent.chess.search.selfplay",),
    TRACING: ("agent.chess.evaluation.evaluation_trace",),
    TIMING: ("agent.chess.evaluation.timing",),
}

# Modules without an entry point that others call: a second process can compile them meanwhile.
COMPILED_IN_PARALLEL = (
    "agent.chess.evaluation.handcrafted",
    "agent.chess.evaluation.shipped_network",
    "agent.chess.evaluation.evaluation_trace",
)
# Modules that are compiled with their part, and imported where they are asked for.
ON_DEMAND = ("agent.chess.evaluation.handcrafted",)


def _shipped_neurons() -> str:
    """Return how many neurons the network that ships has, "" if it cannot be told."""
    from agent.chess.evaluation.nnue_format import (  # which takes NumPy
        NetworkError,
        read_neuron_count,
    )
    from agent.evaluation_types import SHIPPED_NETWORK

    try:
        return str(read_neuron_count(SHIPPED_NETWORK))
    except NetworkError:
        return ""


# Of a part, what its compiled code follows from beside the sources.
VARIANTS: dict[str, Callable[[], str]] = {ALPHABETA: _shipped_neurons}
