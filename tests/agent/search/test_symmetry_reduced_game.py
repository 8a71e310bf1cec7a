import pytest

from agent.games import catalogue
from agent.games.perft import count_positions
from agent.search.catalogue import algorithm, algorithms
from agent.search.symmetry_reduced_game import SymmetryReducedGame

EXACT = [name for name, search in algorithms().items() if search.exact]


def test_folded_tic_tac_toe_has_3_openings_and_765_positions():
    game = SymmetryReducedGame(catalogue.new_game("tic-tac-toe"))
    assert [game.game.text(move) for move in game.moves()] == ["a3", "b3", "b2"]
    assert sum(count_positions(game, 9)) == 765


@pytest.mark.thorough(keep=14)
@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("game_name", ["tic-tac-toe", "connect-four", "nim"])
def test_folding_keeps_the_value_and_saves_nodes(name, game_name):
    evaluate = catalogue.evaluation(game_name)
    options = {"heaps": (2, 2, 2)} if game_name == "nim" else {}
    game = catalogue.new_game(game_name, **options)
    whole, folded = algorithm(name)(evaluate), algorithm(name)(lambda game: evaluate(game.game))
    value = whole.search(game, 4).value
    assert folded.search(SymmetryReducedGame(game), 4).value == value
    assert folded.counts.nodes < whole.counts.nodes
