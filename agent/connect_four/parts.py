"""The parts of this kernel: there is one."""

CONNECT_FOUR = "connect-four"

# The modules with entry points, in the order of compilation.
PARTS = {CONNECT_FOUR: ("agent.connect_four.rules", "agent.connect_four.alphabeta")}
APART = ("agent.connect_four.evaluation",)
AFTERWARDS: tuple[str, ...] = ()
