import pytest

from agent.games.ladders import ladders, read_attack, read_defence
from tests.agent.games.test_go import at, from_diagram


def prospects(game):
    return {game.text(stone): its for chain, its in ladders(game.stones).items() for stone in chain}


LADDER = (
    ". . . . . . . . .",
    ". . . . . . . . .",
    ". . . . . . . . .",
    ". . . X . . . . .",
    ". . X O . . . . .",
    ". . X . . . . . .",
    ". . . . . . . . .",
    ". . . . . . . . .",
    ". . . . . . . . .",
)


def test_stone_in_a_working_ladder_is_threatened():
    assert prospects(from_diagram(*LADDER)) == {"D5": "threatened"}


@pytest.mark.parametrize("breaker", ["F3", "G2"])
def test_ladder_breaker_frees_the_stone(breaker):
    game = from_diagram(*LADDER)
    game.set_up(1, [at(game, breaker)])
    assert prospects(game)["D5"] == "free"


@pytest.mark.parametrize(("helper", "prospect"), [("O", "threatened"), (".", "lost")])
def test_capturing_an_attacker_saves_the_chain(helper, prospect):
    """White captures C3 by playing C4 if C3 is in atari. Running to E3 does not help."""
    game = from_diagram(
        ". . . . . .",
        ". . . . . .",
        ". . . X X .",
        f". {helper} X O . X",
        ". . O X X .",
        ". . . . . .",
    )
    assert prospects(game)["D3"] == prospect


def test_a_chain_in_atari_that_cannot_run_is_lost():
    game = from_diagram("O X . . .", ". . . . .", ". . . . .", ". . . . .", "X . . . O")
    assert prospects(game)["A5"] == "lost"


def test_chains_with_many_liberties_are_omitted():
    game = from_diagram(". . . . .", ". . . . .", ". . X . .", ". . . . .", ". . . . .")
    assert ladders(game.stones) == {}


def test_ladder_reading_does_not_change_the_position():
    game = from_diagram(*LADDER)
    before = str(game)
    ladders(game.stones)
    assert str(game) == before


def reading(read, game, point):
    code, move = read(game.stones, at(game, point))
    return f"{code} {game.text(move)}" if code else "0"


NET = (
    ". . . . . . O X X",
    ". . . . . O O X X",
    ". X . . . . X X X",
    ". . . . . . . O O",
    ". . . . . . . . .",
    ". . . . . . . . .",
    ". . X . . . . . .",
    ". . . . . . O . .",
    ". . . . . . . . .",
)
# White's two stones in the corner are saved by taking the ko on D1.
KO = (
    ". . . . . .",
    ". . O . . .",
    "X . O . . .",
    ". X O X . .",
    "O O X . X .",
)


def test_reading_finds_ladders_nets_and_captures():
    ladder = from_diagram(*LADDER)
    assert reading(read_attack, ladder, "D5") == "1 E5"
    assert reading(read_defence, ladder, "D5").startswith("1 ")
    net = from_diagram(*NET)
    assert prospects(net)["G7"] == "free"
    assert reading(read_attack, net, "G7") in ("1 E7", "1 F6", "1 G5")
    caught = from_diagram("O X . . .", ". . . . .", ". . . . .", ". . . . .", "X . . . O")
    assert reading(read_attack, caught, "A5") == "1 A4"
    assert reading(read_defence, caught, "A5") == "0"


def test_reading_of_safe_chains_needs_no_move():
    game = from_diagram(*NET)
    assert reading(read_attack, game, "B7") == "0"
    assert reading(read_defence, game, "B7") == "1 pass"
    free = from_diagram(". . . . .", ". . . . .", ". . X . .", ". . . . .", ". . . . .")
    assert reading(read_attack, free, "C3") == "0"


def test_reading_tells_who_must_take_a_ko():
    game = from_diagram(*KO)
    assert reading(read_attack, game, "A1") == "1 A2"
    assert reading(read_defence, game, "A1") == "2 D1"
    game.play_as(1, at(game, "D1"))
    assert reading(read_attack, game, "A1") == "3 C1"
    assert reading(read_defence, game, "A1").startswith("1 ")
    game.play_as(0, at(game, "C1"))
    assert reading(read_defence, game, "A1") == "3 D1"


def test_reading_does_not_change_the_position():
    game = from_diagram(*NET)
    before = str(game)
    read_attack(game.stones, at(game, "G7"))
    read_defence(game.stones, at(game, "G7"))
    assert str(game) == before
