from agent.games.dragons import dragon_at, dragons
from agent.games.stones import iter_bits
from tests.agent.games.test_go import at, from_diagram

# Black's two stones on the left can be cut off, but not those on the right.
SHAPES = (
    ". . . . . . X .",
    ". . . . . . O .",
    ". . . . . X . .",
    "X . O . X . O .",
    ". X O . . . . .",
    "O . . . . . . .",
)


def texts(game, dragon):
    return {game.text(vertex) for vertex in iter_bits(dragon)}


def test_diagonal_stones_with_two_ways_to_connect_are_one_dragon():
    game = from_diagram(*SHAPES)
    assert texts(game, dragon_at(game.stones, at(game, "E3"))) == {"E3", "F4"}


def test_chains_that_can_be_cut_are_different_dragons():
    game = from_diagram(". O . . .", "O X . . .", ". . X . .", ". . O . .", ". . . . .")
    game.set_up(1, [at(game, "B3")])
    assert texts(game, dragon_at(game.stones, at(game, "B4"))) == {"B4"}
    assert texts(game, dragon_at(game.stones, at(game, "C3"))) == {"C3"}


def test_a_liberty_that_is_suicide_for_the_opponent_connects():
    game = from_diagram(". X . .", "X . . .", "X . . .", ". . . O")
    assert texts(game, dragon_at(game.stones, at(game, "B4"))) == {"B4", "A3", "A2"}


def test_every_stone_belongs_to_one_dragon():
    game = from_diagram(*SHAPES)
    found = [vertex for dragon in dragons(game.stones) for vertex in iter_bits(dragon)]
    black, white = game.stones.sets[1:]
    assert sorted(found) == sorted(iter_bits(black | white))
