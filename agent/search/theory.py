"""What theory says of searches of uniform trees of branching b and depth d."""


def all_leaves(branching: int, depth: int) -> int:
    """Return the leaves of the tree, all of which minimax evaluates: b^d."""
    return int(branching**depth)


def least_leaves(branching: int, depth: int) -> int:
    """Return the fewest leaves that prove a value, as when the first moves are always best.

    Source: D. Knuth and R. Moore, 'An analysis of alpha-beta pruning' (1975).
    """
    return int(branching ** -(-depth // 2) + branching ** (depth // 2) - 1)


def branching_factor(branching: int) -> float:
    """Return by what alpha-beta's leaves grow with each ply, children being in no order.

    It is x / (1 - x) for the root x of x^b + x = 1 between 0 and 1. Source: J. Pearl, 'The
    solution for the branching factor of the alpha-beta pruning algorithm and its optimality'
    (1982), who shows that no other algorithm has a smaller one.
    """
    low, high = 0.0, 1.0
    for _ in range(100):
        middle = (low + high) / 2
        if middle**branching + middle < 1:
            low = middle
        else:
            high = middle
    return low / (1 - low) if low < 1 else 1.0
