"""Monte Carlo tree search with chance nodes, compared with exact values."""

from contextlib import suppress

import numpy as np
import pytest

from agent.evaluation import Evaluation
from agent.games import backgammon, catalogue
from agent.games.backgammon import Backgammon, Roll
from agent.games.pig import Pig, evaluate
from agent.search.algorithms.expectiminimax import Expectiminimax
from agent.search.algorithms.mcts import UCB1, UCT, UCTOptions
from agent.search.stats import SearchStopped

UNLIMITED = 10**9


def uct(playouts, **options):
    return UCT(evaluate, UCTOptions(playouts=playouts, seed=3, **options))


def every_node(node):
    yield node
    for child in node.children:
        yield from every_node(child)


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("options", [{}, {"solver": True}, {"rave": 200.0}], ids=str)
def test_pig_to_two_has_value_five_sevenths(options):
    # The first to roll wins with 2 to 6, otherwise the opponent takes its place: p = 5/6 + (1 - p)
    # / 6.
    found = uct(8000, **options).search(Pig(2), UNLIMITED)
    assert found.move == "roll"
    assert found.value == pytest.approx(2 * 6 / 7 - 1, abs=0.05)


@pytest.mark.parametrize(("men", "ways"), [("6+1", 15), ("5+2", 19), ("4+2", 23)])
def test_value_is_the_mean_over_all_rolls(men, ways):
    game = Backgammon(f"{men}/1x2")
    search = uct(4000)
    found = search.search(game, UNLIMITED)
    assert found.pv == ()  # chance is to move at the root
    assert found.value == pytest.approx(2 * ways / 36 - 1, abs=0.06)
    assert search.current_lines() == ()


@pytest.mark.thorough
def test_chance_events_are_sampled_by_their_probability():
    game = Backgammon("6x2/6x2")
    search = uct(7200)
    search.search(game, UNLIMITED)
    for event in search.tree.children:
        expected = 7200 * event.probability
        assert abs(event.visits - expected) < 5 * expected**0.5


def test_backgammon_value_matches_expectiminimax():
    game = Backgammon("5+2+1/1x2")
    game.play(Roll(2, 1))
    exact = Expectiminimax(lambda game: 0).search(game, 3)
    found = uct(6000, solver=True).search(game, UNLIMITED)
    assert found.value == pytest.approx(exact.value, abs=0.08)


def test_chance_node_is_proven_only_if_all_events_agree():
    game = Backgammon("1x2/1x2")  # any first roll bears both men off
    search = uct(400, solver=True)
    found = search.search(game, UNLIMITED)
    assert (found.value, search.tree.proven) == (1, -1)
    unsure = Backgammon("6+1/1x2")
    search = uct(3000, solver=True)
    search.search(unsure, UNLIMITED)
    assert search.tree.proven is None
    certain = {event.move: event.proven for event in search.tree.children}
    assert certain[Roll(6, 6)] == -1  # for the opponent, who moved to the root
    assert certain[Roll(2, 1)] in {1, None}


def test_depth_counts_player_moves_but_not_chance_events():
    asked = []

    def note(game):
        asked.append(game.turn)
        return 0

    game = Pig(100)
    UCT(note, UCTOptions(playouts=300, seed=1)).search(game, 2)
    assert set(asked) == {0, 1}  # never while the die rolls
    assert len(game._states) == 1


def test_flat_search_plays_games_of_chance():
    search = UCB1(evaluate, UCTOptions(playouts=2000, seed=1))
    found = search.search(Pig(2), UNLIMITED)
    assert found.pv == ("roll",)


def test_game_is_restored_at_any_node_limit():
    game = Backgammon()
    for limit in range(1, 40, 3):
        options = UCTOptions(playouts=50, seed=limit, node_limit=limit)
        with suppress(SearchStopped):
            UCT(backgammon.evaluate, options).search(game, 4)
        assert game.key() == Backgammon().key()


def test_batches_contain_no_chance_positions():
    sizes = []

    def judge(batch):
        sizes.append(len(batch))
        assert {game.turn for game in batch.games} <= {0, 1}
        return np.zeros(len(batch))

    batches = catalogue.find("pig").batch_evaluation(Evaluation("judge", python=judge, batch=8))
    search = UCT(batches, UCTOptions(playouts=300, seed=1))
    game = Pig(4)
    assert search.search(game, UNLIMITED).move in {"roll", "hold"}
    assert max(sizes) > 1
    for node in every_node(search.tree):
        if node.is_chance_node:
            assert sum(child.visits for child in node.children) == node.visits
    game.play("roll")  # the root is now a chance node
    assert search.search(game, UNLIMITED).pv == ()


def test_same_seed_repeats_the_search():
    found = [uct(200).search(Pig(20), 3) for _ in range(2)]
    assert found[0] == found[1]
