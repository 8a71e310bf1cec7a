"""Conversion of the scores of compiled searches."""

import pytest

from agent.kernel.scores import MATE, score_of
from agent.limits import Cp, Mate


@pytest.mark.parametrize(("plies", "moves"), [(0, 0), (1, 1), (2, 1), (3, 2), (4, 2)])
def test_distance_counts_moves_of_the_side_to_move(plies: int, moves: int) -> None:
    assert score_of(MATE - plies) == Mate(moves)
    assert score_of(plies - MATE) == Mate(-moves)


def test_other_scores_are_centipawns() -> None:
    assert score_of(-35) == Cp(-35)
