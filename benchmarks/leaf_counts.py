"""Mean number of distinct leaves that each algorithm evaluates on uniform random trees.

    python benchmarks/leaf_counts.py [--trees N] [--json]

The trees have independent leaf values and randomly ordered children. The table shows the measured
means with the published ones. A mean over fewer than 1,000 trees may be off by more than 3%.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

from agent.games.random_tree import RandomTree, evaluate
from agent.search.catalogue import algorithm
from agent.search.search import Search
from agent.search.tree_complexity import min_leaves

PUBLISHED = {
    (2, 10): (63, 315.7, 308, 278, 222.5, 238.9, 175.7),
    (3, 6): (53, 248.6, 235, 221, 175.3, 196.2, 144.2),
    (5, 5): (149, 808.9, 699, 667, 613.4, 563.0, 442.1),
    (8, 4): (127, 997.9, 882, 853, 684.9, 794.0, 568.9),
    (20, 3): (419, 2101.7, 1640, 1640, 1722.5, 1486, 1216),
}
NAMES = ("alpha-beta", "scout", "negascout-1", "sss-star", "dual-star", "mtd-f")


class RecordingTree(RandomTree):
    """A random tree that records its leaves in the order of their first evaluation."""

    def __init__(self, branching: int, depth: int, seed: int) -> None:
        super().__init__(branching, depth, seed)
        self.visited: dict[Any, None] = {}

    def outcome(self) -> float | None:
        """Return the leaf's value, and record the leaf."""
        value = super().outcome()
        if value is not None:
            self.visited[self.key()] = None
        return value


def leaves(search: Search[int], tree: RecordingTree, depth: int) -> list[Any]:
    """Return the leaves that a search evaluates, in order of the first evaluation."""
    tree.visited.clear()
    search.search(tree, depth)
    return list(tree.visited)


def means(branching: int, depth: int, seeds: Iterable[int]) -> Iterator[float]:
    """Yield the mean leaf count of each algorithm. MTD(f) gets the true value as its guess."""
    totals = dict.fromkeys(NAMES, 0)
    trees = 0
    for seed in seeds:
        trees += 1
        tree = RecordingTree(branching, depth, seed)
        value = algorithm("alpha-beta")(evaluate).search(tree, depth).value
        for name in NAMES:
            options = {"first_guess": value} if name == "mtd-f" else {}
            kind = algorithm(name)
            totals[name] += len(leaves(kind(evaluate, kind.options(**options)), tree, depth))
    return (totals[name] / trees for name in NAMES)


def main() -> int:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trees", type=int, default=1000, help="trees per shape (default: 1000)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    arguments = parser.parse_args()
    table = Table("b, d", "b^d", "minimum", *NAMES, title="Mean leaves: measured (published)")
    results = []
    for (branching, depth), (least, *published) in PUBLISHED.items():
        assert least == min_leaves(branching, depth)
        seeds = track(
            range(arguments.trees),
            f"b={branching} d={depth}",
            console=Console(stderr=True),
            disable=not sys.stderr.isatty(),
        )
        found = list(means(branching, depth, seeds))
        shape = f"{branching}, {depth}"
        cells = (f"{a:.1f} ({b})" for a, b in zip(found, published, strict=True))
        table.add_row(shape, str(branching**depth), str(least), *cells)
        results.append({"shape": shape, **dict(zip(NAMES, found, strict=True))})
    if arguments.json:
        print(json.dumps(results))
    else:
        Console(width=140).print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
