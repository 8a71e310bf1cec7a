"""Independent reference solutions of the exercises, without the algorithms and their traces.

Trees are nested lists of leaf values. Labels are tuples of child numbers from 1.
"""

from fractions import Fraction
from functools import cache
from math import inf, log, sqrt


def minimax(node, path=()):
    """The values of all nodes by label."""
    if not isinstance(node, list):
        return {path: node}
    found = {}
    for place, child in enumerate(node, 1):
        found |= minimax(child, (*path, place))
    best = min if len(path) % 2 else max
    found[path] = best(found[(*path, place)] for place in range(1, len(node) + 1))
    return found


def expectiminimax(shown):
    """The values of all nodes by label, from the visible data: movers, texts and probabilities."""
    values = {}
    for path in sorted(shown, key=len, reverse=True):
        node = shown[path]
        below = [child for child in shown if child and child[:-1] == path]
        if not below:
            values[path] = float(node.text)
        elif node.mover == "chance":
            values[path] = float(
                sum(Fraction(shown[child].chance) * Fraction(values[child]) for child in below)
            )
        else:
            values[path] = {"MAX": max, "MIN": min}[node.mover](values[child] for child in below)
    return values


def scout_tests(root):
    """The tests that EVAL makes: label, sign, bound and answer."""
    values, tests = minimax(root), []

    def evaluate(node, path):
        if not isinstance(node, list):
            return node
        best = None
        for place, child in enumerate(node, 1):
            below = (*path, place)
            if best is None:
                best = evaluate(child, below)
                continue
            is_min = len(path) % 2
            answer = values[below] >= best if is_min else values[below] > best
            tests.append((below, "≥" if is_min else ">", best, answer))
            if answer != is_min:
                best = evaluate(child, below)
        return best

    evaluate(root, ())
    return tests


def pvs_windows(root):
    """The windows of inner nodes below the root for MAX, in order, by fail-hard PVS."""
    windows = []

    def search(node, path, alpha, beta):
        sign = -1 if len(path) % 2 else 1
        if not isinstance(node, list):
            return sign * node
        if path:
            windows.append((path, *((alpha, beta) if sign > 0 else (-beta, -alpha))))
        for place, child in enumerate(node, 1):
            below = (*path, place)
            if place == 1:
                value = -search(child, below, -beta, -alpha)
            else:
                value = -search(child, below, -alpha - 1, -alpha)
                if alpha < value < beta:
                    value = -search(child, below, -beta, -value)
            alpha = max(alpha, value)
            if alpha >= beta:
                break
        return alpha

    search(root, (), -inf, inf)
    return windows


def intervals(shown):
    """The bounds of all nodes by label, from the visible bounds."""
    known = {}
    for path in sorted(shown, key=len, reverse=True):
        node = shown[path]
        below = [known[child] for child in shown if child and child[:-1] == path]
        if node.is_leaf:
            known[path] = tuple(map(int, node.text.strip("[]").split(", ")))
        else:
            best = min if len(path) % 2 else max
            known[path] = tuple(best(each[side] for each in below) for side in (0, 1))
    return known


@cache
def nim_wins(heaps):
    """Whether the player to move wins, by search."""
    return any(
        not nim_wins(tuple(sorted((*heaps[:at], left, *heaps[at + 1 :]))))
        for at, heap in enumerate(heaps)
        for left in range(heap)
    )


def least_leaves(b, d):
    """The leaves of alpha-beta in the best case, by the types of nodes."""

    def cut(d):
        return 1 if d == 0 else everything(d - 1)

    def everything(d):
        return 1 if d == 0 else b * cut(d - 1)

    return 1 if d == 0 else least_leaves(b, d - 1) + (b - 1) * cut(d - 1)


def alpha_beta(root):
    """The leaves in alpha-beta's order, and each cut branch with its bound."""
    leaves, cuts = [], {}

    def value(node, path, alpha, beta):
        if not isinstance(node, list):
            leaves.append(path)
            return node
        is_min = len(path) % 2
        best = inf if is_min else -inf
        for place, child in enumerate(node, 1):
            found = value(
                child,
                (*path, place),
                *((alpha, min(beta, best)) if is_min else (max(alpha, best), beta)),
            )
            best = min(best, found) if is_min else max(best, found)
            if best <= alpha if is_min else best >= beta:
                bound = f"≤{alpha}" if is_min else f"≥{beta}"
                cuts.update({(*path, each): bound for each in range(place + 1, len(node) + 1)})
                break
        return best

    value(root, (), -inf, inf)
    return leaves, cuts


def sss_star(root):
    """The rows of the open list, of (label, sign, bound), and the leaves in order."""

    def at(path):
        node = root
        for place in path:
            node = node[place - 1]
        return node

    opened, rows, leaves = [((), "V", inf)], [], []
    while True:
        opened.sort(key=lambda state: (-state[2], state[0]))
        rows.append(list(opened))
        path, sign, bound = opened.pop(0)
        if sign == "S":
            if not path:
                return rows, leaves
            above, place = path[:-1], path[-1]
            if len(above) % 2 == 0:
                opened = [state for state in opened if state[0][: len(above)] != above]
                opened.append((above, "S", bound))
            elif place < len(at(above)):
                opened.append(((*above, place + 1), "V", bound))
            else:
                opened.append((above, "S", bound))
        elif not isinstance(at(path), list):
            leaves.append(path)
            opened.append((path, "S", min(bound, at(path))))
        else:
            last = 1 if len(path) % 2 else len(at(path))
            opened += [((*path, place), "V", bound) for place in range(1, last + 1)]


def uct_path(shown):
    """The end of a selection by UCB1, from the visible data: sums for MAX and visits."""
    tally = {node.label: tuple(map(int, node.text.split("/"))) for node in shown}
    path = ()
    while below := [each for each in tally if each and each[:-1] == path]:
        sign = -1 if len(path) % 2 else 1

        def bound(child, sign=sign, path=path):
            total, visits = tally[child]
            if not visits:
                return inf
            return sign * total / visits + sqrt(2) * sqrt(log(tally[path][1]) / visits)

        best = max(map(bound, below))
        (path,) = [each for each in below if bound(each) == best]
    return path
