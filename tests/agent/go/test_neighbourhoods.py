"""Neighbourhood codes: eyes as on the Python board, and patterns independent of colour."""

from random import Random

import pytest

from agent.go.kernel_board import KernelBoard
from tests.agent.go.positions import (
    EYE,
    PATTERN,
    empties,
    from_diagram,
    random_game,
    survey,
    symmetry,
    turned,
)


@pytest.mark.thorough(keep=3)
@pytest.mark.parametrize("size", [2, 3, 5, 9, 19, "2x3", "4x9", "9x4"])
def test_eyes_equal_those_of_the_plain_board(size: int | str) -> None:
    random, board = Random(size), KernelBoard()
    eyes = 0
    for _ in range(5 if size == 19 else 40):
        game = random_game(size, random)
        board.load(game)
        for colour in (1, 2):
            found = survey(board, colour)
            for vertex in empties(game.stones):
                eye = game.stones.is_own_eye(vertex, colour)
                assert found[vertex, EYE] == eye
                eyes += eye
    assert eyes > 20


@pytest.mark.parametrize("size", [5, 9, 19, "4x6", "9x5"])
def test_patterns_are_invariant_under_symmetry_and_colour(size: int | str) -> None:
    random, board = Random(size), KernelBoard()
    patterns = 0
    for _ in range(2 if size == 19 else 10):
        game = random_game(size, random)
        board.load(game)
        original = {v for v in empties(game.stones) if survey(board, 1)[v, PATTERN]}
        for number in range(8):
            for swap in (False, True):
                other = turned(game, number, swap)
                board.load(other)
                found = survey(board, 1)
                transformed = {v for v in empties(other.stones) if found[v, PATTERN]}
                assert transformed == {symmetry(size, number)[v] for v in original}
        patterns += len(original)
    assert patterns


@pytest.mark.parametrize(
    ("rows", "pattern"),
    [
        (("XOX", "...", "..."), True),  # hane that encloses
        (("XO.", "...", "..."), True),
        (("XO.", "X..", "..."), True),
        (("XO.", "O..", "..."), True),  # a cut
        ((".X.", "O.O", "..."), True),  # a cut between two
        (("...", "...", "..."), False),
        ((".X.", "X.X", ".X."), False),
        (("X..", "...", "..."), False),
    ],
)
def test_recognizes_known_3x3_patterns(rows: tuple[str, str, str], pattern: bool) -> None:
    """The pattern is placed in the middle of an empty board."""
    empty = "." * 9
    middle = [f"...{row}..." for row in rows]
    game = from_diagram(*[empty] * 3, *middle, *[empty] * 3)
    board = KernelBoard()
    board.load(game)
    assert survey(board, 1)[game.stones.shape.vertex(4, 4), PATTERN] == pattern
