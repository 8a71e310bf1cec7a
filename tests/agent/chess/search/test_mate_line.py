"""A reported mate has its complete variation, whatever ended the search of it early."""

import chess
import pytest

from agent.chess.search.alphabeta_search import AlphaBetaSearch
from agent.chess.search.mate_line import find_mate_line, with_mate_line
from agent.chess.search.mcts_search import MctsSearch
from agent.chess.search.python_search import PythonSearch
from agent.limits import Cp, Info, Limits, Mate
from tests.support import board_after, mates

TWO_ROOKS = "7k/8/8/8/8/8/R7/1R5K w - - 0 1"
MATED = "8/8/8/8/8/5k2/7q/5K2 w - - 0 1"
ROOK_AND_BISHOP = "r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1"
BACK_RANK = "6k1/5ppp/8/8/8/8/q4PPP/1R4K1 w - - 0 1"


@pytest.mark.parametrize(
    ("fen", "plies"), [(BACK_RANK, 1), (MATED, 2), (TWO_ROOKS, 3), (ROOK_AND_BISHOP, 5)]
)
def test_a_mate_line_of_the_given_length_is_found(fen: str, plies: int) -> None:
    board = chess.Board(fen)
    line = find_mate_line(board, plies)
    assert line is not None
    assert mates(board, Info(1, Mate((plies + 1) // 2 if plies % 2 else -plies // 2), line))
    assert board.fen() == fen


@pytest.mark.parametrize(
    ("fen", "plies"),
    [(TWO_ROOKS, 1), (chess.STARTING_FEN, 2), (chess.STARTING_FEN, 7), (MATED, 0)],
)
def test_without_a_mate_of_that_length_there_is_no_line(fen: str, plies: int) -> None:
    assert find_mate_line(chess.Board(fen), plies) is None


def test_a_missing_end_of_a_mate_is_added() -> None:
    board = board_after("f2f3 e7e5")
    first, *end = map(chess.Move.from_uci, ("g2g4", "d8h4"))
    info = Info(3, Mate(-1), (first,))
    complete = with_mate_line(board, info, lambda _board, _plies: tuple(end))
    assert complete == Info(3, Mate(-1), (first, *end))
    assert with_mate_line(board, info, find_mate_line) == complete
    assert with_mate_line(board, info, lambda _board, _plies: None) is None


def test_other_lines_are_not_changed() -> None:
    info = Info(3, Cp(12), (chess.Move.from_uci("e2e4"),))
    assert with_mate_line(chess.Board(), info, find_mate_line) is info


@pytest.mark.parametrize("search_class", [AlphaBetaSearch, MctsSearch])
@pytest.mark.parametrize(
    ("fen", "move", "moves"), [(TWO_ROOKS, "b1b7", 2), (MATED, "f1e1", -1), (TWO_ROOKS, "a2b2", 9)]
)
def test_a_lost_mate_is_searched_again(search_class, fen, move, moves) -> None:
    """A stopped search, or a tree whose nodes were removed, knows only the first move."""
    search, board = search_class(), chess.Board(fen)
    list(search.search(board, Limits(depth=1)))
    info = Info(9, Mate(moves), (chess.Move.from_uci(move),), bound="lowerbound")
    complete = search._with_mate_line(board, info)
    assert mates(board, complete)
    assert complete.bound == "lowerbound"
    assert complete.pv[0] == info.pv[0]
    assert 0 < complete.score.moves * moves <= moves * moves


@pytest.mark.parametrize("moves", [3, -3])
def test_a_mate_that_is_not_found_again_is_an_evaluation(moves: int) -> None:
    search, move = AlphaBetaSearch(), chess.Move.from_uci("e2e4")
    list(search.search(chess.Board(), Limits(depth=1)))
    info = search._with_mate_line(chess.Board(), Info(3, Mate(moves), (move,)))
    assert info == Info(3, Cp(29_000 if moves > 0 else -29_000), (move,))


@pytest.mark.parametrize("search_class", [AlphaBetaSearch, MctsSearch, PythonSearch])
@pytest.mark.parametrize("lines", [1, 3])
def test_every_mate_has_its_complete_variation(search_class, lines) -> None:
    """Also if the table still knows the position from an earlier search."""
    search = search_class()
    limits = Limits(depth=4) if search_class is PythonSearch else Limits(nodes=2000)
    for fen in (BACK_RANK, MATED, TWO_ROOKS, ROOK_AND_BISHOP):
        board = chess.Board(fen)
        for _ in range(2):
            search.clear_stop()
            infos = list(search.search(board, limits, lines))
            assert any(mates(board, info) for info in infos), fen
