import pytest

from agent.games.pig import Pig, evaluate
from agent.search.algorithms.expectiminimax import Expectiminimax
from agent.search.search import SearchOptions
from agent.search.stats import SearchStopped


def test_pig_to_two_has_value_five_sixths():
    # One decision ahead in a game to 2: with a roll of 2 to 6 the player can hold and win.
    game = Pig(2)
    found = Expectiminimax(lambda game: 0).search(game, 2)
    assert found.value == pytest.approx(5 / 6)
    assert found.pv == ("roll",)
    assert game.state.scores == (0, 0)


def test_equals_an_independent_expectation_over_all_dice():
    def value(state, depth):
        """Player 0's expectation, independent of the game: scores, player, sum of the turn."""
        (first, second), player, rolled = state
        if first >= 10:
            return 1
        if second >= 10:
            return -1
        if depth == 0:
            lead = (first - second) * (1 if player == 0 else -1) + rolled / 2
            shown = max(-1, min(1, lead / 20))
            return shown if player == 0 else -shown
        held = (first + rolled, second) if player == 0 else (first, second + rolled)
        hold = value((held, 1 - player, 0), depth - 1)
        roll = value(((first, second), 1 - player, 0), depth - 1) / 6
        roll += sum(
            value(((first, second), player, rolled + face), depth - 1) / 6 for face in range(2, 7)
        )
        return max(hold, roll) if player == 0 else min(hold, roll)

    for depth in range(5):
        found = Expectiminimax(evaluate).search(Pig(10), depth)
        assert found.value == pytest.approx(value(((0, 0), 0, 0), depth))


def test_value_is_from_the_movers_view():
    game = Pig(2)
    first = Expectiminimax(lambda game: 0).search(game, 2).value
    game.play("hold")
    assert Expectiminimax(lambda game: 0).search(game, 2).value == pytest.approx(first)


def test_stopping_inside_chance_nodes_restores_the_game():
    game = Pig(10)
    for limit in range(1, 30):
        with pytest.raises(SearchStopped):
            Expectiminimax(evaluate, SearchOptions(node_limit=limit)).search(game, 3)
        assert game.key() == Pig(10).key()
