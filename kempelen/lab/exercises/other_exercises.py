"""Exercises about backpropagation, bounds of B*, Nim sums and the formulas that count leaves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from operator import xor
from random import Random

from agent.games.nim import Nim
from agent.search import tree_complexity
from agent.search.tracing import Counted, Event
from agent.search.tree_cursor import Label
from kempelen.lab.exercises.exercise import (
    Exercise,
    ExerciseSpec,
    VisibleNode,
    iter_nodes,
    mover,
    random_tree,
)
from kempelen.lab.exercises.marking import format_number
from kempelen.lab.exercises.uct_exercise import (
    PLAYOUTS,
    format_statistics,
    run_uct,
    with_outcomes,
)
from kempelen.lab.language import Translator, format_label

Interval = tuple[int, int]

# The largest heap, and the numbers of heaps.
MAX_HEAP, HEAPS = 12, (3, 4)
# The largest number of leaves that students are asked to calculate.
MAX_COUNT = 99_999


@dataclass(frozen=True)
class Backpropagation(Exercise):
    """An exercise that asks for the statistics of MCTS after one more playout.

    `events` are the counts before the playout, `path` the node where it begins, and `reward` its
    reward for MAX.
    """

    path: Label
    reward: int

    form, example = "fractions", "1.2=3/5, 1=-1/9, e=2/20"

    def title(self, translate: Translator) -> str:
        return translate("Backpropagation")

    def question(self, translate: Translator) -> list[str]:
        nodes = translate("Each node shows the sum of MAX's rewards / its visits.")
        question = translate(
            "The next playout begins at node {} and has the reward {} for MAX. Which nodes change, "
            "and what do they show afterwards? Write each as NODE=SUM/VISITS."
        )
        return [nodes, question.format(format_label(self.path), self.reward)]

    def visible_nodes(self) -> list[VisibleNode]:
        """Return the nodes of the search tree with their statistics before the playout."""
        counted = {event.label: event for event in self.events if isinstance(event, Counted)}
        paths = sorted({*counted, *(self.path[:length] for length in range(len(self.path) + 1))})
        inner = {path[:-1] for path in paths if path}
        return [
            VisibleNode(path, format_statistics(counted.get(path)), path not in inner, mover(path))
            for path in paths
        ]

    def explanation(self, translate: Translator) -> list[str]:
        text = translate("the visits grow by 1, the sum by {}")
        shown = {node.label: node.text for node in self.visible_nodes()}
        after = dict(part.split("=") for part in self.key)
        return [
            f"{format_label(path)}: {shown[path]} → {after[format_label(path)]}, "
            f"{text.format(self.reward)}"
            for path in [self.path[:length] for length in range(len(self.path), -1, -1)]
        ]

    @staticmethod
    def generate(spec: ExerciseSpec, random: Random) -> Exercise | None:
        """Return an exercise, or None if the path is too short or the reward is 0."""
        root = with_outcomes(random_tree(random, replace(spec, tree="")), random)
        playouts, seed = random.randint(*PLAYOUTS), random.randrange(1 << 30)
        before, after = (
            [event for event in run_uct(root, count, seed)[0] if isinstance(event, Counted)]
            for count in (playouts, playouts + 1)
        )
        known = {event.label: event for event in before}
        changed = [
            event
            for event in after
            if event.label not in known or event.visits != known[event.label].visits
        ]
        path = max((event.label for event in changed), key=len)
        sums = {event.label: format_statistics(event) for event in changed}
        old, new = (_reward_sum(events) for events in (before, after))
        if len(path) < 2 or abs(new - old) != 1 or len(sums) != len(path) + 1:
            return None
        key = tuple(f"{format_label(label)}={text}" for label, text in sorted(sums.items()))
        events: tuple[Event, ...] = tuple(before)
        return Backpropagation(spec, root, events, key, path, new - old)


@dataclass(frozen=True)
class BStarBounds(Exercise):
    """An exercise that asks for the bounds that B* backs up from the leaves of its tree."""

    intervals: tuple[tuple[Label, Interval], ...]

    form, example = "intervals", "1=[3, 6], 2=[1, 4], e=[3, 6]"

    def title(self, translate: Translator) -> str:
        return translate("The bounds of B*")

    def question(self, translate: Translator) -> list[str]:
        return [
            translate(
                "B* knows a lower and an upper bound on the value of each node without children. "
                "What are the bounds of the inner nodes? Write each as NODE=[LOWER, UPPER]."
            )
        ]

    def visible_nodes(self) -> list[VisibleNode]:
        """Return the nodes, with the bounds of those without children."""
        known = dict(self.intervals)
        return [
            VisibleNode(
                path,
                "" if isinstance(node, list) else _interval_text(known[path]),
                not isinstance(node, list),
                mover(path),
            )
            for path, node in iter_nodes(self.root)
        ]

    def explanation(self, translate: Translator) -> list[str]:
        known = dict(self.intervals)
        lines = []
        for path, node in reversed(list(iter_nodes(self.root))):
            if isinstance(node, list):
                bounds = [known[*path, number] for number in range(1, len(node) + 1)]
                extremum = "maximum of" if mover(path) == "MAX" else "minimum of"
                lower, upper = (
                    f"{translate(extremum)} {', '.join(str(each[side]) for each in bounds)}"
                    for side in (0, 1)
                )
                lines.append(
                    f"{format_label(path)}: {mover(path)}, {lower}; {upper}: "
                    f"{_interval_text(known[path])}"
                )
        return lines

    @staticmethod
    def generate(spec: ExerciseSpec, random: Random) -> Exercise | None:
        root = random_tree(random, replace(spec, tree=""))
        known: dict[Label, Interval] = {}
        nodes = list(iter_nodes(root))
        for path, node in reversed(nodes):
            if isinstance(node, list):
                best = max if mover(path) == "MAX" else min
                bounds = [known[*path, number] for number in range(1, len(node) + 1)]
                known[path] = (
                    best(lower for lower, _ in bounds),
                    best(upper for _, upper in bounds),
                )
            else:
                known[path] = (int(node), int(node) + random.randint(0, 6))
        key = tuple(
            f"{format_label(path)}={_interval_text(known[path])}"
            for path, node in nodes
            if isinstance(node, list)
        )
        return BStarBounds(spec, root, (), key, tuple(sorted(known.items())))


class NimSums(Exercise):
    """An exercise that asks for the Nim sum, and for the winning moves. The leaves are heaps."""

    form, example = "values", "e=6, 2=1"

    def title(self, translate: Translator) -> str:
        return translate("Nim sums")

    def question(self, translate: Translator) -> list[str]:
        question = translate(
            "These are the heaps of Nim; whoever takes the last counter wins. What is the Nim sum "
            "(exclusive or), and which moves win? Write the sum as e=SUM, and each winning move as "
            "HEAP=NEW SIZE."
        )
        return [question]

    def visible_nodes(self) -> list[VisibleNode]:
        """Return the heaps below a node without a player."""
        return [replace(node, mover="MAX") for node in super().visible_nodes()]

    def explanation(self, translate: Translator) -> list[str]:
        heaps = _heaps(self)
        total = reduce(xor, heaps)
        binary = ", ".join(f"{heap} = {heap:04b}" for heap in (*heaps, total))
        lines = [f"{' xor '.join(map(str, heaps))} = {total}: {binary}"]
        if not total:
            return [*lines, translate("the sum is 0, so no move wins")]
        return lines + [
            f"{number}: {heap} xor {total} = {heap ^ total}; "
            + translate("smaller than {}: this move makes the sum 0" if heap ^ total < heap
                        else "not smaller than {}: no such move").format(heap)
            for number, heap in enumerate(heaps, 1)
        ]  # fmt: skip

    @staticmethod
    def generate(spec: ExerciseSpec, random: Random) -> Exercise | None:
        heaps = [random.randint(1, MAX_HEAP) for _ in range(random.randint(*HEAPS))]
        game = Nim(tuple(heaps))
        key = [f"ε={reduce(xor, heaps)}"]
        for move in game.moves():
            game.play(move)
            if not reduce(xor, game.heaps):
                number = next(
                    index for index, heap in enumerate(heaps) if game.heaps[index] != heap
                )
                key.append(f"{number + 1}={game.heaps[number]}")
            game.undo()
        return NimSums(spec, list(heaps), (), tuple(key))


class LeafCounts(Exercise):
    """An exercise that asks how many nodes searches of uniform trees visit. The root is [b, d]."""

    form, example = "terms", "m=81, n=40, k=17"

    def title(self, translate: Translator) -> str:
        return translate("Counting nodes")

    def question(self, translate: Translator) -> list[str]:
        text = translate(
            "A uniform tree has the branching factor b = {} and the depth d = {}. How many leaves "
            "does minimax evaluate (m), how many inner nodes are there (n), and how many leaves "
            "does alpha-beta evaluate in the best case (k)? Write m=NUMBER, n=NUMBER, k=NUMBER."
        )
        return [text.format(*self._size)]

    @property
    def _size(self) -> tuple[int, int]:
        assert isinstance(self.root, list)
        branching, depth = self.root
        assert isinstance(branching, int)
        assert isinstance(depth, int)
        return branching, depth

    def visible_nodes(self) -> list[VisibleNode]:
        """Return one node that shows the size of the tree."""
        branching, depth = self._size
        return [VisibleNode((), f"b={branching} d={depth}", True, "MAX")]

    def explanation(self, translate: Translator) -> list[str]:
        b, d = self._size
        half = d // 2
        return [
            f"m = b^d = {b}^{d} = {b**d}",
            f"n = (b^d - 1) / (b - 1) = {(b**d - 1) // (b - 1)}",
            f"k = b^⌈d/2⌉ + b^⌊d/2⌋ - 1 = {b}^{d - half} + {b}^{half} - 1 = "
            f"{b ** (d - half) + b**half - 1} ({translate('Knuth and Moore')})",
        ]

    @staticmethod
    def generate(spec: ExerciseSpec, random: Random) -> Exercise | None:
        b, d = random.randint(2, 30), random.randint(2, 12)
        if b**d > MAX_COUNT:
            return None
        counts = {
            "M": tree_complexity.all_leaves(b, d),
            "N": tree_complexity.inner_nodes(b, d),
            "K": tree_complexity.min_leaves(b, d),
        }
        key = tuple(f"{name}={format_number(count)}" for name, count in counts.items())
        return LeafCounts(spec, [b, d], (), key)


def _reward_sum(events: list[Counted]) -> int:
    root = next(event for event in events if not event.label)
    return round(root.mean * root.visits)


def _interval_text(interval: Interval) -> str:
    return f"[{interval[0]}, {interval[1]}]"


def _heaps(made: Exercise) -> list[int]:
    assert isinstance(made.root, list)
    return [heap for heap in made.root if isinstance(heap, int)]
