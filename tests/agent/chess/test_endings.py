"""What the evaluation knows of endings."""

import chess
import pytest

from agent.chess.search import KernelSearch


@pytest.fixture(scope="module")
def search() -> KernelSearch:
    return KernelSearch(megabytes=1)


def worth(search: KernelSearch, fen: str) -> int:
    return abs(search.evaluate(chess.Board(fen)))


@pytest.mark.parametrize(
    ("fen", "most"),
    [
        pytest.param("8/5N2/6K1/1B6/6n1/1k6/8/8 b - - 0 1", 30, id="bishop and knight, a knight"),
        pytest.param("8/8/8/2B2k2/8/K7/3r4/2R5 b - - 0 1", 100, id="rook and bishop, a rook"),
        pytest.param("8/8/2K5/5k2/7R/8/2b5/8 w - - 0 1", 30, id="a rook, a bishop"),
        pytest.param(
            "8/8/8/8/8/p5k1/4b3/K7 w - - 0 1", 30, id="rook pawn, bishop of the wrong colour"
        ),
        pytest.param("k7/8/P7/P7/8/8/6K1/8 w - - 0 1", 0, id="rook pawns, the king before them"),
        pytest.param("8/2k5/4b3/8/3PP3/8/2K5/6B1 w - - 0 1", 150, id="bishops of opposite colours"),
    ],
)
def test_what_does_not_win_is_worth_little(search: KernelSearch, fen: str, most: int) -> None:
    assert worth(search, fen) <= most


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        pytest.param(
            "8/8/8/8/8/p5k1/3b4/K7 w - - 0 1", "8/8/8/8/8/p5k1/4b3/K7 w - - 0 1", id="right colour"
        ),
        pytest.param(
            "8/2k5/3b4/8/3PP3/8/2K5/6B1 w - - 0 1",
            "8/2k5/4b3/8/3PP3/8/2K5/6B1 w - - 0 1",
            id="bishops of one colour",
        ),
        pytest.param("8/8/8/8/8/2KQ4/8/k7 w - - 0 1", "8/8/3k4/8/8/2KQ4/8/8 w - - 0 1", id="edge"),
        pytest.param(
            "8/8/8/8/3BN3/2K5/8/k7 w - - 0 1", "k7/8/2K5/8/3BN3/8/8/8 w - - 0 1", id="corner"
        ),
    ],
)
def test_better_and_worse(search: KernelSearch, better: str, worse: str) -> None:
    assert worth(search, better) > worth(search, worse)
