from random import Random

import pytest

from agent.games import catalogue
from agent.games.connect_four import PATTERNS as FOUR
from agent.games.tic_tac_toe import PATTERNS as THREE
from agent.search.algorithms.alpha_beta import AlphaBeta, AlphaBetaOptions
from agent.search.move_ordering import Ordering
from agent.search.patterns import Patterns
from tests.support import played


def suggested(game, patterns, **options):
    return [game.text(move) for move in Patterns(patterns, **options).moves(game)]


@pytest.mark.parametrize(
    ("moves", "best"),
    [
        (("a3", "b2", "b3", "a1"), "c3"),  # wins
        (("a3", "b2", "b3"), "c3"),  # blocks
        (("b2", "b3", "a3", "a1"), "c1"),  # wins along the diagonal
        (("a3", "b3", "c1"), "b2"),  # between two on the diagonal
        (("a3",), "b2"),
        ((), "b2"),
        (("b2",), "a3"),
    ],
)
def test_patterns_suggest_the_best_tic_tac_toe_move(moves, best):
    assert suggested(played("tic-tac-toe", *moves), THREE)[0] == best


def test_pattern_player_rarely_loses_tic_tac_toe_to_random_moves():
    random = Random(3)
    lost = 0
    for round_ in range(100):
        game = catalogue.new_game("tic-tac-toe")
        while game.outcome() is None:
            if game.turn == round_ % 2:
                game.play((Patterns(THREE).moves(game) or game.moves())[0])
            else:
                game.play(random.choice(game.moves()))
        lost += game.outcome() == (1 if round_ % 2 else -1)
    assert lost <= 10, lost


@pytest.mark.parametrize(
    ("moves", "best"),
    [
        ("414141", "4"),  # four in a column
        ("414242", "4"),
        ("11", None),  # nothing urgent
        ("334", "5"),  # two that are open on both sides
    ],
)
def test_patterns_suggest_urgent_connect_four_moves(moves, best):
    found = suggested(played("connect-four", *moves), FOUR, turned=False)
    assert (found[0] if found else None) == best


def test_connect_four_patterns_suggest_only_legal_moves():
    game = played("connect-four", *"1223343")
    assert all(move in game.moves() for move in Patterns(FOUR, turned=False).moves(game))


def test_patterns_are_not_rotated_when_turned_is_false():
    game = played("tic-tac-toe", "a3", "b2", "a2", "c3")
    assert suggested(game, ["m m *"]) == ["a1"]
    assert suggested(game, ["m m *"], turned=False) == []


@pytest.mark.thorough
def test_pattern_ordering_saves_nodes():
    nodes = []
    for patterns in (None, Patterns(FOUR, turned=False)):
        search = AlphaBeta(
            catalogue.evaluation("connect-four"),
            AlphaBetaOptions(ordering=Ordering(patterns=patterns)),
        )
        game = played("connect-four", *"4444")
        value = search.search(game, 5).value
        nodes.append((search.counts.nodes, value))
    assert nodes[1][0] < nodes[0][0]
    assert nodes[1][1] == nodes[0][1]


@pytest.mark.parametrize("pattern", ["", "mm", "m*\nm", "m**", "mx*"])
def test_rejects_invalid_patterns(pattern):
    with pytest.raises(ValueError, match="invalid pattern"):
        Patterns([pattern])
