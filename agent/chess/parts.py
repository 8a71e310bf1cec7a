"""The parts of the chess kernel: what every engine needs, and what a choice or a command adds."""

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
    ),
    MCTS: ("agent.compiled.tree", "agent.chess.mcts", "agent.chess.batched_mcts"),
    SELFPLAY: ("agent.chess.selfplay",),
    TRACING: ("agent.chess.tracing",),
    TIMING: ("agent.chess.timing",),
}

# Modules without an entry point that others call: a second process can compile them meanwhile.
APART = ("agent.chess.handcrafted", "agent.chess.tracing")
# Modules that import one of those, and so come after them.
AFTERWARDS = ("agent.chess.selfplay", "agent.chess.timing")
