"""In every algorithm, wins and losses outrank every evaluation on any scale."""

from math import inf, nan
from random import Random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from agent.evaluation import EvaluationError
from agent.game import parse_move
from agent.games.connect_four import ConnectFour
from agent.games.othello import Othello
from agent.games.pig import Pig
from agent.games.tic_tac_toe import TicTacToe
from agent.games.tree import Tree
from agent.limits import Limits
from agent.search import algorithm_spec
from agent.search.algorithms.alpha_beta import AlphaBeta, AlphaBetaOptions, ExtensionRule
from agent.search.algorithms.expectiminimax import Expectiminimax
from agent.search.algorithms.mcts import UCT
from agent.search.algorithms.minimax import Minimax
from agent.search.beam_limited_game import BeamLimitedGame
from agent.search.catalogue import algorithm, algorithms
from agent.search.defaults import make_search
from agent.search.iterative_deepening import IterativeDeepening
from agent.search.move_ordering import Ordering
from agent.search.searcher import GameSearcher
from agent.search.transposition_table import TranspositionTable
from tests.support import searching

GAMES = {
    "tic-tac-toe": TicTacToe,
    "connect-four": lambda: ConnectFour(5, 4),
    "othello": lambda: Othello(4),
}
# Flat Monte Carlo averages over the replies instead of taking the worst.
BLIND_TO_ANSWERS = {"ucb1"}

scales = st.floats(min_value=-320, max_value=308).map(lambda exponent: 10.0**exponent)


def raw(game):
    """The evaluation E = X - O of the lecture notes."""
    return game.open_lines(game.turn) - game.open_lines(1 - game.turn)


def made_up(seed, scale):
    """Return a random evaluation on this scale. Odd seeds give integers."""

    def evaluate(game):
        value = Random(f"{seed} {game.key()}").uniform(-1, 1) * scale
        return int(value) if seed % 2 else value

    return evaluate


def won(game, move, player):
    game.play(move)
    outcome = game.outcome()
    game.undo()
    return outcome is not None and (-outcome if player else outcome) > 0


def before_the_end(name, seed, plies):
    """Return a game this number of plies before it ends in a win, or None if it does not."""
    random, game = Random(seed), GAMES[name]()
    played = 0
    while moves := list(game.moves()):
        game.play(random.choice(moves))
        played += 1
    if not game.outcome() or played < plies:
        return None
    for _ in range(plies):
        game.undo()
    return game


def found_by(name, evaluate, game, depth, seed):
    options = {"playouts": 600, "seed": seed} if issubclass(algorithms()[name], UCT) else {}
    return searching(name, evaluate, **options).search(game, depth)


@pytest.mark.thorough(keep=20)
@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("game_name", GAMES)
@pytest.mark.parametrize("name", algorithms())
@settings(max_examples=8)
@given(seed=st.integers(0, 10**6), scale=scales)
def test_plays_an_immediate_win(name, game_name, depth, seed, scale):
    game = before_the_end(game_name, seed, 1)
    assume(game is not None)
    mover = game.turn
    assume(any(won(game, move, mover) for move in game.moves()))
    found = found_by(name, made_up(seed, scale), game, depth, seed)
    # A deeper search may see that another move wins too, by more.
    if not won(game, found.move, mover):
        assert depth == 2
        assert found.value > 0
        assert found.decided or found.value == 1  # for playouts it is the mean


@pytest.mark.thorough(keep=10)
@pytest.mark.parametrize("game_name", ["tic-tac-toe", "connect-four"])
@pytest.mark.parametrize("name", sorted(algorithms().keys() - BLIND_TO_ANSWERS))
@settings(max_examples=8)
@given(seed=st.integers(0, 10**6), scale=scales)
def test_avoids_an_immediate_loss(name, game_name, seed, scale):
    game = before_the_end(game_name, seed, 2)
    assume(game is not None)
    mover = game.turn

    def loses(move):
        game.play(move)
        lost = any(won(game, answer, 1 - mover) for answer in game.moves())
        game.undo()
        return lost

    assume(not all(map(loses, game.moves())))
    assert not loses(found_by(name, made_up(seed, scale), game, 2, seed).move)


@pytest.mark.parametrize("name", sorted(name for name, kind in algorithms().items() if kind.exact))
def test_values_are_reported_on_the_evaluations_scale(name):
    game = TicTacToe()
    for text in ("a3", "b3", "a2", "c3"):
        game.play(parse_move(game, text))
    found = algorithm(name)(raw).search(game, 1)
    assert (game.text(found.move), found.value, found.decided) == ("a1", 1, True)
    found = algorithm(name)(raw).search(TicTacToe(), 2)
    assert (found.value, found.decided) == (1, False)  # 5 - 4 lines, after the centre
    game.play(parse_move(game, "b1"))
    game.play(parse_move(game, "c1"))
    game.play(parse_move(game, "a1"))
    found = algorithm(name)(raw).search(game, 3)
    assert (found.value, found.pv, found.decided) == (-1, (), True)


@pytest.mark.parametrize("name", algorithms())
@pytest.mark.parametrize("value", [inf, -inf, nan])
def test_rejects_infinite_and_nan_evaluations(name, value):
    def endless(game):
        return value

    game = ConnectFour()
    key = game.key()
    with pytest.raises(EvaluationError, match=f"endless returned {value} .must be finite"):
        found_by(name, endless, game, 2, 1)
    assert game.key() == key


def test_accepts_integers_beyond_the_float_range():
    game = before_the_end("tic-tac-toe", 3, 1)
    assert Minimax(lambda game: 10**400).search(game, 1).decided


@pytest.mark.thorough(keep=3)
@pytest.mark.parametrize(
    "options",
    [
        {"table": TranspositionTable()},
        {"ordering": Ordering(killers=True, history=True, last_turn=True, successors=raw)},
        {"beyond": ExtensionRule(2, swing=3)},
    ],
    ids=["table", "ordering", "beyond"],
)
@pytest.mark.parametrize("name", ["alpha-beta", "pvs", "negascout-1", "null-move"])
def test_techniques_do_not_mistake_evaluations_for_wins(name, options):
    random = Random(4)
    for _ in range(40):
        game = TicTacToe()
        for _ in range(random.randint(2, 6)):
            if moves := game.moves():
                game.play(random.choice(moves))
        depth = random.randint(1, 4)
        if "table" in options:
            options = {"table": TranspositionTable()}
        search = searching(name, raw, **options)
        plain = AlphaBeta(raw, AlphaBetaOptions(beyond=options.get("beyond"))).search(game, depth)
        for _ in range(2):
            found = search.search(game, depth)
            assert (found.value, found.decided) == (plain.value, plain.decided)


def test_ordering_and_pruning_put_the_win_first():
    game = before_the_end("tic-tac-toe", 3, 1)
    mover = game.turn

    def misled(game):
        return -50

    first = Ordering(successors=misled).sort(game, list(game.moves()), 0)[0]
    assert won(game, first, mover)
    assert won(game, BeamLimitedGame(game, misled, 1).moves()[0], mover)


def test_iterative_deepening_reports_wins_at_every_depth():
    game = before_the_end("tic-tac-toe", 3, 1)
    for level in IterativeDeepening(AlphaBeta(raw)).iterations(
        game, list(game.moves()), 2, lines=3
    ):
        assert level.lines[0][0] == 1
        assert won(game, level.lines[0][1][0], game.turn)


def test_decided_othello_value_is_the_disc_difference():
    """The utility of Othello is the disc difference, which is reported unchanged."""
    found = AlphaBeta(lambda game: 1000).search(Othello(4), 99)
    assert (found.value, found.decided) == (-8, True)


def test_tree_leaves_and_evaluations_share_one_scale():
    def six(game):
        return -6 if game.turn else 6

    for kind in algorithms().values():
        if kind.exact:
            assert kind(six).search(Tree([[5, 7], [[1, 2], [3, 4]]]), 2).value == 6
    fair = BeamLimitedGame(Tree([[5, 7], [[1, 2], [3, 4]]]), lambda game: 0, 9)
    assert AlphaBeta(lambda game: six(game.game)).search(fair, 2).value == 6


def lead(game):
    scores, player, rolled, _ = game.state
    return scores[player] - scores[1 - player] + rolled / 2


class TestGamesOfChance:
    def game(self, target, *moves):
        game = Pig(target)
        for move in moves:
            game.play(move)
        return game

    @pytest.mark.parametrize("depth", [1, 2])
    def test_expectiminimax_plays_an_immediate_win(self, depth):
        found = Expectiminimax(lead).search(self.game(6, "roll", "6"), depth)
        assert (found.move, found.value, found.decided) == ("hold", 1, True)

    def test_result_that_depends_on_dice_is_not_decided(self):
        """The opponent has enough points to win if it gets the turn."""
        game = self.game(12, "roll", "2", "hold", "roll", "6", "roll", "5", "hold")
        game.play("roll")
        game.play("4")
        # 2 and 4 against 11: holding leaves the result to the dice, and rolling may win later.
        found = Expectiminimax(lead).search(game, 2)
        assert not found.decided

    def test_fractional_evaluations_are_weighed_against_wins(self):
        """An evaluation below the value of a win is used unscaled."""
        share = Expectiminimax(lambda game: lead(game) / 100)
        search = Expectiminimax(lambda game: lead(game) / 100)
        search._win = 8.0
        game = self.game(18, "roll", "6", "roll", "6")
        assert share.search(game, 2).value != search.search(game, 2).value
        assert abs(share.search(game, 2).value) < 1

    def test_counts_exclude_an_abandoned_search(self):
        tame, wild = Expectiminimax(lambda game: 0), Expectiminimax(lead)
        game = self.game(30)
        for depth in (1, 2):
            tame.search(game, depth)
            wild.search(game, depth)
        assert wild.counts == tame.counts
        assert game.state.rolled == 0


@pytest.mark.parametrize("name", [*algorithms(), "alpha-beta+table+killers", "mcts+solver=false"])
@pytest.mark.parametrize("depth", [1, 2])
def test_every_game_searcher_plays_an_immediate_win(name, depth):
    game = TicTacToe()
    for text in ("a3", "b3", "a2", "c3"):
        game.play(parse_move(game, text))
    searcher = GameSearcher(make_search(name, game, raw, seed=1, playouts=500))
    *_, last = searcher.search(game, Limits(depth=depth))
    assert game.text(last.pv[0]) == "a1"


def test_configured_algorithms_play_an_immediate_win():
    game = before_the_end("tic-tac-toe", 3, 1)
    for text in ("alpha-beta+successors", "pvs+preliminary=2", "mcts+rave=10", "bns+low=-3+high=3"):
        search = algorithm_spec.parse(text).new(game, raw, seed=1)
        assert won(game, search.search(game, 1).move, game.turn)
