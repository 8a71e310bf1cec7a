"""Every evaluation is counted."""

import pytest

from agent.games import catalogue
from agent.games.pig import Pig
from agent.games.tree import Tree
from agent.search import algorithm_spec
from agent.search.algorithms.alpha_beta import AlphaBeta, AlphaBetaOptions, ExtensionRule
from agent.search.algorithms.expectiminimax import Expectiminimax
from agent.search.algorithms.minimax import Minimax
from agent.search.beam_limited_game import BeamLimitedGame
from agent.search.move_ordering import Ordering
from agent.search.stats import SearchStats
from agent.search.symmetry_reduced_game import SymmetryReducedGame


class Counted:
    """A game's evaluation that counts its calls. No game ends in these searches."""

    def __init__(self, name):
        self.calls = 0
        self._evaluate = catalogue.evaluation(name)

    def __call__(self, game):
        self.calls += 1
        return self._evaluate(game)


def test_evaluations_sum_leaves_and_looked_at():
    assert SearchStats(leaves=3, looked_at=4).evaluations == 7


@pytest.mark.thorough(keep=6)
@pytest.mark.parametrize(
    "text",
    [
        "minimax",
        "alpha-beta",
        "alpha-beta+successors",
        "alpha-beta+preliminary=2",
        "alpha-beta+continuation",
        "alpha-beta+swing=0.01",
        "pvs+successors+table",
        "negascout-1",
        "mtd-f+successors",
        "sss-star+successors",
        "b-star+successors",
        "bns+successors",
        "scout",
    ],
)
@pytest.mark.parametrize("depth", [2, 4])
def test_every_evaluation_is_counted(text, depth):
    evaluate, game = Counted("connect-four"), catalogue.new_game("connect-four")
    search = algorithm_spec.parse(text).new(game, evaluate)
    for _ in range(2):
        search.search(game, depth)
    assert search.counts.evaluations == evaluate.calls
    if "+" not in text:
        assert search.counts.looked_at == 0


def test_ordering_evaluations_are_not_counted_as_leaves():
    """Connect Four, five plies with move ordering: most evaluations are for the ordering."""
    evaluate, game = Counted("connect-four"), catalogue.new_game("connect-four")
    search = algorithm_spec.parse("alpha-beta+successors").new(game, evaluate)
    search.search(game, 5)
    assert (search.counts.leaves, search.counts.evaluations) == (513, 2375)
    assert evaluate.calls == 2375


def test_swing_evaluations_are_not_counted_as_leaves():
    game = catalogue.new_game("tic-tac-toe")
    evaluate = Counted("tic-tac-toe")
    search = AlphaBeta(evaluate, AlphaBetaOptions(beyond=ExtensionRule(1, swing=99)))
    plain = AlphaBeta(evaluate)
    search.search(game, 3)
    plain.search(game, 3)
    assert search.counts.leaves == plain.counts.leaves
    assert search.counts.looked_at > 0


@pytest.mark.parametrize("wrap", [lambda game: game, SymmetryReducedGame], ids=["plain", "folded"])
def test_pruning_evaluations_are_counted_once_per_node(wrap):
    cheap = Counted("tic-tac-toe")
    inner = cheap if wrap is not SymmetryReducedGame else lambda folded: cheap(folded.game)
    game = BeamLimitedGame(wrap(catalogue.new_game("tic-tac-toe")), inner, 3)
    search = Minimax(lambda game: 0)
    search.search(game, 3)
    assert search.counts.looked_at == cheap.calls > 0
    before = cheap.calls
    search.search(game, 3)
    assert search.counts.looked_at == cheap.calls > before
    if wrap is not SymmetryReducedGame:
        # 9 at the root, 8 below each of its 3 moves, 7 below each of their 2 + 1 + 1 moves.
        assert before == 9 + 3 * 8 + 4 * 7


def test_pruned_moves_update_when_the_inner_game_changes():
    inner = catalogue.new_game("tic-tac-toe")
    game = BeamLimitedGame(inner, catalogue.evaluation("tic-tac-toe"), 1)
    assert game.moves() == [4]
    inner.play(4)
    assert game.moves() != [4]


def test_finished_positions_are_counted_during_move_ordering():
    search = AlphaBeta(
        lambda game: 0, AlphaBetaOptions(ordering=Ordering(successors=lambda game: 0))
    )
    search.search(Tree([[3, 12], [2, 4]]), 2)
    assert (search.counts.leaves, search.counts.looked_at) == (3, 2 + 2 + 2)


def test_counts_every_evaluation_in_games_of_chance():
    evaluate = Counted("pig")
    search = Expectiminimax(evaluate)
    search.search(Pig(50), 2)
    assert search.counts.evaluations == evaluate.calls
