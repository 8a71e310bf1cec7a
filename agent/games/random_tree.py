"""The uniform random tree: every node has as many children, every leaf another value.

It is what search algorithms are compared on: J. Pearl, 'Heuristics' (1984).
"""

from random import Random

from agent.games.tree import Node, Tree, evaluate

__all__ = ["GAME", "RandomTree", "evaluate"]


class RandomTree(Tree):
    """A uniform tree whose leaves hold 0, 1, 2, ... in an order that follows from the seed.

    To a search only the order of the values matters, so these stand for any independent
    continuous values. ordered: in so large a share of the nodes the best child is the first, as
    in the trees of T. Marsland and M. Campbell, 'Parallel search of strongly ordered game trees'
    (1982); in the others it is wherever chance has put it.
    """

    def __init__(
        self, branching: int = 3, depth: int = 4, seed: int = 0, ordered: float = 0
    ) -> None:
        if branching < 1 or depth < 0:
            raise ValueError(f"no tree has branching {branching} and depth {depth}")
        if not 0 <= ordered <= 1:
            raise ValueError(f"a share of {ordered} ordered nodes cannot be; use 0 to 1")
        level: list[Node] = list(range(branching**depth))
        random = Random(seed)
        random.shuffle(level)
        for _ in range(depth):
            level = [level[start : start + branching] for start in range(0, len(level), branching)]
        if ordered:
            _put_best_first(level[0], True, ordered, random)
        super().__init__(level[0])


def _put_best_first(node: Node, maximises: bool, share: float, random: Random) -> float:
    """Let the best child be the first, in so large a share of the nodes; return the value."""
    if not isinstance(node, list):
        return node
    values = [_put_best_first(child, not maximises, share, random) for child in node]
    best = (max if maximises else min)(values)
    place = values.index(best)
    if random.random() < share:
        node[0], node[place] = node[place], node[0]
    return best


GAME = RandomTree
