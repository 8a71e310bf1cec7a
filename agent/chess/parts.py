"""Groups of chess kernel modules ("parts") that are compiled and loaded separately."""

from collections.abc import Callable
from functools import partial

from agent.chess.variants import own_name
from agent.games.variants import VARIANTS as CHESS_VARIANTS

ALPHABETA, MCTS, SELFPLAY = "alphabeta", "mcts", "selfplay"
TRACING, TIMING = "tracing", "timing"

# The modules with entry points of each part, in the order of compilation.
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


def variant_part(variant: str) -> str:
    """Return the name of the part with the alpha-beta search for a variant."""
    return f"{ALPHABETA}-{variant}"


_VARIANT_MODULES = (
    "agent.chess.board.kernel_board",
    "agent.chess.search.quiescence",
    "agent.chess.search.alphabeta",
    "agent.chess.search.aspiration",
    "agent.chess.evaluation.variant_evaluation",
)
# The parts that are compiled only on request.
OPTIONAL_PARTS = {
    variant_part(variant): tuple(own_name(variant, name) for name in _VARIANT_MODULES)
    for variant in CHESS_VARIANTS[1:]
}

# No other module calls the entry points of these modules, so a child process compiles them.
COMPILED_IN_PARALLEL = (
    "agent.chess.evaluation.handcrafted",
    "agent.chess.evaluation.shipped_network",
    "agent.chess.evaluation.evaluation_trace",
    *(modules[-1] for modules in OPTIONAL_PARTS.values()),
)
# Modules that are compiled with their part, but imported lazily.
ON_DEMAND = ("agent.chess.evaluation.handcrafted",)


def _shipped_neurons() -> str:
    # lazy import: NumPy is slow to load
    from agent.chess.evaluation.nnue_format import NetworkError, read_neuron_count
    from agent.evaluation_types import SHIPPED_NETWORK

    try:
        return str(read_neuron_count(SHIPPED_NETWORK))
    except NetworkError:
        return ""


def _variant_neurons(variant: str) -> str:
    from agent.chess.evaluation.variant_networks import neuron_count  # lazy: NumPy is slow to load

    return str(neuron_count(variant))


# What the compiled code of a part depends on besides its sources.
VARIANTS: dict[str, Callable[[], str]] = {
    ALPHABETA: _shipped_neurons,
    **{variant_part(variant): partial(_variant_neurons, variant) for variant in CHESS_VARIANTS[1:]},
}
