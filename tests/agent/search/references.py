"""Independent implementations of the algorithms on nested lists, from papers and lecture notes.

They do not use agent.search. Each takes a tree of integers with MAX at the root, and a list. It
appends the label of every evaluated leaf to the list and returns the value for MAX.
"""

from math import inf, log, sqrt
from random import Random
from typing import Any

Label = tuple[int, ...]
Leaves = list[Label]


def minimax(node: Any, leaves: Leaves, label: Label = ()) -> float:
    """MAX takes the greatest child, MIN the least."""
    if not isinstance(node, list):
        leaves.append(label)
        return node
    values = [minimax(child, leaves, (*label, n)) for n, child in enumerate(node, 1)]
    return min(values) if len(label) % 2 else max(values)


def alpha_beta(
    node: Any, leaves: Leaves, label: Label = (), alpha: float = -inf, beta: float = inf
) -> float:
    """Alpha-beta with separate MAX and MIN nodes, fail-soft."""
    if not isinstance(node, list):
        leaves.append(label)
        return node
    if len(label) % 2 == 0:
        value = -inf
        for n, child in enumerate(node, 1):
            value = max(value, alpha_beta(child, leaves, (*label, n), max(alpha, value), beta))
            if value >= beta:
                break
        return value
    value = inf
    for n, child in enumerate(node, 1):
        value = min(value, alpha_beta(child, leaves, (*label, n), alpha, min(beta, value)))
        if value <= alpha:
            break
    return value


def scout(node: Any, leaves: Leaves, label: Label = ()) -> float:
    """EVAL of 'Tema 2': search the first child, and others only if TEST finds them better."""
    if not isinstance(node, list):
        leaves.append(label)
        return node
    value = scout(node[0], leaves, (*label, 1))
    for n, child in enumerate(node[1:], 2):
        child_label = (*label, n)
        if len(label) % 2 == 0:
            better = _test(child, leaves, child_label, lambda leaf, value=value: leaf > value)
        else:
            better = not _test(child, leaves, child_label, lambda leaf, value=value: leaf >= value)
        if better:
            value = scout(child, leaves, child_label)
    return value


def _test(node: Any, leaves: Leaves, label: Label, holds: Any) -> bool:
    """TEST of 'Tema 2': one child of MAX is enough, all children of MIN are needed."""
    if not isinstance(node, list):
        leaves.append(label)
        return bool(holds(node))
    tests = (_test(child, leaves, (*label, n), holds) for n, child in enumerate(node, 1))
    return all(tests) if len(label) % 2 else any(tests)


def sss_star(root: Any, leaves: Leaves, sign: int = 1, rows: Any = None) -> float:
    """Stockman's list: continue with the greatest bound, leftmost among equals.

    With sign -1 it is DUAL*: MAX and MIN are exchanged. Each row of the list is appended to `rows`,
    with bounds for MAX.
    """
    states: dict[Label, tuple[float, bool]] = {(): (inf, False)}
    while True:
        if rows is not None:
            ordered = sorted(states, key=lambda each: (-states[each][0], each))
            rows.append([(each, states[each][1], sign * states[each][0]) for each in ordered])
        label = min(states, key=lambda each: (-states[each][0], each))
        bound, solved = states.pop(label)
        maximises = (len(label) % 2 == 0) == (sign > 0)
        node = root
        for n in label:
            node = node[n - 1]
        if not solved:
            if not isinstance(node, list):
                leaves.append(label)
                states[label] = min(bound, sign * node), True
            else:
                for n in range(1, len(node) + 1 if maximises else 2):
                    states[*label, n] = bound, False
            continue
        if not label:
            return sign * bound
        parent, n = label[:-1], label[-1]
        if not maximises:  # the parent is MAX: one child is enough
            states = {each: states[each] for each in states if each[: len(parent)] != parent}
            states[parent] = bound, True
            continue
        siblings = root
        for step in parent:
            siblings = siblings[step - 1]
        if n < len(siblings):
            states[*parent, n + 1] = bound, False
        else:
            states[parent] = bound, True


def dual_star(root: Any, leaves: Leaves) -> float:
    """SSS* with MAX and MIN exchanged."""
    return sss_star(root, leaves, -1)


def mtd_f(root: Any, leaves: Leaves, guess: float = 0) -> float:
    """MTDF and AlphaBetaWithMemory of 'Tema 3.2'. Each leaf is evaluated once and stored."""
    lower: dict[Label, float] = {}
    upper: dict[Label, float] = {}

    def with_memory(node: Any, label: Label, alpha: float, beta: float) -> float:
        if lower.get(label, -inf) >= beta:
            return lower[label]
        if upper.get(label, inf) <= alpha:
            return upper[label]
        if not isinstance(node, list):
            if label not in lower:
                leaves.append(label)
            lower[label] = upper[label] = node
            return node
        if len(label) % 2 == 0:
            value, a = -inf, alpha
            for n, child in enumerate(node, 1):
                if value >= beta:
                    break
                value = max(value, with_memory(child, (*label, n), a, beta))
                a = max(a, value)
        else:
            value, b = inf, beta
            for n, child in enumerate(node, 1):
                if value <= alpha:
                    break
                value = min(value, with_memory(child, (*label, n), alpha, b))
                b = min(b, value)
        if value <= alpha:
            upper[label] = value
        if value >= beta:
            lower[label] = value
        return value

    low, high, value = -inf, inf, guess
    while low < high:
        beta = value + 1 if value == low else value
        value = with_memory(root, (), beta - 1, beta)
        if value < beta:
            high = value
        else:
            low = value
    return value


def two_valued(node: Any, leaves: Leaves, label: Label = ()) -> float:
    """Return 1 (GANA) once a child of MAX does, or -1 (PIERDE) once a child of MIN does."""
    if not isinstance(node, list):
        leaves.append(label)
        return 1 if node > 0 else -1
    wanted = -1 if len(label) % 2 else 1
    for n, child in enumerate(node, 1):
        if two_valued(child, leaves, (*label, n)) == wanted:
            return wanted
    return -wanted


def best_moves(root: Any) -> set[int]:
    """Return the root's children that have the root's value."""
    values = [minimax(child, [], (n,)) for n, child in enumerate(root, 1)]
    return {n for n, value in enumerate(values, 1) if value == max(values)}


class Playouts:
    """UCT of 'Tema 3.2', with the random numbers of `Random(seed)`.

    visits, rewards: of each node of the tree, with rewards for MAX.
    ends: where each playout left the tree, with its reward. A flat search grows no tree below the
    root's children.
    """

    def __init__(self, root: Any, playouts: int, seed: int, scale: float, *, flat: bool) -> None:
        self.random = Random(seed)
        self.visits: dict[Label, int] = {(): 0}
        self.rewards: dict[Label, float] = {(): 0.0}
        self.ends: list[tuple[Label, float]] = []
        self.children: dict[Label, list[Label]] = {}
        self._grow(root, ())
        for _ in range(playouts):
            label: Label = ()
            while label in self.children:
                label = self._best(label)
            node = self._at(root, label)
            if not flat and self.visits[label] and isinstance(node, list):
                self._grow(node, label)
                label = self._best(label)
                node = self._at(root, label)
            while isinstance(node, list):
                node = self.random.choice(node)
            reward = max(-1.0, min(1.0, node / scale))
            self.ends.append((label, reward))
            for length in range(len(label) + 1):
                self.visits[label[:length]] += 1
                self.rewards[label[:length]] += reward

    def _grow(self, node: list[Any], label: Label) -> None:
        numbers = list(range(1, len(node) + 1))
        self.random.shuffle(numbers)
        self.children[label] = [(*label, n) for n in numbers]
        for child in self.children[label]:
            self.visits[child], self.rewards[child] = 0, 0.0

    def _best(self, label: Label) -> Label:
        sign = -1 if len(label) % 2 else 1

        def bound(child: Label) -> float:
            tried = self.visits[child]
            if not tried:
                return inf
            spread = sqrt(2) * sqrt(log(self.visits[label]) / tried)
            return sign * self.rewards[child] / tried + spread

        return max(self.children[label], key=bound)

    @staticmethod
    def _at(root: Any, label: Label) -> Any:
        for n in label:
            root = root[n - 1]
        return root
