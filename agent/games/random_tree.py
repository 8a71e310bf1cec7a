"""Random uniform trees, in which all inner nodes have the same number of children.

The leaf values are distinct.

These trees are the standard test bed for search algorithms: J. Pearl, 'Heuristics' (1984).
"""

from random import Random

from agent.games.tree import Node, Tree, evaluate

__all__ = ["GAME", "RandomTree", "evaluate"]


class RandomTree(Tree):
    """A uniform tree whose leaf values are a random permutation of 0, 1, 2, ...

    The steps of a search depend only on the order of the leaf values. These trees therefore
    represent all trees whose leaf values are independent and continuously distributed.

    `ordered` is the fraction of nodes whose best child comes first, as in T. Marsland and M.
    Campbell, 'Parallel search of strongly ordered game trees' (1982). In all other nodes, the index
    of the best child is random.
    """

    def __init__(
        self, branching: int = 3, depth: int = 4, seed: int = 0, ordered: float = 0
    ) -> None:
        if branching < 1 or depth < 0:
            raise ValueError(
                f"branching must be at least 1 and depth at least 0 (got {branching} and {depth})"
            )
        if not 0 <= ordered <= 1:
            raise ValueError(f"ordered must be between 0 and 1 (got {ordered})")
        level: list[Node] = list(range(branching**depth))
        random = Random(seed)
        random.shuffle(level)
        for _ in range(depth):
            level = [level[start : start + branching] for start in range(0, len(level), branching)]
        if ordered:
            _put_best_first(level[0], True, ordered, random)
        super().__init__(level[0])


def _put_best_first(node: Node, maximises: bool, share: float, random: Random) -> float:
    """Move the best child to the front in a random fraction `share` of the nodes.

    Return the value of `node`.
    """
    if not isinstance(node, list):
        return node
    values = [_put_best_first(child, not maximises, share, random) for child in node]
    best = (max if maximises else min)(values)
    index = values.index(best)
    if random.random() < share:
        node[0], node[index] = node[index], node[0]
    return best


GAME = RandomTree
