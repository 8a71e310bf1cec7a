"""The steps, the counts and the values of every algorithm equal those of the references."""

from math import log, sqrt
from random import Random

import pytest

from agent.games.tree import ChanceTree, NodeAnnotation, Tree, evaluate
from agent.search.catalogue import algorithm, algorithms
from agent.search.tracing import (
    BackedUp,
    Counted,
    CutOff,
    Entered,
    Evaluated,
    Listed,
    Narrowed,
    PlayedOut,
    Returned,
    traced,
)
from tests.agent.search import references
from tests.agent.search.reference_traces import (
    TRACES,
    Log,
    b_star,
    best_node,
    expectimax,
    height,
)
from tests.agent.search.test_against_references import trees

# The other algorithms: lists, bounds, guesses and playouts.
OTHERS = {"sss-star", "dual-star", "b-star", "bns", "uct", "ucb1", "alphazero"}


def watched(name, root, **options):
    """Return the result of a search to the leaves, its events and its counts."""
    kind, events = algorithm(name), []
    search = traced(kind(evaluate, kind.options(**options)), events.append)
    return search.search(Tree(root), height(root)), events, search.counts


def steps(events):
    """The events in the form of the log."""
    for event in events:
        match event:
            case Entered():
                yield "enter", event.label, event.window, event.test, event.again
            case Evaluated():
                yield "leaf", event.label, event.value
            case CutOff():
                yield "cut", event.label, event.by
            case Returned():
                yield "return", event.label, event.value, event.remembered


def logged(entries):
    for each in entries:
        if each.kind == "enter":
            yield "enter", each.label, each.window, each.test, each.again
        elif each.kind in ("leaf", "cut"):
            yield each.kind, each.label, each.value
        elif each.kind == "return":
            yield "return", each.label, each.value, each.remembered


def counted(counts):
    return counts.nodes, counts.leaves, counts.cutoffs, counts.researches


def test_every_algorithm_has_a_reference_trace():
    assert TRACES.keys() | OTHERS == algorithms().keys()


@pytest.mark.thorough(keep=3)
@pytest.mark.parametrize("name", TRACES)
def test_steps_counts_and_value_equal_the_reference(name, thorough):
    for root in trees(thorough):
        reference = Log()
        value = TRACES[name](reference, root)
        found, events, counts = watched(name, root)
        assert list(steps(events)) == list(logged(reference.entries)), root
        assert counted(counts) == counted(reference), root
        assert found.value == value, root


def test_negascout_1_does_not_search_leaves_again():
    root = [[[3, 5], [2, 9]], [[0, 1], [7, 4]]]
    found, _, counts = watched("negascout-1", root)
    assert (found.value, counts.leaves, counts.researches) == (5, 6, 0)


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("name", ["sss-star", "dual-star"])
def test_rows_of_the_list_equal_the_reference(name, thorough):
    sign = 1 if name == "sss-star" else -1
    for root in trees(thorough):
        rows, leaves = [], []
        value = references.sss_star(root, leaves, sign, rows)
        found, events, counts = watched(name, root)
        listed = [
            [tuple(each) for each in e.states_for_max()] for e in events if isinstance(e, Listed)
        ]
        assert listed == rows, root
        assert [e.label for e in events if isinstance(e, Evaluated)] == leaves
        assert (found.value, counts.leaves, counts.peak_open) == (
            value, len(leaves), max(map(len, rows)),
        )  # fmt: skip


@pytest.mark.thorough(keep=1)
def test_b_star_expansions_and_bounds_equal_the_reference(thorough):
    for root in trees(thorough):
        move, value, expected = b_star(root)
        found, events, _ = watched("b-star", root, strategy="prove-best")
        bounds, expanded = {}, []
        for event in events:
            if isinstance(event, Narrowed):
                bounds[event.label] = event.lower, event.upper
            elif isinstance(event, Entered):
                expanded.append((event.label, dict(bounds)))
        expanded.append(((), bounds))
        assert expanded == expected, root
        assert (found.move, found.value) == (move, value), root


@pytest.mark.thorough(keep=1)
def test_best_node_search_equals_the_reference(thorough):
    for root in trees(thorough):
        reference = Log()
        move, value = best_node(reference, root)
        found, events, counts = watched("bns", root)
        assert list(steps(events)) == list(logged(reference.entries)), root
        assert counted(counts)[:3] == counted(reference)[:3], root
        assert (found.move, found.value) == (move, value), root


def chance_trees(thorough):
    """Yield trees with the probabilities of their chance nodes, by label."""
    random = Random(48)

    def inner_nodes(node, label=()):
        if isinstance(node, list):
            yield label, len(node)
            for number, child in enumerate(node, 1):
                yield from inner_nodes(child, (*label, number))

    for root in trees(thorough):
        chances = {}
        for label, children in inner_nodes(root):
            if random.random() < 0.4:
                weights = [random.randint(1, 9) for _ in range(children)]
                chances[label] = tuple(weight / sum(weights) for weight in weights)
        yield root, chances


def chance_tree(root, chances):
    return ChanceTree(
        root, {label: NodeAnnotation(chances=each) for label, each in chances.items()}
    )


@pytest.mark.thorough(keep=1)
def test_expectiminimax_on_chance_trees_equals_the_reference(thorough):
    for root, chances in chance_trees(thorough):
        reference = Log()
        value = expectimax(reference, root, chances)
        kind, events = algorithm("expectiminimax"), []
        search = traced(kind(evaluate, kind.options()), events.append)
        found = search.search(chance_tree(root, chances), height(root))
        assert found.value == value, (root, chances)
        assert list(steps(events)) == list(logged(reference.entries)), (root, chances)
        assert counted(search.counts) == counted(reference)


class Puct(references.Playouts):
    """Playouts selected by PUCT, with equal priors."""

    def _best(self, label):
        children, sign = self.children[label], -1 if len(label) % 2 else 1

        def bound(child):
            tried = self.visits[child]
            of = child if tried else label
            mean = sign * self.rewards[of] / self.visits[of] if self.visits[of] else 0
            return mean + 1.5 / len(children) * sqrt(self.visits[label]) / (1 + tried)

        return max(children, key=bound)


@pytest.mark.thorough(keep=1)
def test_playouts_by_puct_equal_the_reference(thorough):
    for seed, root in enumerate(trees(thorough)):
        scale = Tree(root).max_utility() or 1
        _, events, _ = watched("alphazero", root, playouts=60, seed=seed, scale=scale)
        other = Puct(root, 60, seed, scale, flat=False)
        ends = [(e.label, e.reward) for e in events if isinstance(e, PlayedOut)]
        assert ends == [(label, pytest.approx(reward)) for label, reward in other.ends], root
        visits = {e.label: e.visits for e in events if isinstance(e, Counted)}
        assert visits == {label: number for label, number in other.visits.items() if number}


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("name", ["uct", "ucb1"])
def test_statistics_beside_each_other_are_of_one_moment(name, thorough):
    """After each playout, the bounds of all children follow from the visits and rewards."""
    for seed, root in enumerate(trees(thorough)):
        scale = Tree(root).max_utility() or 1
        kind, events = algorithm(name), []
        options = kind.options(playouts=40, seed=seed, scale=scale)
        traced(kind(evaluate, options), events.append, detailed=True).search(Tree(root), 9)
        after = [event for event in events if isinstance(event, BackedUp)]
        assert len(after) == 40
        for event in after:
            for (visits, _), children in zip(event.totals, event.children, strict=True):
                assert sum(child.visits for child in children) in (0, visits, visits - 1)
                for child in children:
                    if child.visits:
                        spread = sqrt(2) * sqrt(log(visits) / child.visits)
                        assert child.bound == pytest.approx(child.total / child.visits + spread)
