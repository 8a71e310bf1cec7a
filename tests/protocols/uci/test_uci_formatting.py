import chess
import pytest

from agent.limits import Cp, Info, Mate, Progress, Result
from protocols.uci.formatting import bestmove_line, info_line, info_string, progress_line, wdl

MOVES = tuple(map(chess.Move.from_uci, ("e2e4", "e7e5")))


def test_info_line_shows_all_fields():
    info = Info(7, Cp(-13), MOVES, 11, 1, "", 30_000, 0.5, 12, 3)
    assert info_line(info) == (
        "info depth 7 seldepth 11 multipv 1 score cp -13 nodes 30000 nps 60000 "
        "hashfull 12 tbhits 3 time 500 pv e2e4 e7e5"
    )


def test_bound_and_wdl_follow_score():
    info = Info(7, Mate(3), MOVES, bound="lowerbound")
    assert " score mate 3 lowerbound wdl 1000 0 0 nodes 0 nps 0 " in info_line(info, show_wdl=True)


def test_progress_line_shows_nodes_time_and_current_move():
    progress = Progress(
        nodes=2000, hashfull=5, seldepth=9, current_move=MOVES[0], current_move_number=4
    )
    assert progress_line(progress, 4.0) == (
        "info nodes 2000 nps 500 hashfull 5 time 4000 currmove e2e4 currmovenumber 4"
    )
    assert progress_line(Progress(), 4.0) == "info nodes 0 nps 0 hashfull 0 time 4000"


def test_bestmove_line_shows_move_and_ponder_move():
    assert bestmove_line(Result(*MOVES)) == "bestmove e2e4 ponder e7e5"
    assert bestmove_line(Result(MOVES[0])) == "bestmove e2e4"
    assert bestmove_line(Result(None)) == "bestmove (none)"


def test_messages_stay_on_one_line():
    assert info_string("red \x1b[31m and \x9b1m") == r"info string red \x1b[31m and \x9b1m"
    assert info_string("two\nlines\u2028and\tmore") == "info string two lines and more"


@pytest.mark.parametrize("score", [Mate(1), Mate(0), Mate(-4), *map(Cp, range(-3000, 3001, 37))])
def test_wdl_sums_to_1000_and_is_symmetric(score):
    win, draw, loss = wdl(score)
    assert win + draw + loss == 1000
    assert min(win, draw, loss) >= 0
    if isinstance(score, Cp):
        assert wdl(Cp(-score.value)) == (loss, draw, win)


def test_win_probability_increases_with_score():
    wins = [wdl(Cp(score))[0] for score in range(-1000, 1001, 50)]
    assert wins == sorted(wins)
    assert wdl(Mate(0)) == wdl(Mate(-1)) == (0, 0, 1000)
