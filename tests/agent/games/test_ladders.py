import pytest

from agent.games.ladders import ladders
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
