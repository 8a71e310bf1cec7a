"""The parts of the kernel: what every engine needs, and what a choice of search adds."""

ALPHABETA, MCTS = "alphabeta", "mcts"

# Of each part, the modules with entry points, in the order of compilation.
PARTS = {
    ALPHABETA: ("agent.chess.rules", "agent.chess.handcrafted", "agent.chess.alphabeta"),
    MCTS: ("agent.chess.tree", "agent.chess.mcts"),
}
