"""The parts of the chess kernel: what every engine needs, and what a choice or a command adds."""

from collections.abc import Callable

ALPHABETA, MCTS, SELFPLAY = "alphabeta", "mcts", "selfplay"
TRACING, TIMING = "tracing", "timing"

# Of each part, the modules with entry points, in the order of compilation.
PARTS = {
    ALPHABETA: (
        "agent.chess.rules",
        "agent.chess.own_tables",
        "agent.chess.quiescence",
        "agent.chess.alphabeta",
        "agent.chess.aspiration",
        "agent.chess.handcrafted",
        "agent.chess.shipped_network",
    ),
    MCTS: ("agent.compiled.tree", "agent.chess.mcts", "agent.chess.batched_mcts"),
    SELFPLAY: ("agent.chess.selfplay",),
    TRACING: ("agent.chess.tracing",),
    TIMING: ("agent.chess.timing",),
}

# Modules without an entry point that others call: a second process can compile them meanwhile.
COMPILED_IN_PARALLEL = ("agent.chess.handcrafted", "agent.chess.shipped_network", "agent.chess.tracing")
# Modules that are compiled with their part, and imported where they are asked for.
ON_DEMAND = ("agent.chess.handcrafted",)


def _shipped_neurons() -> str:
    """Return how many neurons the network that ships has, "" if it cannot be told."""
    from agent.chess.network_format import NetworkError, read_neuron_count  # which takes NumPy
    from agent.evaluation import SHIPPED_NETWORK

    try:
        return str(read_neuron_count(SHIPPED_NETWORK))
    except NetworkError:
        return ""


# Of a part, what its compiled code follows from beside the sources.
VARIANTS: dict[str, Callable[[], str]] = {ALPHABETA: _shipped_neurons}
