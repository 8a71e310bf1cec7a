"""Random uniform trees with distinct leaf values, the standard test bed for search algorithms.

Source: J. Pearl, 'Heuristics' (1984).
"""

from random import Random

from agent.games.tree import Node, Tree, evaluate
from agent.io.message import Message

__all__ = ["GAME", "RandomTree", "evaluate"]


class RandomTree(Tree):
    """A uniform tree whose leaf values are a random permutation of 0, 1, 2, ...

    `branching` is the number of children of each inner node. `ordered` is the probability that the
    best child of a node is moved to the front, as in T. Marsland and M. Campbell, 'Parallel search
    of strongly ordered game trees' (1982).
    """

    def __init__(
        self, branching: int = 3, depth: int = 4, seed: int = 0, ordered: float = 0
    ) -> None:
        if branching < 1 or depth < 0:
            raise ValueError(
                Message(
                    "branching must be at least 1 and depth at least 0 (got {} and {})",
                    branching,
                    depth,
                )
            )
        if not 0 <= ordered <= 1:
            raise ValueError(Message("ordered must be between 0 and 1 (got {})", ordered))
        level: list[Node] = list(range(branching**depth))
        random = Random(seed)
        random.shuffle(level)
        for _ in range(depth):
            level = [level[start : start + branching] for start in range(0, len(level), branching)]
        if ordered:
            _put_best_first(level[0], True, ordered, random)
        super().__init__(level[0])


def _put_best_first(node: Node, maximises: bool, share: float, random: Random) -> float:
    """Put the best child of each node first with probability `share`. Return the root's value."""
    if not isinstance(node, list):
        return node
    values = [_put_best_first(child, not maximises, share, random) for child in node]
    best = (max if maximises else min)(values)
    index = values.index(best)
    if random.random() < share:
        node[0], node[index] = node[index], node[0]
    return best


GAME = RandomTree
