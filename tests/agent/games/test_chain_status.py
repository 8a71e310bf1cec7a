from agent.games.chain_status import chain_statuses, dead_stones, stones_with_status
from agent.games.go_rules import RULESETS
from agent.games.stones import iter_bits
from tests.agent.games.test_go import from_diagram


def texts(game, vertices):
    return {game.text(vertex) for vertex in iter_bits(vertices)}


def test_lone_stone_in_living_territory_is_dead():
    game = from_diagram(". X . X O", "X X X X .", ". . X . .", "X X X X .", ". X . X .")
    assert texts(game, dead_stones(game)) == {"E5"}
    assert game.score(dead_stones(game)) == 25


def test_chain_with_two_eyes_is_alive():
    game = from_diagram(
        ". X . X O O", "X X X X O .", "O O O O O O", ". . . . . .", ". . . O . X", ". . . . . ."
    )
    found = chain_statuses(game)
    by_text = {game.text(stone): status for chain, status in found.items() for stone in chain}
    assert by_text["B6"] == "alive"
    assert by_text["F2"] == "dead"


# White's corner of 18 points and Black's of 24. The tests add rows below them.
CORNERS = [*[". . . O X . . . ."] * 6, "O O O O X X X X X"]


def test_one_eyed_chains_sharing_a_liberty_are_in_seki():
    game = from_diagram(*CORNERS, "X X X X O O O O X", ". X X . O O . O X")
    found = chain_statuses(game)
    seki = stones_with_status("seki", found)
    assert texts(game, seki) == {
        *("A2", "B1", "B2", "C1", "C2", "D2"),
        *("E1", "E2", "F1", "F2", "G2", "H1", "H2"),
    }
    game.rules = RULESETS["japanese"]
    assert game.score(dead_stones(game), seki) == 24 - 18


def test_connectable_chain_is_not_in_seki():
    """D2 connects White's chain with its living corner. Black's chain lacks an eye."""
    game = from_diagram(*CORNERS, "X X X . O O O O X", ". X X . O O . O X")
    assert stones_with_status("seki", chain_statuses(game)) == 0
