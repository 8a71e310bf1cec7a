"""Theoretical size of searches in uniform trees.

In the formulas, b is the branching factor of the tree and d is its depth.
"""


def all_leaves(branching: float, depth: int) -> int:
    """Return the number of leaves in the tree, b^d. Minimax evaluates all of them."""
    return round(branching**depth)


def inner_nodes(branching: float, depth: int) -> float:
    """Return the number of inner nodes: 1 + b + ... + b^(d-1) = (b^d - 1) / (b - 1).

    Source: the lecture notes 'Tema 2: Búsqueda en juegos', where this number is the cost of
    iterative deepening.
    """
    if branching == 1:
        return depth
    return float((branching**depth - 1) / (branching - 1))


def leaves_per_inner_node(branching: float, depth: int) -> float:
    """Return the number of leaves per inner node, which is about b - 1."""
    return float(branching**depth / inner_nodes(branching, depth))


def random_order_leaves(branching: float, depth: int) -> float:
    """Return b^(3d/4), the usual estimate for the number of leaves that alpha-beta evaluates.

    The estimate assumes a random move order. Source: the lecture notes 'Búsqueda con adversario',
    after J. Slagle and J. Dixon, 'Experiments with some programs that search game trees' (1969).
    `effective_branching_factor` returns the exact growth rate.
    """
    return float(branching ** (3 * depth / 4))


def min_leaves(branching: float, depth: int) -> int:
    """Return the minimum number of leaves needed to prove a value.

    Alpha-beta evaluates this number of leaves if the best move is always first. Source: D. Knuth
    and R. Moore, 'An analysis of alpha-beta pruning' (1975).
    """
    return round(branching ** -(-depth // 2) + branching ** (depth // 2) - 1)


def effective_branching_factor(branching: float) -> float:
    """Return the factor by which the number of leaves in alpha-beta grows with each ply.

    The move order is random. The factor is x / (1 - x), where x is the root of x^b + x = 1 between
    0 and 1. Source: J. Pearl, 'The solution for the branching factor of the alpha-beta pruning
    algorithm and its optimality' (1982), who shows that no other algorithm has a smaller factor.
    """
    low, high = 0.0, 1.0
    for _ in range(100):
        middle = (low + high) / 2
        if middle**branching + middle < 1:
            low = middle
        else:
            high = middle
    return low / (1 - low) if low < 1 else 1.0
