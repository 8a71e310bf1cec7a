"""What the transcripts cannot say: options that change the engine, failures, long inputs."""

import time

import chess
import pytest

from agent.chess.engine import Engine
from protocols.uci import play
from protocols.uci.protocol import COMMANDS, OPTIONS
from tests.systems import posix_only
from tests.waiting import PATIENCE


def test_every_option_is_declared_with_a_default_that_it_accepts(conversation):
    declared = [line for line in conversation.ask("uci") if line.startswith("option")]
    assert [line.split(" type ")[0] for line in declared] == [
        f"option name {option.name}" for option in OPTIONS
    ]
    for option in OPTIONS:
        if option.kind == "spin":
            assert option.least <= option.default <= option.most
        value = str(option.default if option.default is not None else "<empty>").lower()
        value = "" if option.kind == "button" else f" value {value}"
        assert conversation.ask(f"setoption name {option.name.upper()}{value}") == []


def test_engine_options_reach_the_engine_in_order(conversation):
    conversation.ask(
        "setoption name Hash value 64",
        "setoption name Threads value 2",
        "setoption name clear hash",
        "setoption name Evaluation value my_eval:evaluate",
        "setoption name Evaluation value <empty>",
        "ucinewgame",
    )
    assert conversation.uci.engine.changes == [
        ("Hash", 64),
        ("Threads", 2),
        ("Clear Hash", None),
        ("Evaluation", "my_eval:evaluate"),
        ("Evaluation", "nnue"),
        ("ucinewgame", None),
    ]


def test_options_set_during_a_search_wait_for_its_end(conversation):
    conversation.say("go infinite", "setoption name Hash value 64")
    assert conversation.uci.engine.changes == []
    conversation.ask("stop")
    assert conversation.uci.engine.changes == [("Hash", 64)]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("nowhere.py:evaluate", "nowhere.py does not exist"),
        ("garbage", "'garbage' is not 'handcrafted', 'nnue:FILE', 'module:function' or"),
        pytest.param(
            "x" * 900 + ".py:f", "File name too long", marks=posix_only("it does not exist there")
        ),
    ],
)
def test_an_evaluation_that_cannot_be_is_refused_at_once(conversation, spec, message):
    conversation.say("go infinite")
    (reply,) = conversation.uci.handle_line(f"setoption name Evaluation value {spec}")
    assert reply.startswith("info string")
    assert message in reply
    conversation.ask("stop")
    assert conversation.uci.engine.changes == []


def test_a_file_that_is_not_there_is_named_when_it_is_set(make_conversation, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def refuse(path):
        raise FileNotFoundError(2, "No such file or directory", path)

    talk = make_conversation(Engine, refuse)
    talk.say("setoption name OwnBook value false")
    for option in ("BookFile", "SyzygyPath", "GaviotaPath", "Debug Log File"):
        (reply,) = talk.ask(f"setoption name {option} value nowhere")
        assert "nowhere" in reply
    assert not talk.uci.engine.ready.is_set()


def test_move_overhead_and_analysis_reach_the_player(conversation):
    conversation.say("setoption name Move Overhead value 250")
    conversation.say("setoption name UCI_AnalyseMode value true")
    assert conversation.uci.player.overhead == pytest.approx(0.25)
    assert conversation.uci.player.patient


def test_a_clock_is_read_for_the_side_to_move(conversation):
    heard = conversation.ask(
        "debug on",
        "setoption name Move Overhead value 0",
        "go wtime 100000 btime 1 depth 1",
        "position startpos moves e2e4",
        "go wtime 100000 btime 50 depth 1",
        "go wtime 100000 depth 1",
    )
    plans = [float(line.split()[3]) for line in heard if " plans " in line]
    assert len(plans) == 3
    assert plans[1] < plans[0] == plans[2]


def test_the_log_file_can_fail(make_conversation):
    paths = []

    def log_to(path):
        paths.append(path)
        if path == "/":
            raise IsADirectoryError(21, "Is a directory")

    talk = make_conversation(log_to=log_to)
    assert talk.ask("setoption name Debug Log File value /tmp/My Log") == []
    assert talk.ask("setoption name Debug Log File value /") == [
        "info string cannot log to '/': Is a directory"
    ]
    assert talk.ask("setoption name Debug Log File value <empty>") == []
    assert paths == ["/tmp/My Log", "/", ""]


def test_a_searcher_that_raises_is_answered_and_the_engine_lives_on(conversation):
    def deepen(board, limits, lines=1):
        yield from ()
        raise ZeroDivisionError("division by zero")

    conversation.uci.engine.scripted.deepen = deepen
    for _ in range(2):
        error, answer = conversation.ask("go depth 3")
        assert "ZeroDivisionError: division by zero" in error
        assert chess.Move.from_uci(answer.split()[1]) in chess.Board().legal_moves


def test_a_megabyte_on_one_line(conversation):
    conversation.ask("isready")
    for line in ("x" * 2**20, "y " * 2**19, "position startpos moves " + "e2e4 " * 2**17):
        (heard,) = conversation.ask(line)
        assert heard.startswith("info string ")
        assert len(heard) < 200
    shuffle = "g1f3 g8f6 f3g1 f6g8 " * 500
    assert conversation.ask(f"position startpos moves {shuffle}") == []
    assert conversation.ask("go depth 1")[-1].startswith("bestmove a2a3")


def test_help_lists_the_table(conversation):
    heard = conversation.ask("help")
    assert [line.split()[2].rstrip(":") for line in heard] == list(COMMANDS)


def test_quit_is_seen_and_answers_what_is_open(conversation):
    conversation.say("go infinite", "isready", "quit")
    assert conversation.uci.finished
    assert conversation.uci.close(PATIENCE)
    heard = conversation.rest()
    assert "readyok" in heard
    assert heard[-1].startswith("bestmove")


@pytest.mark.parametrize("limits", ["depth 5", "nodes 500", "movetime 30", "wtime 100 btime 100"])
def test_a_search_that_ends_is_answered_after_the_end_of_input(conversation, limits):
    conversation.say("setoption name OwnBook value false")
    conversation.say("position startpos moves e2e4", f"go {limits}")
    assert conversation.uci.drain()
    assert not conversation.uci.player.busy
    heard = conversation.rest()
    assert heard[-1] == "bestmove a7a5 ponder a2a3"
    if limits == "depth 5":
        assert "depth 5 " in heard[-2]


@pytest.mark.parametrize("limits", ["", "infinite", "ponder wtime 1000", "infinite depth 3"])
def test_a_search_without_end_is_stopped_at_the_end_of_input(conversation, limits):
    conversation.say("setoption name OwnBook value false", f"go {limits}", "isready")
    conversation.hear_until("info depth 3")
    assert conversation.uci.drain()
    assert [line.split()[0] for line in conversation.rest()].count("bestmove") == 1


def test_what_is_long_is_stopped_some_time_after_the_end_of_input(conversation, monkeypatch):
    monkeypatch.setattr(play, "LAST_ANSWERS", 0.3)
    conversation.say("go depth 100000")
    began = time.monotonic()
    while not conversation.uci.drain(0.05):
        pass
    assert 0.3 <= time.monotonic() - began < 15
    assert conversation.uci.close(PATIENCE)
    assert conversation.rest()[-1].startswith("bestmove")


def test_after_quit_nothing_is_waited_for(conversation):
    conversation.say("go infinite", "quit")
    assert conversation.uci.drain(0.0)
    assert conversation.uci.player.busy


def test_more_moves_than_a_game_can_have_are_told_and_not_played(conversation):
    conversation.ask("position startpos moves e2e4")
    heard = conversation.ask("position startpos moves " + "g1f3 g8f6 f3g1 f6g8 " * 20_000)
    assert len(heard) == 1
    assert heard[0].startswith("info string 80000 moves are more than a game can have (17697)")
    assert conversation.ask("go depth 1")[-1].startswith("bestmove a7a5")


def test_the_past_of_a_long_game_costs_a_search_nothing(conversation, monkeypatch):
    """A board is copied as often as it is passed on, while the clock runs."""
    boards = []
    deepen = conversation.uci.engine.scripted.deepen
    monkeypatch.setattr(
        conversation.uci.engine.scripted,
        "deepen",
        lambda board, *rest: boards.append(board) or deepen(board, *rest),
    )
    conversation.ask("position startpos moves " + "g1f3 g8f6 f3g1 f6g8 " * 4_000, "go depth 1")
    (board,) = boards
    assert len(board.move_stack) == 1_000
    assert board.is_fivefold_repetition()


def test_a_great_many_search_moves_do_not_hold_the_search_up(conversation):
    words = " ".join(f"{number:06x}" for number in range(300_000))
    began = time.process_time()
    assert conversation.ask(f"go depth 1 searchmoves {words}")[-1] == "bestmove a2a3 ponder a7a5"
    assert time.process_time() - began < 5.0
