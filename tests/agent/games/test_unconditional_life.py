import pytest

from agent.games.stones import BLACK, WHITE, iter_bits
from agent.games.unconditional_life import unconditional_life
from tests.agent.games.test_go import from_diagram


def found(game, colour):
    """Return the living stones and the territory of a colour as text."""
    return tuple(
        " ".join(sorted(game.text(vertex) for vertex in iter_bits(vertices)))
        for vertices in unconditional_life(game.stones, colour)
    )


def test_two_eyes_live_and_enclose_territory():
    game = from_diagram(". . . . .", ". . . . .", "X X X X X", ". X . X .", "X X X X X")
    stones = "A1 A3 B1 B2 B3 C1 C3 D1 D2 D3 E1 E3"
    assert found(game, BLACK) == (stones, "A2 C2 E2")
    assert found(game, WHITE) == ("", "")


@pytest.mark.parametrize("sign", [".", "O"])
def test_stones_without_room_in_territory_are_dead(sign):
    game = from_diagram(
        *(". . . . . .", ". . . . . .", "X X X X X X", f". X {sign} . . X", "X X X X X X")
    )
    assert found(game, BLACK)[1] == "A2 C2 D2 E2"


def test_a_region_with_room_for_two_eyes_is_no_territory():
    game = from_diagram(
        ". X . X . . . . .",
        "X X X X . . . . .",
        ". . . X . . . . .",
        ". . . X X X X X X",
        ". . . . . . . . .",
    )
    stones, territory = found(game, BLACK)
    assert len(stones.split()) == 13
    assert territory == "A5 C5"


@pytest.mark.parametrize(
    "rows",
    [
        (". X O .", "X X O .", "O O O ."),  # one eye
        (". X . . O", "X . X X O", "O X O O O", "O O O . .", ". . . . ."),  # a false eye
        (". . .", ". . .", ". . ."),
    ],
)
def test_one_eye_or_a_false_eye_does_not_live(rows):
    assert found(from_diagram(*rows), BLACK) == ("", "")
