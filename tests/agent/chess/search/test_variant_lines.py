"""Mates and other wins of variants in the Python search, which replaces an uncompiled kernel."""

import chess
import chess.variant
import pytest

from agent.chess.search.mate_line import find_mate_line, with_mate_line
from agent.chess.search.python_search import PythonSearch
from agent.games.variants import VARIANTS, board_class, is_lost, variant_outcome
from agent.limits import Cp, Info, Limits, Mate

# Positions in which the side to move wins at once.
WINS = [
    ("kingofthehill", "7k/8/8/8/8/4K3/8/8 w - - 0 1"),
    ("3check", "4k3/8/8/8/8/8/8/R3K3 w - - 1+3 0 1"),
    ("atomic", "4k3/3r4/8/8/8/8/8/3RK3 w - - 0 1"),
    ("horde", "4k3/8/8/8/8/8/4r3/4P3 b - - 0 1"),
    ("racingkings", "8/7K/8/8/8/8/k7/8 w - - 0 1"),
    ("crazyhouse", "7k/5K2/6P1/8/8/8/8/8[Q] w - - 0 1"),
]


@pytest.mark.parametrize(("variant", "fen"), WINS)
def test_win_by_rules_of_variant_is_found(variant, fen):
    board = board_class(variant)(fen)
    *_, info = PythonSearch().search(board, Limits(depth=2))
    assert info.score == Mate(1)
    for line in (info.pv, find_mate_line(board, 1)):
        (move,) = line
        after = board.copy()
        after.push(move)
        assert is_lost(after)


def test_antichess_is_won_without_pieces():
    board = chess.variant.AntichessBoard("8/8/1r6/8/8/8/1P6/8 w - - 0 1")
    *_, info = PythonSearch().search(board, Limits(depth=4))
    for move in info.pv:
        board.push(move)
    assert variant_outcome(board) == (1 if board.turn else -1)
    assert isinstance(info.score, Mate)
    assert info.score.moves > 0


@pytest.mark.parametrize("variant", VARIANTS[1:])
def test_python_search_plays_legal_moves(variant):
    board = board_class(variant)()
    for _ in range(12):
        *_, info = PythonSearch().search(board, Limits(nodes=300), 2)
        assert info.pv[0] in board.legal_moves
        board.push(info.pv[0])


def test_line_ends_where_variant_ends_it():
    """In antichess, the capture of the last piece wins for its owner: a loss after one move."""
    board = chess.variant.AntichessBoard("8/8/8/8/8/8/1p6/R7 b - - 0 1")
    info = Info(1, Mate(-1), (chess.Move.from_uci("b2a1q"),))

    def probe(board, plies):
        raise AssertionError("the game is over")

    assert with_mate_line(board, info, probe) == info
    unknown = Info(1, Mate(-3), ())
    assert with_mate_line(board, unknown, lambda board, plies: None) == unknown
    assert with_mate_line(board, Info(1, Cp(3), ()), probe).score == Cp(3)
