"""Test max-n on a small game for three players, and against minimax for two."""

import re
from random import Random

import pytest

from agent.games.coin_row import CoinRow
from agent.search.max_n import max_n


def best_values(coins, players, mover=0):
    """The values by the definition, without the game: tuples of the coins that each player gets."""
    if not coins:
        return (0,) * players
    choices = []
    for taken, left in ((coins[0], coins[1:]), (coins[-1], coins[:-1])):
        values = list(best_values(left, players, (mover + 1) % players))
        values[mover] += taken
        choices.append(tuple(values))
    return max(choices, key=lambda values: values[mover])


@pytest.mark.parametrize("players", [2, 3, 4])
def test_values_follow_the_definition(players):
    random = Random(players)
    for _ in range(20):
        coins = [random.randint(1, 99) for _ in range(random.randint(1, 9))]
        game = CoinRow(coins, players)
        root = max_n(game)
        assert root.values == best_values(coins, players)
        for move in root.line():
            game.play(move)
        assert game.utilities() == root.values


def test_player_may_prefer_a_coin_that_helps_an_opponent():
    root = max_n(CoinRow((4, 9, 2, 7, 5), 3))
    assert (root.values, root.line(), root.count()) == ((14, 9, 4), tuple("RRLLL"), 47)


@pytest.mark.parametrize(
    ("coins", "players", "message"),
    [
        ((), 3, "coins: from 1 to 16 values (got 0)"),
        ((1,) * 17, 3, "coins: from 1 to 16 values (got 17)"),
        ((1, 2), 1, "players must be from 2 to 6 (got 1)"),
    ],
)
def test_rows_have_limits(coins, players, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        CoinRow(coins, players)
