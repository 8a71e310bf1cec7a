"""What theory says of searches of uniform trees of branching b and depth d."""


def all_leaves(branching: float, depth: int) -> int:
    """Return the leaves of the tree, all of which minimax evaluates: b^d."""
    return round(branching**depth)


def inner_nodes(branching: float, depth: int) -> float:
    """Return the nodes above the leaves: 1 + b + ... + b^(d-1) = (b^d - 1) / (b - 1).

    Source: 'Tema 2: Búsqueda en juegos', which tells by it what progressive deepening costs.
    """
    if branching == 1:
        return depth
    return float((branching**depth - 1) / (branching - 1))


def leaves_per_inner_node(branching: float, depth: int) -> float:
    """Return how many leaves there are for each node above them: about b - 1."""
    return float(branching**depth / inner_nodes(branching, depth))


def random_order_leaves(branching: float, depth: int) -> float:
    """Return alpha-beta's leaves where children are in random order, as it is quoted: b^(3d/4).

    Source: 'Búsqueda con adversario', after J. Slagle and J. Dixon, 'Experiments with some
    programs that search game trees' (1969). Pearl's branching factor is the exact growth.
    """
    return float(branching ** (3 * depth / 4))


def min_leaves(branching: float, depth: int) -> int:
    """Return the fewest leaves that prove a value, as when the first moves are always best.

    Source: D. Knuth and R. Moore, 'An analysis of alpha-beta pruning' (1975).
    """
    return round(branching ** -(-depth // 2) + branching ** (depth // 2) - 1)


def effective_branching_factor(branching: float) -> float:
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
