"""The uniform random tree: every node has as many children, every leaf another value.

It is what search algorithms are compared on: J. Pearl, 'Heuristics' (1984).
"""

from random import Random

from agent.games.tree import Node, Tree, evaluate

__all__ = ["GAME", "RandomTree", "evaluate"]


class RandomTree(Tree):
    """A uniform tree whose leaves hold 0, 1, 2, ... in an order that follows from the seed.

    To a search only the order of the values matters, so these stand for any independent
    continuous values.
    """

    def __init__(self, branching: int = 3, depth: int = 4, seed: int = 0) -> None:
        if branching < 1 or depth < 0:
            raise ValueError(f"no tree has branching {branching} and depth {depth}")
        level: list[Node] = list(range(branching**depth))
        Random(seed).shuffle(level)
        for _ in range(depth):
            level = [level[start : start + branching] for start in range(0, len(level), branching)]
        super().__init__(level[0])


GAME = RandomTree
