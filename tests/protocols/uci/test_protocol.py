"""UCI beyond the transcripts: options of the engine, failures and long inputs."""

import time

import chess
import pytest

from agent.chess.engine.backend import ChessBackend
from protocols.uci import chess_session
from protocols.uci.engine_options import OPTIONS
from protocols.uci.position import HISTORY_PLIES, MAX_HALFMOVE_CLOCK
from protocols.uci.protocol import COMMANDS
from tests.systems import posix_only
from tests.waiting import PATIENCE


def test_every_option_is_declared_and_accepts_its_default(conversation):
    declared = [line for line in conversation.ask("uci") if line.startswith("option")]
    # GUIs save what is declared, and a game's result is not a setting.
    assert [line.split(" type ")[0] for line in declared] == [
        f"option name {option.name}" for option in OPTIONS if option.name != "GameResult"
    ]
    for option in OPTIONS:
        if option.type == "spin":
            assert option.min <= option.default <= option.max
        value = str(option.default if option.default is not None else "<empty>").lower()
        value = "" if option.type == "button" else f" value {value}"
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
    assert conversation.uci.session.engine.changes == [
        ("Hash", 64),
        ("Threads", 2),
        ("Clear Hash", None),
        ("Evaluation", "my_eval:evaluate"),
        ("Evaluation", "nnue"),
        ("ucinewgame", None),
    ]


@pytest.mark.parametrize(
    ("old_name", "new_name", "value"),
    [("Final Choice", "MoveSelection", "value"), ("game  RESULT", "GameResult", "1-0")],
)
def test_old_option_names_are_accepted_with_a_note(
    conversation, monkeypatch, old_name, new_name, value
):
    changes = []
    monkeypatch.setattr(conversation.uci.session.engine, "set_final_choice", changes.append)
    monkeypatch.setattr(
        conversation.uci.session, "learn_result", lambda result, forfeit: changes.append(result)
    )
    old_spelling = " ".join(old_name.title().split())
    assert not any(old_spelling in line for line in conversation.ask("uci"))
    assert conversation.ask(f"setoption name {old_name} value {value}") == [
        f"info string option '{old_spelling}' is now '{new_name}'"
    ]
    assert conversation.ask(f"setoption name {new_name} value {value}") == []
    assert changes == [value, value]


def test_options_set_during_a_search_wait_for_its_end(conversation):
    conversation.say("go infinite", "setoption name Hash value 64")
    assert conversation.uci.session.engine.changes == []
    conversation.ask("stop")
    assert conversation.uci.session.engine.changes == [("Hash", 64)]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("nowhere.py:evaluate", "nowhere.py does not exist"),
        (
            "garbage",
            "'garbage': invalid name (expected 'handcrafted', 'nnue:FILE', 'module:function' or",
        ),
        pytest.param(
            "x" * 900 + ".py:f", "File name too long", marks=posix_only("it does not exist there")
        ),
    ],
)
def test_invalid_evaluation_is_rejected_immediately(conversation, spec, message):
    conversation.say("go infinite")
    (reply,) = conversation.uci.handle_line(f"setoption name Evaluation value {spec}")
    assert reply.startswith("info string")
    assert message in reply
    conversation.ask("stop")
    assert conversation.uci.session.engine.changes == []


def test_missing_file_is_reported_when_option_is_set(make_conversation, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def refuse(path):
        raise FileNotFoundError(2, "No such file or directory", path)

    talk = make_conversation(ChessBackend, refuse)
    talk.say("setoption name OwnBook value false")
    for option in ("BookFile", "SyzygyPath", "GaviotaPath", "Debug Log File"):
        (reply,) = talk.ask(f"setoption name {option} value nowhere")
        assert "nowhere" in reply
    assert not talk.uci.session.engine.ready.is_set()


def test_move_overhead_and_analyse_mode_reach_player(conversation):
    conversation.say("setoption name Move Overhead value 250")
    conversation.say("setoption name UCI_AnalyseMode value true")
    assert conversation.uci.session.agent.overhead == pytest.approx(0.25)
    assert conversation.uci.session.agent.use_full_time


def test_go_uses_clock_of_side_to_move(conversation):
    heard = conversation.ask(
        "debug on",
        "setoption name Move Overhead value 0",
        "go wtime 100000 btime 1 depth 1",
        "position startpos moves e2e4",
        "go wtime 100000 btime 50 depth 1",
        "go wtime 100000 depth 1",
    )
    plans = [float(line.split()[4]) for line in heard if " time budget: " in line]
    assert len(plans) == 3
    assert plans[1] < plans[0] == plans[2]


def test_log_file_error_is_reported(make_conversation):
    paths = []

    def log_to(path):
        paths.append(path)
        if path == "/":
            raise IsADirectoryError(21, "Is a directory")

    talk = make_conversation(log_to=log_to)
    assert talk.ask("setoption name Debug Log File value /tmp/My Log") == []
    assert talk.ask("setoption name Debug Log File value /") == [
        "info string cannot open log file '/': Is a directory"
    ]
    assert talk.ask("setoption name Debug Log File value <empty>") == []
    assert paths == ["/tmp/My Log", "/", ""]


def test_search_exception_is_reported_and_legal_move_returned(conversation):
    def search(board, limits, lines=1):
        yield from ()
        raise ZeroDivisionError("division by zero")

    conversation.uci.session.engine.scripted.search = search
    for lines in (1, 3):
        error, line, answer = conversation.ask(
            f"setoption name MultiPV value {lines}", "go depth 3"
        )
        assert "ZeroDivisionError: division by zero" in error
        move = answer.split()[1]
        assert chess.Move.from_uci(move) in chess.Board().legal_moves
        # Clients such as python-chess expect a line before the move.
        assert line == f"info depth 0 pv {move}"


def test_megabyte_long_lines_are_handled(conversation):
    conversation.ask("isready")
    for line in ("x" * 2**20, "y " * 2**19, "position startpos moves " + "e2e4 " * 2**17):
        (heard,) = conversation.ask(line)
        assert heard.startswith("info string ")
        assert len(heard) < 200
    shuffle = "g1f3 g8f6 f3g1 f6g8 " * 500
    assert conversation.ask(f"position startpos moves {shuffle}") == []
    assert conversation.ask("go depth 1")[-1].startswith("bestmove a2a3")


def test_help_lists_all_commands(conversation):
    heard = conversation.ask("help")
    assert [line.split()[2].rstrip(":") for line in heard] == list(COMMANDS)


def test_quit_answers_pending_commands(conversation):
    conversation.say("go infinite", "isready", "quit")
    assert conversation.uci.finished
    assert conversation.uci.close(PATIENCE)
    heard = conversation.rest()
    assert "readyok" in heard
    assert heard[-1].startswith("bestmove")


@pytest.mark.parametrize("limits", ["depth 5", "nodes 500", "movetime 30", "wtime 100 btime 100"])
def test_limited_search_finishes_after_end_of_input(conversation, limits):
    conversation.say("setoption name OwnBook value false")
    conversation.say("position startpos moves e2e4", f"go {limits}")
    assert conversation.uci.drain()
    assert not conversation.uci.session.agent.busy
    heard = conversation.rest()
    assert heard[-1] == "bestmove a7a5 ponder a2a3"
    if limits == "depth 5":
        assert "depth 5 " in heard[-2]


@pytest.mark.parametrize("limits", ["", "infinite", "ponder wtime 1000", "infinite depth 3"])
def test_unlimited_search_stops_at_end_of_input(conversation, limits):
    conversation.say("setoption name OwnBook value false", f"go {limits}", "isready")
    conversation.hear_until("info depth 3")
    assert conversation.uci.drain()
    assert [line.split()[0] for line in conversation.rest()].count("bestmove") == 1


def test_long_search_stops_after_end_of_input_timeout(conversation, monkeypatch):
    monkeypatch.setattr(chess_session, "DRAIN_TIMEOUT", 0.3)
    conversation.say("go depth 100000")
    began = time.monotonic()
    while not conversation.uci.drain(0.05):
        pass
    assert 0.3 <= time.monotonic() - began < 15
    assert conversation.uci.close(PATIENCE)
    assert conversation.rest()[-1].startswith("bestmove")


def test_drain_returns_immediately_after_quit(conversation):
    conversation.say("go infinite", "quit")
    assert conversation.uci.drain(0.0)
    assert conversation.uci.session.agent.busy


def test_too_many_position_moves_are_rejected(conversation):
    conversation.ask("position startpos moves e2e4")
    heard = conversation.ask("position startpos moves " + "g1f3 g8f6 f3g1 f6g8 " * 20_000)
    assert len(heard) == 1
    assert heard[0].startswith(
        "info string position: too many moves: 80000 (expected at most 17697)"
    )
    assert conversation.ask("go depth 1")[-1] == "bestmove (none)"


def test_an_overlong_line_is_not_replaced_by_an_older_position(conversation):
    conversation.ask("position startpos moves e2e4")
    assert list(conversation.uci.handle_overlong_line()) == ["info string line too long; ignored"]
    assert conversation.ask("go depth 1")[-1] == "bestmove (none)"
    assert conversation.ask("position startpos", "go depth 1")[-1].startswith("bestmove a2a3")


LATER = (
    "position startpos moves e2e4",
    "ucinewgame",
    "setoption name MultiPV value 2",
    "go depth 1",
)


@pytest.mark.parametrize("limits", ["depth 7", "nodes 700", "movetime 60", "mate 1 depth 7"])
def test_a_limited_search_completes_before_later_commands(conversation, limits):
    conversation.say("setoption name OwnBook value false", f"go {limits}", *LATER)
    heard = conversation.rest()
    first = heard.index("bestmove a2a3 ponder a7a5")
    assert " depth 7 " in heard[first - 1] or limits == "movetime 60"
    assert not any(" multipv 2 " in line for line in heard[:first])
    assert heard[-1] == "bestmove a7a5 ponder a2a3"
    assert any(" multipv 2 " in line for line in heard[first:])


def test_a_search_is_limited_after_the_ponder_hit(conversation):
    conversation.say("setoption name OwnBook value false", "go ponder depth 7", "ponderhit", *LATER)
    heard = conversation.rest()
    assert " depth 7 " in heard[heard.index("bestmove a2a3 ponder a7a5") - 1]


def test_stop_ends_a_limited_search_and_those_that_wait(conversation):
    conversation.say("setoption name OwnBook value false", "go depth 100000", "go depth 100000")
    conversation.say("position startpos moves e2e4")
    conversation.say("go movetime 1000000", "isready")
    conversation.hear_until("readyok")
    conversation.say("stop", "isready")
    heard = conversation.rest()
    assert [line.split()[0] for line in heard].count("bestmove") == 3
    assert heard[-1] == "readyok"
    assert heard[-2].startswith("bestmove a7a5")


def test_ready_is_said_between_a_stopped_and_a_running_search(conversation):
    conversation.say("go infinite")
    conversation.hear_until("info depth 2")
    conversation.say("go infinite", "isready")
    heard = conversation.hear_until("readyok")
    assert [line.split()[0] for line in heard].count("bestmove") == 1
    conversation.say("stop")
    assert conversation.rest()[-1].startswith("bestmove")


def test_ready_is_said_during_a_limited_search_with_a_stopped_one_behind_it(conversation):
    conversation.say("go depth 100000", "go infinite", "go depth 1", "isready")
    heard = conversation.hear_until("readyok")
    assert not any(line.startswith("bestmove") for line in heard)
    conversation.say("stop")
    assert [line.split()[0] for line in conversation.rest()].count("bestmove") == 3


def test_each_pending_search_has_its_own_time_after_end_of_input(conversation, monkeypatch):
    monkeypatch.setattr(chess_session, "DRAIN_TIMEOUT", 0.5)
    monkeypatch.setattr(conversation.uci.session.engine.scripted, "pace", lambda limits: 0.02)
    conversation.say(*["go depth 15"] * 3)
    while not conversation.uci.drain(0.05):
        pass
    heard = conversation.rest()
    assert sum(" depth 15 " in line for line in heard) == 3


def test_search_board_keeps_only_recent_moves(conversation, monkeypatch):
    """Boards are copied several times while the clock runs, so they must stay small."""
    boards = []
    search = conversation.uci.session.engine.scripted.search
    monkeypatch.setattr(
        conversation.uci.session.engine.scripted,
        "search",
        lambda board, *rest: boards.append(board) or search(board, *rest),
    )
    conversation.ask("position startpos moves " + "g1f3 g8f6 f3g1 f6g8 " * 4_000, "go depth 1")
    (board,) = boards
    assert MAX_HALFMOVE_CLOCK <= len(board.move_stack) <= HISTORY_PLIES
    assert board.is_fivefold_repetition()


def test_many_searchmoves_do_not_delay_search(conversation):
    words = " ".join(f"{number:06x}" for number in range(300_000))
    began = time.process_time()
    assert conversation.ask(f"go depth 1 searchmoves {words}")[-1] == "bestmove a2a3 ponder a7a5"
    assert time.process_time() - began < 5.0
