"""UCI with the real engine and both of its searches."""

import time

import chess
import pytest

from agent.chess.engine.backend import ChessBackend
from agent.chess.engine.settings import SEARCHES
from agent.chess.evaluation.nnue_reference import evaluate
from agent.chess.search import alphabeta_search
from tests.random_network import random_network

MATE_IN_TWO = "7k/8/8/8/8/8/R7/1R5K w - - 0 1"
TWENTY_FOUR = "1nkn4/1ppp4/8/8/8/QQQQQQQQ/QQQQQQQQ/QQQQKQQQ w - - 0 1"
TWENTY_ONE = "4k3/8/8/8/QRBNQRBN/QRBNQRBN/PPPP4/4K3 b - - 0 1"
FAILS_HIGH_AND_LOW = "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8"
CHECKMATE = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3"
# Seconds; far more than any of these searches takes.
SOON = 30.0


@pytest.fixture(params=SEARCHES)
def talk(request, make_conversation):
    conversation = make_conversation(ChessBackend)
    conversation.say("setoption name OwnBook value false", "setoption name Hash value 4")
    conversation.say(f"setoption name Search value {request.param}", "isready")
    conversation.hear_until("readyok")
    return conversation


def field(line, name):
    words = line.split()
    return words[words.index(name) + 1]


def check_answer(heard, board):
    """The last info, with a score and a legal variation, comes directly before its bestmove."""
    *infos, last, answer = heard
    assert answer.startswith("bestmove ")
    assert sum(line.startswith("bestmove") for line in heard) == 1
    move = answer.split()[1]
    assert " score " in last
    assert not last.endswith("bound")
    for line in [*infos, last]:
        if " pv " in line:
            replay = board.copy()
            for text in line.split(" pv ")[1].split():
                replay.push(replay.parse_uci(text))
    assert last.split(" pv ")[1].split()[0] == move
    if " ponder " in answer:
        assert last.split(" pv ")[1].split()[1] == answer.split()[3]
    return move


@pytest.mark.thorough(keep=4)
@pytest.mark.parametrize(
    "limits",
    [
        "depth 5",
        "nodes 1",
        "nodes 5000",
        "movetime 50",
        "wtime 500 btime 500",
        "wtime 1 btime 1",
        "wtime 500 btime 500 winc 10 binc 10 movestogo 2",
        "nodes 300 searchmoves a2a3 h2h3",
    ],
)
def test_search_gives_one_bestmove_within_limits(talk, limits):
    board = chess.Board()
    board.push_uci("e2e4")
    board.push_uci("c7c5")
    began = time.monotonic()
    heard = talk.ask("position startpos moves e2e4 c7c5", f"go {limits}")
    assert time.monotonic() - began < SOON
    move = check_answer(heard, board)
    if "searchmoves" in limits:
        assert move in ("a2a3", "h2h3")
    if "nodes" in limits:
        # The first iteration is always completed.
        assert int(field(heard[-2], "nodes")) <= max(int(limits.split()[1]), 100)
    if "depth" in limits:
        assert field(heard[-2], "depth") == "5"


def test_go_mate_reports_mate_score(talk):
    heard = talk.ask(f"position fen {MATE_IN_TWO}", "go mate 2")
    check_answer(heard, chess.Board(MATE_IN_TWO))
    assert " score mate 2 " in heard[-2]


@pytest.mark.parametrize("fen", [TWENTY_FOUR, TWENTY_ONE])
def test_more_than_sixteen_pieces_of_a_side_are_searched(talk, fen):
    heard = talk.ask(f"position fen {fen}", "go nodes 3000")
    check_answer(heard, chess.Board(fen))


@pytest.mark.parametrize("moves", ["", " moves b1b7"])
def test_go_mate_ends_when_either_side_is_mated(talk, moves):
    """After b1b7 Black is mated in one, and has no mate in two."""
    board = chess.Board(MATE_IN_TWO)
    for text in moves.split()[1:]:
        board.push_uci(text)
    heard = talk.ask(f"position fen {MATE_IN_TWO}{moves}", "go mate 2")
    check_answer(heard, board)
    assert f" score mate {-1 if moves else 2} " in heard[-2]


def test_bounds_of_a_long_iteration_are_printed(make_conversation, monkeypatch):
    talk = make_conversation(ChessBackend)
    talk.say("setoption name OwnBook value false", f"position fen {FAILS_HIGH_AND_LOW}")
    without = talk.ask("go depth 11")
    assert not any("bound " in line for line in without)
    monkeypatch.setattr(alphabeta_search, "_BOUNDS_AFTER_S", 0.0)
    heard = talk.ask("ucinewgame", "go depth 11")
    bounds = [line for line in heard if "bound " in line]
    assert {line.split(" score ")[1].split()[2] for line in bounds} == {"lowerbound", "upperbound"}
    check_answer(heard, chess.Board(FAILS_HIGH_AND_LOW))
    # The tree is the same.
    assert field(heard[-2], "nodes") == field(without[-2], "nodes")


def test_multipv_lines_start_with_different_moves(talk):
    heard = talk.ask("setoption name MultiPV value 3", "position startpos", "go depth 6")
    check_answer(heard, chess.Board())
    lines = {field(line, "multipv"): line for line in heard[:-1] if " multipv " in line}
    assert set(lines) == {"1", "2", "3"}
    assert len({line.split(" pv ")[1].split()[0] for line in lines.values()}) == 3


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("fen", [chess.STARTING_FEN, CHECKMATE, MATE_IN_TWO])
def test_infinite_and_ponder_wait_for_stop_or_ponderhit(talk, fen):
    for go, end in (
        ("go infinite", "stop"),
        ("go ponder wtime 200 btime 200", "ponderhit"),
        ("go ponder wtime 200 btime 200", "stop"),
        ("go infinite depth 1", "stop"),
    ):
        talk.say("stop", "ponderhit", f"position fen {fen}", go, "isready")
        heard = talk.hear_until("readyok")
        time.sleep(0.1)
        while not talk.heard.empty():
            heard.append(talk.heard.get())
        assert not any(line.startswith("bestmove") for line in heard)
        talk.say(end)
        heard += talk.rest()
        assert sum(line.startswith("bestmove") for line in heard) == 1
        assert heard[-1].startswith("bestmove")
        assert (heard[-1] == "bestmove (none)") == (fen == CHECKMATE)


def test_a_go_during_a_search_stops_it(talk):
    talk.say("position startpos", "go infinite", "go nodes 100")
    heard = talk.rest()
    assert sum(line.startswith("bestmove") for line in heard) == 2


def test_engine_plays_won_ending_to_checkmate(talk):
    board = chess.Board("8/8/8/8/8/2k5/1q6/K7 b - - 0 1".replace("1q6", "2q5"))
    for _ in range(60):
        if board.is_game_over(claim_draw=True):
            break
        moves = " ".join(move.uci() for move in board.move_stack)
        heard = talk.ask(f"position fen {board.root().fen()} moves {moves}", "go nodes 3000")
        board.push_uci(check_answer(heard, board))
    assert board.is_checkmate()


def test_search_option_can_change_between_moves(make_conversation):
    talk = make_conversation(ChessBackend)
    talk.say("setoption name OwnBook value false")
    for search in (*SEARCHES, *SEARCHES):
        heard = talk.ask(f"setoption name Search value {search}", "go nodes 2000")
        check_answer(heard, chess.Board())
    assert talk.ask("setoption name Search value minimax") == [
        "info string Search: invalid value 'minimax' (expected one of: alphabeta, mcts)"
    ]


def test_custom_evaluation_is_used_and_errors_are_reported(talk, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(
        "def corner(board):\n"
        "    return (1 if board.turn else -1) * (500 if board.piece_at(16) else 0)\n"
        "def broken(board):\n"
        "    return 1 // 0\n"
    )
    talk.say(f"setoption name Evaluation value {path}:corner")
    heard = talk.ask("position startpos", "go nodes 300")
    assert check_answer(heard, chess.Board()) in ("a2a3", "b1a3")
    heard = talk.ask(f"setoption name Evaluation value {path}:broken", "go nodes 300")
    assert any("broken" in line and "ZeroDivisionError" in line for line in heard)
    assert heard[-1].startswith("bestmove ")
    heard = talk.ask("setoption name Evaluation value handcrafted", "go nodes 300")
    check_answer(heard, chess.Board())


BATCHED = """
import time
import numpy as np
from agent.evaluation import batched

@batched(size=16)
def corner(batch):
    return 500 * (batch.pieces[:, 0] >> np.uint64(16) & np.uint64(1)).astype(int) - 500 * (
        batch.pieces[:, 6] >> np.uint64(40) & np.uint64(1)
    ).astype(int)

@batched(size=16)
def column(batch):
    return np.zeros((len(batch), 1))

@batched(size=16)
def sleeps(batch):
    time.sleep(100 if len(batch) > 1 else 0)
    return np.zeros(len(batch))
"""


def test_batched_evaluation_is_used_and_errors_are_reported(make_conversation, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(BATCHED)
    talk = make_conversation(ChessBackend)
    talk.say("setoption name OwnBook value false")
    talk.say(f"setoption name Evaluation value {path}:corner")
    heard = talk.ask("position startpos", "go depth 2")
    assert any("set Search to mcts" in line for line in heard)
    assert check_answer(heard, chess.Board()) in ("a2a3", "b1a3")
    heard = talk.ask("go depth 2")
    assert not any("set Search to mcts" in line for line in heard), "it is said once"
    heard = talk.ask("setoption name Search value mcts", "go nodes 500")
    assert check_answer(heard, chess.Board()) == "a2a3"
    heard = talk.ask("eval")
    assert heard[-1] == "info string evaluation +0.00 (white's view)"
    heard = talk.ask(f"setoption name Evaluation value {path}:column", "go nodes 300")
    assert any("mine.py:column: values have shape (1, 1)" in line for line in heard)
    assert heard[-1].startswith("bestmove ")
    heard = talk.ask(f"setoption name Evaluation value {path}:sleeps", "go movetime 300")
    assert any("sleeps did not return in time" in line for line in heard)
    assert heard[-1].startswith("bestmove ")
    heard = talk.ask("setoption name Evaluation value handcrafted", "go nodes 300")
    check_answer(heard, chess.Board())


def test_network_file_is_used_shown_and_rejected_if_damaged(talk, tmp_path):
    network, file = random_network(32), tmp_path / "mine.nnue"
    network.write(file)
    talk.say(f"setoption name Evaluation value nnue:{file}")
    heard = talk.ask("position startpos moves e2e4", "go nodes 300")
    board = chess.Board()
    board.push_uci("e2e4")
    check_answer(heard, board)
    score = -evaluate(network, board) / 100
    heard = talk.ask("eval")
    assert heard[-1] == f"info string evaluation {score:+.2f} (white's view)"
    assert any(network.shape in line for line in heard)
    assert heard[-2].startswith("info string wdl ")
    assert not any("known of this ending" in line for line in heard)
    heard = talk.ask("position fen 7k/8/6K1/8/8/8/5Q2/8 w - - 0 1", "eval")
    assert "info string endgame knowledge changes the network's score" in heard
    for fen, end in (("7k/5Q2/6K1", "stalemate"), ("7k/6Q1/6K1", "checkmate")):
        heard = talk.ask(f"position fen {fen}/8/8/8/8/8 b - - 0 1", "eval")
        assert heard[-1] == f"info string evaluation none ({end})"
        assert not any(" wdl " in line for line in heard)
    file.write_bytes(file.read_bytes()[:-1])
    (refused,) = talk.ask(f"setoption name Evaluation value nnue:{file}")
    assert "mine.nnue: truncated or damaged" in refused
    assert talk.ask("eval")[-1] == heard[-1], "what was there goes on"


def test_limited_strength_limits_nodes(talk):
    talk.say("setoption name UCI_LimitStrength value true", "setoption name UCI_Elo value 1400")
    for limits in ("go movetime 5000", "go wtime 60000 btime 60000", "go depth 30"):
        heard = talk.ask("ucinewgame", "position startpos moves e2e4", limits)
        board = chess.Board()
        board.push_uci("e2e4")
        check_answer(heard, board)
        assert int(field(heard[-2], "nodes")) < 2000
    heard = talk.ask("setoption name UCI_LimitStrength value false", "go nodes 5000")
    assert int(field(heard[-2], "nodes")) > 2000
