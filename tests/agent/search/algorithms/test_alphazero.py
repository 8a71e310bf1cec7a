"""AlphaZero: priors guide the search, and network values are used unscaled."""

import numpy as np
import pytest

from agent.games import catalogue
from agent.games.batch_evaluation import BatchEvaluation
from agent.search.algorithms.alphazero import AlphaZero, AlphaZeroOptions


def judged(value, prior, learned):
    """Return an evaluation with one value for all positions and a preferred move."""

    def evaluate(positions):
        width = max(map(len, positions))
        priors = np.zeros((len(positions), width))
        for row, moves in enumerate(positions):
            weights = np.array([prior if move == 3 else 1.0 for move in moves])
            priors[row, : len(moves)] = weights / weights.sum()
        return np.full(len(positions), value), priors

    return BatchEvaluation(lambda game, moves: list(moves), evaluate, 4, learned)


def visits(search):
    return {child.move: child.visits for child in search.tree.children}


def test_move_with_a_higher_prior_gets_more_visits():
    game = catalogue.new_game("connect-four")
    search = AlphaZero(judged(0, 20, True), AlphaZeroOptions(playouts=60, seed=1))
    assert search.search(game, 99).move == 3
    assert visits(search)[3] > 30


def test_uses_uniform_priors_and_playouts_without_a_network():
    game = catalogue.new_game("tic-tac-toe")
    search = AlphaZero(lambda game: 0, AlphaZeroOptions(playouts=200, seed=1))
    search.search(game, 99)
    assert {child.prior for child in search.tree.children} == {1 / 9}
    assert min(visits(search).values()) > 0
    assert search.counts.leaves == 200


@pytest.mark.parametrize(("learned", "value"), [(True, 0.9), (False, 0.9 / 2.8)])
def test_learned_values_are_rewards_and_others_are_scaled(learned, value):
    search = AlphaZero(judged(0.9, 1, learned))
    search._begin(catalogue.new_game("connect-four"))
    assert search._reward(0.9) == pytest.approx(value)


def test_finds_an_immediate_win():
    game = catalogue.new_game("connect-four")
    for move in (0, 1, 0, 1, 0, 1):
        game.play(move)
    search = AlphaZero(judged(0, 1, True), AlphaZeroOptions(playouts=100, seed=1, solver=True))
    assert search.search(game, 99).move == 0
