"""Properties of every game. A new file in agent/games is found automatically.

`--game FILE.py:Class` tests a user's game. The example game of the documentation is always tested.
"""

from random import Random

import pytest

from agent.game import CHANCE, ChanceGame, HasValueBounds, parse_move
from agent.games import catalogue
from agent.games.tree import Tree
from agent.search.algorithms.alpha_beta import AlphaBeta
from tests.support import ROOT, small_game

CHOMP = f"{ROOT}/tests/data/games/chomp.py:Chomp"
GAMES = [*catalogue.builtin_names(), CHOMP]
OF_CHANCE = [name for name in GAMES if isinstance(catalogue.new_game(name), ChanceGame)]


def pytest_generate_tests(metafunc):
    """Test every game, or the one of the option."""
    if metafunc.cls is TestEveryGame:
        own = metafunc.config.getoption("--game")
        names = [own] if own else GAMES
        metafunc.parametrize("name", names, ids=[name.rpartition("/")[2] for name in names])


def random_positions(name, games=20):
    """Generate the positions of random games. At the end the game is at its start again."""
    random = Random(name)
    game = small_game(name)
    for _ in range(games):
        played = 0
        while True:
            yield game
            moves = list(game.moves())
            if not moves:
                break
            game.play(random.choice(moves))
            played += 1
        for _ in range(played):
            game.undo()


def snapshot(game):
    return game.turn, game.key(), str(game), game.outcome(), list(game.moves())


def test_catalogue_contains_all_games():
    assert set(GAMES) >= {
        "backgammon",
        "checkers",
        "chess",
        "connect-four",
        "go",
        "grundy",
        "nim",
        "othello",
        "pig",
        "random-tree",
        "tic-tac-toe",
        "tree",
    }


def test_unknown_game_is_rejected_by_name():
    with pytest.raises(
        ValueError, match=r"unknown game 'chequers' .expected one of: backgammon, checkers, "
    ):
        catalogue.new_game("chequers")


class TestEveryGame:
    def test_game_is_over_exactly_when_no_moves_remain(self, name):
        for game in random_positions(name):
            assert (game.outcome() is None) == bool(list(game.moves()))

    def test_players_alternate(self, name):
        if name in OF_CHANCE:
            pytest.skip("in games of chance the players need not alternate")
        for game in random_positions(name, 5):
            for move in game.moves():
                turn = game.turn
                game.play(move)
                assert {turn, game.turn} == {0, 1}
                game.undo()

    def test_undo_restores_everything(self, name, thorough):
        for game in random_positions(name, 5 if thorough else 2):
            before = snapshot(game)
            for move in list(game.moves()):
                game.play(move)
                assert game.key() != before[1]
                game.undo()
                assert snapshot(game) == before

    def test_equal_keys_imply_equal_moves_and_outcomes(self, name):
        seen = {}
        for game in random_positions(name):
            future = game.turn, game.outcome(), list(game.moves())
            assert seen.setdefault(game.key(), future) == future

    def test_move_texts_are_unique_and_parse_back(self, name):
        for game in random_positions(name, 5):
            moves = list(game.moves())
            texts = [game.text(move) for move in moves]
            assert len(set(texts)) == len(texts)
            assert all(text and not any(char.isspace() for char in text) for text in texts)
            few = slice(None, None, 1 + len(moves) // 40)  # parsing compares with all moves
            assert [parse_move(game, f" {text.upper()}") for text in texts[few]] == moves[few]

    def test_board_text_has_no_empty_line(self, name):
        for game in random_positions(name, 5):
            assert all(line.strip() for line in str(game).splitlines())

    def test_bounds_contain_the_search_value(self, name):
        game = small_game(name)
        if not isinstance(game, HasValueBounds) or isinstance(game, Tree):
            pytest.skip("no bounds, or bounds of a file")
        search = AlphaBeta(catalogue.evaluation(name))
        tighter = 0
        for game in random_positions(name):
            lower, upper = game.bounds()
            for depth in range(3):
                assert lower <= search.search(game, depth).value <= upper
            tighter += lower > -1 or upper < 1
        assert tighter

    def test_evaluation_stays_within_the_range_of_outcomes(self, name):
        evaluate = catalogue.evaluation(name)
        limit = {"othello": 8 * 64, "go": 9 + 7.5}.get(name, 1)
        for game in random_positions(name):
            if game.turn == CHANCE:
                continue
            assert -limit <= evaluate(game) <= limit

    def test_illegal_move_is_rejected_by_name(self, name):
        game = catalogue.new_game(name)
        with pytest.raises(ValueError, match=r"illegal move 'zz99' .legal moves: "):
            parse_move(game, "zz99")


@pytest.mark.parametrize("name", OF_CHANCE)
def test_chances_are_probabilities_of_the_moves(name):
    for game in random_positions(name, 5):
        if game.turn == CHANCE:
            events = dict(game.chance_outcomes())
            assert list(events) == list(game.moves())
            assert sum(events.values()) == pytest.approx(1)
            assert game.outcome() is None
