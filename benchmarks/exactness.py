"""Compare every exact algorithm with minimax, on random trees and on positions of every game.

    python benchmarks/exactness.py [--trees N] [--positions N] [--json]

On each tree and position, an algorithm must return minimax's value and a move with that value. B*
and best-node search must return only such a move. Two-valued algorithms must return whether the
value is above 0. The trees have further checks:

- SSS* evaluates no leaf that alpha-beta skips.
- SSS* and DUAL* with lists evaluate the same leaves in the same order as their null-window forms.
- On trees in best order, alpha-beta and its variants evaluate exactly Knuth and Moore's minimum.
- Minimax evaluates all b^d leaves.

The exit status is 1 if anything differs.
"""

import argparse
import json
import sys
from collections import Counter
from random import Random
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

from agent.game import ChanceGame, Game
from agent.games import catalogue
from agent.games.random_tree import RandomTree
from agent.games.tree import Tree
from agent.games.tree import evaluate as no_evaluation
from agent.search.algorithms.minimax import Minimax
from agent.search.catalogue import algorithms
from agent.search.tree_complexity import min_leaves

EXACT = {name: search for name, search in algorithms().items() if search.exact}
ALL = algorithms()
BEST_MOVE = ("b-star", "bns")
TWO_VALUED = ("and-or", "minimax-two-valued")
MINIMAL_LEAF_ALGORITHMS = (
    "alpha-beta",
    "alpha-beta-hard",
    "scout",
    "pvs",
    "negascout-1",
    "negascout-2",
)
# Search depth in plies by game; 3 for all other games.
DEPTHS = {"chess": 2, "nim": 4, "grundy": 6, "tic-tac-toe": 4, "random-tree": 4, "tree": 4}


class RecordingTree(Tree):
    """A tree that records its leaves in the order of their first evaluation."""

    def __init__(self, root: Any) -> None:
        super().__init__(root)
        self.visited: dict[Any, None] = {}

    def outcome(self) -> float | None:
        """Return the leaf's value, and record the leaf."""
        value = super().outcome()
        if value is not None:
            self.visited[self.key()] = None
        return value


def leaves(name: str, root: Any, depth: int) -> list[Any]:
    """Return the leaves that an algorithm evaluates, in order of the first evaluation."""
    tree = RecordingTree(root)
    EXACT[name](no_evaluation).search(tree, depth)
    return list(tree.visited)


def is_best(game: Game[Any], move: Any, evaluate: Any, depth: int, value: float) -> bool:
    """Return whether minimax gives the move this value."""
    game.play(move)
    found = -Minimax[Any](evaluate).search(game, depth - 1).value
    game.undo()
    return found == value


def agree(game: Game[Any], evaluate: Any, depth: int, found: Counter[str]) -> None:
    """Compare all exact algorithms at a position, and count the differences in `found`."""
    expected = Minimax[Any](evaluate).search(game, depth).value
    best: dict[Any, bool] = {}
    for name in (*EXACT, *BEST_MOVE, *TWO_VALUED):
        answer = ALL[name](evaluate).search(game, depth)
        found[f"{name}: compared"] += 1
        if name in EXACT:
            found[f"{name}: other value"] += answer.value != expected
        if name in TWO_VALUED:
            found[f"{name}: other value"] += (answer.value > 0) != (expected > 0)
        elif answer.move is not None:
            if answer.move not in best:
                best[answer.move] = is_best(game, answer.move, evaluate, depth, expected)
            found[f"{name}: no best move"] += not best[answer.move]


def in_best_order(root: Any, maximise: bool = True) -> tuple[float, Any]:
    """Return a tree's value, and the tree with the best child of each node first."""
    if not isinstance(root, list):
        return root, root
    children = [in_best_order(child, not maximise) for child in root]
    children.sort(key=lambda child: child[0], reverse=maximise)
    return children[0][0], [child for _, child in children]


def compare_leaves(root: Any, branching: int, depth: int, found: Counter[str]) -> None:
    """Check the evaluated leaves against theory, and count the differences in `found`."""
    found["minimax: not b^d leaves"] += len(leaves("minimax", root, depth)) != branching**depth
    stockman = leaves("sss-star", root, depth)
    found["sss-star: leaf that alpha-beta skips"] += not set(stockman) <= set(
        leaves("alpha-beta", root, depth)
    )
    found["sss-star: other leaves than its null-window form"] += stockman != leaves(
        "sss-star-mtd", root, depth
    )
    found["dual-star: other leaves than its null-window form"] += leaves(
        "dual-star", root, depth
    ) != leaves("dual-star-mtd", root, depth)
    _, ordered = in_best_order(root)
    for name in MINIMAL_LEAF_ALGORITHMS:
        count = len(leaves(name, ordered, depth))
        found[f"{name}: not the least leaves in best order"] += count != min_leaves(
            branching, depth
        )


def positions(name: str, number: int) -> Any:
    """Yield a game at positions after random moves."""
    random = Random(name)
    for _ in range(number):
        game = catalogue.new_game(name)
        for _ in range(random.randint(0, 40)):
            moves = list(game.moves())
            if not moves:
                break
            game.play(random.choice(moves))
        yield game


def main() -> int:
    """Compare and print the table. Return 1 if anything differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--trees", type=int, default=2000, help="number of random trees (default: 2000)"
    )
    parser.add_argument(
        "--positions", type=int, default=50, help="number of positions per game (default: 50)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    arguments = parser.parse_args()
    console = Console(stderr=True)
    found: Counter[str] = Counter()
    random = Random(0)
    for seed in track(
        range(arguments.trees), "trees", console=console, disable=not sys.stderr.isatty()
    ):
        branching, depth = random.randint(1, 5), random.randint(0, 5)
        tree = RandomTree(branching, depth, seed)
        agree(tree, no_evaluation, depth, found)
        compare_leaves(tree._nodes[0], branching, depth, found)
    for name in catalogue.builtin_names():
        if isinstance(catalogue.new_game(name), ChanceGame):
            continue
        if sys.stderr.isatty():
            print(name, file=sys.stderr)
        for game in positions(name, arguments.positions):
            agree(game, catalogue.evaluation(name), DEPTHS.get(name, 3), found)
    names = sorted({what.partition(":")[0] for what in found})
    table = Table("algorithm", "compared", "differ", "in what")
    for name in names:
        differ = {
            what.partition(": ")[2]: times
            for what, times in found.items()
            if times and what.startswith(f"{name}: ") and not what.endswith("compared")
        }
        compared = str(found[f"{name}: compared"])
        table.add_row(name, compared, str(sum(differ.values())), ", ".join(differ))
    print(json.dumps(found)) if arguments.json else Console(width=100).print(table)
    return int(any(times for what, times in found.items() if not what.endswith("compared")))


if __name__ == "__main__":
    sys.exit(main())
