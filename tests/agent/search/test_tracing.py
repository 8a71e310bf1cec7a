"""A traced search behaves like the original, and every step is reported."""

from math import inf

import pytest

from agent.game import ChanceGame
from agent.games import catalogue as games
from agent.games.random_tree import RandomTree
from agent.games.tree import Tree, evaluate
from agent.search.algorithms.alpha_beta import AlphaBeta, ExtensionRule
from agent.search.algorithms.b_star import BStar
from agent.search.algorithms.expectiminimax import Expectiminimax
from agent.search.algorithms.mcts import UCT
from agent.search.algorithms.mtd import MTD
from agent.search.algorithms.scout import Scout
from agent.search.algorithms.sss_star import SSSStar
from agent.search.catalogue import algorithms
from agent.search.stats import SearchStopped
from agent.search.tracing import (
    Counted,
    CutOff,
    Entered,
    Evaluated,
    Narrowed,
    PlayedOut,
    Restarted,
    Returned,
    Visited,
    traced,
)
from agent.search.transposition_table import TranspositionTable
from tests.support import searching

# MAX at the root. Alpha-beta cuts off after the first leaf of the second MIN node.
SMALL = [[3, 12], [2, 4]]


def watch(kind, game, depth, **options):
    events = []
    search = traced(searching(kind, evaluate, **options), events.append)
    return search, search.search(game, depth), events


def of(kind, events):
    return [event for event in events if isinstance(event, kind)]


@pytest.mark.thorough(keep=20)
@pytest.mark.parametrize("name", algorithms())
@pytest.mark.parametrize("game_name", ["random-tree", "connect-four", "pig"])
def test_observing_does_not_change_the_search(name, game_name):
    kind = algorithms()[name]
    game = games.new_game(game_name)
    if isinstance(game, ChanceGame) and name != "expectiminimax":
        return
    depth = 2 if game_name == "pig" else 4
    options = {"playouts": 40, "seed": 3} if issubclass(kind, UCT) else {}
    alone = searching(kind, games.evaluation(game_name), **options)
    expected = alone.search(game, depth)
    events = []
    search = traced(searching(kind, games.evaluation(game_name), **options), events.append)
    assert search.search(game, depth) == expected
    assert search.counts == alone.counts
    assert len(of(Visited, events)) == search.counts.nodes
    assert len(of(Evaluated, events)) == search.counts.leaves
    assert not {"play", "undo"} & vars(game).keys()


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (AlphaBeta, {"continuation": True}),
        (AlphaBeta, {"beyond": ExtensionRule(2, swing=0.01)}),
        (AlphaBeta, {"table": TranspositionTable()}),
        (algorithms()["null-move"], {"reduction": 1}),
        (algorithms()["pvs"], {}),
        (algorithms()["and-or"], {}),
        (algorithms()["scout"], {}),
        (MTD, {}),
    ],
    ids=lambda each: each.name if isinstance(each, type) else "+".join(each),
)
def test_every_leaf_and_cutoff_is_reported(kind, options):
    events, evaluation = [], games.evaluation("connect-four")
    search = traced(searching(kind, evaluation, **options), events.append)
    search.search(games.new_game("connect-four"), 4)
    assert len(of(Evaluated, events)) == search.counts.leaves
    assert len(of(CutOff, events)) == search.counts.cutoffs > 0


def test_expectiminimax_reports_a_restart():
    events = []
    search = traced(Expectiminimax(lambda game: 5 * game.state.rolled), events.append)
    game = games.new_game("pig")
    alone = Expectiminimax(search.evaluate)
    assert search.search(game, 2) == alone.search(game, 2)
    begun = [number for number, event in enumerate(events) if isinstance(event, Restarted)]
    assert begun
    assert all(event.win > 5 * 6 for event in [events[begun[-1]]])
    assert len(of(Visited, events[begun[-1] :])) == search.counts.nodes == alone.counts.nodes


def test_alpha_beta_reports_every_step():
    _, found, events = watch(AlphaBeta, Tree(SMALL), 2)
    assert found.value == 3
    assert [event for event in events if not isinstance(event, Visited)] == [
        Entered((), True, "value", (-inf, inf)),
        Entered((1,), False, "value", (-inf, inf)),
        Entered((1, 1), True, "value", (-inf, inf)),
        Evaluated((1, 1), True, 3),
        Returned((1, 1), True, 3),
        Entered((1, 2), True, "value", (-inf, 3)),
        Evaluated((1, 2), True, 12),
        Returned((1, 2), True, 12),
        Returned((1,), False, 3),
        Entered((2,), False, "value", (3, inf)),
        Entered((2, 1), True, "value", (3, inf)),
        Evaluated((2, 1), True, 2),
        Returned((2, 1), True, 2),
        CutOff((2,), False, 1),
        Returned((2,), False, 2),
        Returned((), True, 3),
    ]


def test_scout_reports_tests_and_re_searches():
    _, _, events = watch(Scout, Tree([[3, 12], [7, 4]]), 2)
    assert Entered((2,), False, "test", test=(">", 3)) in events
    assert Returned((2,), False, True) in events
    assert Entered((2,), False, "eval", again=True) in events
    assert {event.label for event in of(Entered, events) if event.again} == {(2,), (2, 2)}


def test_mtd_reports_table_hits_and_re_searches():
    search, _, events = watch(MTD, RandomTree(3, 4, seed=2), 4)
    remembered = [event for event in of(Returned, events) if event.remembered]
    assert len(remembered) == search.counts.table_hits > 0
    passes = [event for event in of(Entered, events) if event.label == ()]
    assert [event.again for event in passes] == [False] + [True] * search.counts.researches


@pytest.mark.parametrize("kind", algorithms().values(), ids=lambda kind: kind.name)
def test_reported_values_are_from_the_view_of_max(kind):
    """For every algorithm the reported value of a leaf is that of the tree."""
    options = {"playouts": 10, "seed": 1, "scale": 81} if issubclass(kind, UCT) else {}
    game = RandomTree(3, 4, seed=4)
    search, found, events = watch(kind, game, 4, **options)
    for event in of(Evaluated, events):
        leaf = game.root
        for place in event.label:
            leaf = leaf[place - 1]
        assert event.value == leaf
        assert event.maximises == (len(event.label) % 2 == 0)
    root = [event.value for event in of(Returned, events) if event.label == ()]
    if search.exact:
        assert root[-1] == found.value


def test_sss_star_reports_the_final_value():
    _, found, events = watch(SSSStar, Tree(SMALL), 2)
    assert {event.label: event.value for event in of(Returned, events)}[()] == found.value == 3


def test_b_star_reports_every_bound_change():
    _, found, events = watch(BStar, RandomTree(3, 3, seed=1), 3)
    last = {}
    for event in of(Narrowed, events):
        lower, upper = last.get(event.label, (-inf, inf))
        assert lower <= event.lower <= event.upper <= upper
        last[event.label] = event.lower, event.upper
    best = last[found.pv]
    assert all(
        upper <= best[0]
        for label, (_, upper) in last.items()
        if len(label) == 1 and label != found.pv
    )


def test_mcts_reports_playouts_and_visits():
    _, _, events = watch(UCT, RandomTree(2, 4, seed=1), 4, playouts=30, seed=2, scale=16)
    assert len(of(PlayedOut, events)) == 30
    visits = {event.label: event.visits for event in of(Counted, events)}
    assert visits[()] == 30
    assert visits[1,] + visits[2,] == 30


def test_playouts_from_a_dice_roll_have_rewards_for_max():
    """At a chance node MAX is player 0, who wins on every roll here."""
    game = games.new_game("backgammon")
    search = searching(UCT, lambda game: -1.0 if game.turn else 1.0, playouts=20, seed=1)
    events = []
    traced(search, events.append).search(game, 1)
    assert {event.reward > 0 for event in of(PlayedOut, events)} == {True}


def test_search_without_a_tracer_is_left_alone():
    search = searching(AlphaBeta, evaluate)
    search.search(Tree(SMALL), 2)
    assert search.tracer is None
    assert not {"_value", "search"} & vars(search).keys()


def test_stopped_search_restores_the_observed_game():
    game = RandomTree(3, 4)
    with pytest.raises(SearchStopped):
        watch(AlphaBeta, game, 4, node_limit=10)
    assert game.key() == ()
    assert "play" not in vars(game)


def test_rejects_a_game_that_cannot_be_observed():
    class Rigid:
        __slots__ = ()
        turn = 0

        def play(self, move):
            pass

        def undo(self):
            pass

    with pytest.raises(TypeError, match="Rigid: cannot be traced"):
        watch(AlphaBeta, Rigid(), 1)
