"""Test CFR against the known solution of Kuhn poker, and best responses by brute force."""

from itertools import product

import pytest

from agent.game import CHANCE
from agent.games.hidden.kuhn_poker import KuhnPoker
from agent.games.hidden.liars_dice import LiarsDice
from agent.search.regret_minimisation import (
    RegretMinimizer,
    best_response_value,
    expected_value,
    exploitability,
)


def trained(game, iterations, **options):
    minimizer = RegretMinimizer(game, **options)
    for _ in range(iterations):
        minimizer.iterate()
    return minimizer, minimizer.average_strategy()


def value_of(game, strategies):
    """The value for player 0 by the rules alone; strategies map (player, information)."""
    outcome = game.outcome()
    if outcome is not None:
        return outcome
    if game.turn == CHANCE:
        chances = dict(game.chance_outcomes())
    else:
        chances = dict(
            zip(game.moves(), strategies[f"{game.turn + 1}: {game.information()}"], strict=True)
        )
    total = 0
    for move, chance in chances.items():
        game.play(move)
        total += chance * value_of(game, strategies)
        game.undo()
    return total


def best_by_brute_force(game, strategy, player):
    """The best value of all pure strategies of a player."""
    mine = [name for name in strategy if name.startswith(f"{player + 1}:")]
    sign = -1 if player else 1
    return max(
        sign * value_of(game, {**strategy, **dict(zip(mine, pure, strict=True))})
        for pure in product([(1, 0), (0, 1)], repeat=len(mine))
    )


@pytest.mark.parametrize("iterations", [1, 7, 40])
def test_best_response_is_the_best_pure_strategy(iterations):
    minimizer, strategy = trained(KuhnPoker(), iterations)
    for player in (0, 1):
        assert best_response_value(minimizer.root, strategy, player) == pytest.approx(
            best_by_brute_force(KuhnPoker(), strategy, player)
        )
    assert expected_value(minimizer.root, strategy) == pytest.approx(
        value_of(KuhnPoker(), strategy)
    )


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize(("iterations", "plus"), [(1000, True), (10_000, True), (10_000, False)])
def test_kuhn_poker_is_solved(iterations, plus):
    minimizer, strategy = trained(KuhnPoker(), iterations, plus=plus)
    assert 0 <= exploitability(minimizer.root, strategy) < 0.001
    assert expected_value(minimizer.root, strategy) == pytest.approx(-1 / 18, abs=1e-4)
    # Kuhn's solutions: bluff with J at some rate up to 1/3, bet K three times as often.
    bluff = strategy["1: J"][1]
    assert -0.01 < bluff < 1 / 3 + 0.01
    for name, bet in {
        "1: Q": 0,
        "1: K": 3 * bluff,
        "1: J pass bet": 0,
        "1: Q pass bet": bluff + 1 / 3,
        "1: K pass bet": 1,
        "2: J pass": 1 / 3,
        "2: Q pass": 0,
        "2: K pass": 1,
        "2: J bet": 0,
        "2: Q bet": 1 / 3,
        "2: K bet": 1,
    }.items():
        assert strategy[name][1] == pytest.approx(bet, abs=0.03)


def test_first_iteration_is_as_calculated_by_hand():
    minimizer, _ = trained(KuhnPoker(), 1)
    known = minimizer.sets["1: J"]
    # Against a uniform opponent, J is worth -5/4 after a pass and -1/2 after a bet, each of the
    # two deals with probability 1/6.
    assert known.values == pytest.approx([-5 / 12, -1 / 6])
    assert known.regrets == pytest.approx([-1 / 8, 1 / 8])
    assert known.strategy == [0, 1]


def test_exploitability_falls_and_both_sides_of_liars_dice_come_close():
    game = LiarsDice(2)
    minimizer = RegretMinimizer(game)
    measured = []
    for count in (1, 10, 100):
        while minimizer.iterations < count:
            minimizer.iterate()
        measured.append(exploitability(minimizer.root, minimizer.average_strategy()))
    assert measured[0] > measured[1] > measured[2] > 0
    assert measured[2] < 0.02


def test_positions_with_equal_information_must_have_equal_moves():
    with pytest.raises(ValueError, match="1: nothing: positions with different legal moves"):
        RegretMinimizer(BrokenMoves())


class BrokenMoves(KuhnPoker):
    def information(self):
        return "nothing"

    def moves(self):
        moves = super().moves()
        return moves[:1] if self._deal == "KQ" and len(moves) == 2 else moves
