from agent.games.life import dead_stones, statuses
from agent.games.stones import members
from tests.agent.games.test_go import from_diagram


def texts(game, vertices):
    return {game.text(vertex) for vertex in members(vertices)}


def test_a_stone_in_a_living_area_is_dead():
    game = from_diagram(". X . X O", "X X X X .", ". . X . .", "X X X X .", ". X . X .")
    assert texts(game, dead_stones(game)) == {"E5"}
    assert game.score(dead_stones(game)) == 25


def test_chains_with_two_eyes_live():
    game = from_diagram(
        ". X . X O O", "X X X X O .", "O O O O O O", ". . . . . .", ". . . O . X", ". . . . . ."
    )
    found = statuses(game)
    by_text = {game.text(stone): status for chain, status in found.items() for stone in chain}
    assert by_text["B6"] == "alive"
    assert by_text["F2"] == "dead"
