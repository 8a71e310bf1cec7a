import chess
import pytest

from openings import epd_line
from openings.epd_book import read
from openings.polyglot import encode_move

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -"


def moves(tmp_path, text, **options):
    path = tmp_path / "positions.epd"
    path.write_text(text, "utf-8")
    return {entry.raw_move: entry.weight for entry in read([path], **options)}


def raw(*uci):
    board = chess.Board()
    return [encode_move(board, chess.Move.from_uci(move)) for move in uci]


def test_best_moves_are_played_and_moves_to_avoid_are_not(tmp_path):
    e4, d4, f3 = raw("e2e4", "d2d4", "f2f3")
    found = moves(tmp_path, f'# remark\n{START} bm e4 d4; am f3; id "start"; ce 30; acd 20;\n')
    assert found == {e4: 10, d4: 10, f3: 0}


@pytest.mark.parametrize("opcode", ["sm e4", "pm e4", "pv e4 e5 Nf3"])
def test_sm_pm_and_pv_opcodes_give_best_move(tmp_path, opcode):
    assert list(moves(tmp_path, f"{START} {opcode};")) == raw("e2e4")


def test_deepest_analysis_of_position_is_used(tmp_path):
    text = f"{START} acd 12; bm e4;\n{START} acd 20; bm d4;\n{START} acd 18; bm c4;\n"
    assert list(moves(tmp_path, text)) == raw("d2d4")


def test_positions_below_minimum_score_are_skipped(tmp_path):
    assert moves(tmp_path, f"{START} bm e4; ce -80;", min_score=-50) == {}


@pytest.mark.parametrize("number", ["9" * 400, "1e300"])
def test_number_out_of_range_counts_as_missing(tmp_path, number):
    text = f"{START} acd {number}; ce {number}; bm e4;\n{START} acd 2; bm d4;\n"
    assert list(moves(tmp_path, text, min_score=0)) == raw("d2d4")


@pytest.mark.parametrize(
    "line",
    [
        "nonsense",
        f"{START} bm e5;",
        "8/8/8/8/8/8/8/8 w - - bm e4;",
        f"{START} bm e4; am 3;",
        f"{START} bm --;",
    ],
)
def test_invalid_line_is_named_and_skipped(tmp_path, line):
    messages = []
    text = f"{START} bm d4;\n{line}\n{START} bm e4;\n"
    assert list(moves(tmp_path, text, on_invalid=messages.append)) == raw("e2e4")
    (message,) = messages
    assert f"{tmp_path}/positions.epd, line 2: " in message


def test_moves_of_published_suites_are_read(tmp_path):
    assert list(moves(tmp_path, f"{START} 0 1 bm 1. e4! d2d4; id a.1;")) == raw("e2e4", "d2d4")


@pytest.mark.parametrize("rest", ["qkQK - -1 1", "KkQq - -1 0 bm O-O;", "qQkK - bm O-O;"])
def test_castling_rights_in_any_order_and_negative_counters_are_read(rest):
    board, _ = epd_line.parse(f"r3k2r/8/8/8/8/8/8/R3K2R w {rest}")
    assert board.fen() == "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
