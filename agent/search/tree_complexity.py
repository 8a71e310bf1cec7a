"""Theoretical size of searches in uniform trees with branching factor b and depth d."""


def all_leaves(branching: float, depth: int) -> int:
    """Return the number of leaves in the tree, b^d."""
    return round(branching**depth)


def inner_nodes(branching: float, depth: int) -> float:
    """Return the number of inner nodes, (b^d - 1) / (b - 1)."""
    if branching == 1:
        return depth
    return float((branching**depth - 1) / (branching - 1))


def leaves_per_inner_node(branching: float, depth: int) -> float:
    return float(branching**depth / inner_nodes(branching, depth))


def random_order_leaves(branching: float, depth: int) -> float:
    """Return b^(3d/4), the usual estimate of the leaves of alpha-beta with random move order.

    Source: J. Slagle and J. Dixon, 'Experiments with some programs that search game trees' (1969).
    """
    return float(branching ** (3 * depth / 4))


def min_leaves(branching: float, depth: int) -> int:
    """Return the number of leaves that alpha-beta evaluates with perfect move order."""
    return round(branching ** -(-depth // 2) + branching ** (depth // 2) - 1)


def effective_branching_factor(branching: float) -> float:
    """Return the growth factor per ply of the leaves in alpha-beta with random move order.

    The factor is x / (1 - x), where x is the root of x^b + x = 1 between 0 and 1. Source: J. Pearl,
    'The solution for the branching factor of the alpha-beta pruning algorithm and its optimality'
    (1982).
    """
    low, high = 0.0, 1.0
    for _ in range(100):
        middle = (low + high) / 2
        if middle**branching + middle < 1:
            low = middle
        else:
            high = middle
    return low / (1 - low) if low < 1 else 1.0
