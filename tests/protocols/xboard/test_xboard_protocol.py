"""xboard beyond the transcripts: clocks, draws, failures, open-ended searches, long inputs."""

import threading
import time

import chess
import pytest

from agent.chess.engine.backend import ChessBackend
from agent.limits import Cp, Info, SideClock
from protocols.uci import chess_session
from protocols.uci.engine_options import COMMON_OPTIONS
from protocols.xboard.features import HASH, OPTIONS, THREADS, option_declaration
from protocols.xboard.formatting import thinking_line
from protocols.xboard.protocol import COMMANDS
from tests.waiting import PATIENCE


@pytest.fixture
def limits(conversation, monkeypatch):
    """The limits of all searches of a conversation, in order."""
    found = []
    search = conversation.xboard.chess.engine.scripted.search

    def note(board, limits, lines=1):
        found.append(limits)
        yield from search(board, limits, lines)

    monkeypatch.setattr(conversation.xboard.chess.engine.scripted, "search", note)
    return found


def test_every_option_is_declared_and_accepts_its_default(conversation):
    declared = [line for line in conversation.ask("protover 2") if "option=" in line]
    assert len(declared) == len(OPTIONS) == len(COMMON_OPTIONS) - 2
    assert {HASH, THREADS} == {each.name for each in COMMON_OPTIONS} - {
        each.name for each in OPTIONS
    }
    for option, line in zip(OPTIONS, declared, strict=True):
        assert line == f'feature option="{option_declaration(option)}"'
        default = int(option.default) if option.type == "check" else option.default or ""
        value = "" if option.type == "button" else f"={default}"
        assert conversation.ask(f"option {option.name}{value}") == []


def test_features_are_done_when_the_engine_is_ready(conversation, monkeypatch):
    engine, loaded = conversation.xboard.chess.engine, threading.Event()

    def wait(job, *, unless_compiling):
        assert unless_compiling
        assert loaded.wait(PATIENCE)

    monkeypatch.setattr(engine, "wait_until_loaded", wait)
    conversation.say("protover 2")
    lines = [conversation.hear() for _ in range(conversation.heard.qsize())]
    assert lines[0] == "feature done=0"
    assert "feature done=1" not in lines
    loaded.set()
    assert conversation.rest() == ["feature done=1"]


def test_features_are_done_at_once_during_an_analysis(conversation):
    conversation.say("analyze", "protover 2")
    conversation.hear_until("feature done=1")


def test_old_option_name_is_accepted_with_a_note(conversation, monkeypatch):
    changes = []
    monkeypatch.setattr(conversation.xboard.chess.engine, "set_final_choice", changes.append)
    assert not any("Final Choice" in line for line in conversation.ask("protover 2"))
    note = "# option 'Final Choice' is now 'MoveSelection'"
    assert conversation.ask("option Final Choice=bound") == [note]
    assert conversation.ask("option MoveSelection=value") == []
    assert changes == ["bound", "value"]


def test_memory_and_cores_set_hash_and_threads(conversation):
    conversation.ask("memory 64", "cores 2", "option Clear Hash", "cores 100000")
    assert conversation.xboard.chess.engine.changes == [
        ("Hash", 64),
        ("Threads", 2),
        ("Clear Hash", None),
        ("Threads", 256),
    ]


def test_memory_and_cores_out_of_range_are_reported(conversation):
    assert conversation.ask("cores 100000") == ["# Threads: using 256 instead of 100000"]
    maximum = next(each.max for each in COMMON_OPTIONS if each.name == HASH)
    heard = conversation.ask(f"memory {maximum + 1}")
    assert f"# Hash: using {maximum} instead of {maximum + 1}" in heard


@pytest.mark.parametrize("going_on", ["analyze", "hard"])
def test_options_apply_immediately_during_analysis_and_pondering(conversation, limits, going_on):
    conversation.say("new", "sd 2", "usermove e2e4")
    conversation.hear_until("move")
    conversation.say(going_on, "memory 64", "option MultiPV=3", "ping 1")
    conversation.hear_until("pong 1")
    assert conversation.xboard.chess.engine.changes[-1] == ("Hash", 64)
    assert limits[-1].infinite or limits[-1].ponder
    conversation.ask("force")


def test_option_set_during_search_applies_after_move(conversation):
    conversation.say("new", "st 1000", "go", "memory 64")
    assert ("Hash", 64) not in conversation.xboard.chess.engine.changes
    assert conversation.ask("?") == ["move a2a3"]
    assert ("Hash", 64) in conversation.xboard.chess.engine.changes


@pytest.mark.parametrize(
    ("lines", "clock", "moves_to_go"),
    [
        (("level 40 5 0",), SideClock(300), 40),
        (("level 0 2:30 12", "time 1000", "otim 5"), SideClock(10, 12), None),
        (("level 0 5 3", "time -20"), SideClock(0, 3), None),
        (("st 5", "level 2 0:01 0", "time 100"), SideClock(1), 2),
    ],
)
def test_clock_settings_reach_search(conversation, limits, lines, clock, moves_to_go):
    heard = conversation.ask("new", "sd 3", *lines, "go")
    assert heard == ["move a2a3"]
    (limit,) = limits
    assert (limit.clock, limit.moves_to_go, limit.depth) == (clock, moves_to_go, 3)
    assert limit.movetime is None


def test_fixed_move_time_reaches_search(conversation, limits):
    conversation.ask("new", "level 40 5 0", "st 0.05", "time 100000", "go")
    assert (limits[0].movetime, limits[0].clock, limits[0].depth) == (0.05, None, None)


def test_moves_to_next_time_control_are_counted(conversation, limits):
    conversation.ask("new", "sd 1", "level 3 0:30 0")
    for move in ("e2e4", "e4e5", "d2d4", "d4d5"):
        conversation.ask(f"usermove {move}")
    assert [limit.moves_to_go for limit in limits] == [3, 2, 1, 3]


def test_clock_runs_without_time_commands(conversation, limits):
    conversation.ask("new", "level 0 0:10 0", "go")  # sixty iterations of a millisecond
    conversation.ask("sd 1", "usermove e7e5")
    assert limits[0].clock == SideClock(10)
    assert limits[1].clock.time <= 9.94


def test_pause_stops_clock(conversation, limits):
    conversation.say("new", "st 100", "post", "go")
    conversation.hear_until("5 ")
    conversation.say("nopost", "pause", "ping 1")
    conversation.hear_until("pong 1")
    time.sleep(1.0)
    assert conversation.ask("sd 1", "resume") == ["move a2a3"]
    assert 99.0 < limits[-1].movetime < 100


def test_ponder_hit_continues_unless_clock_was_changed(conversation, limits):
    conversation.say("new", "hard", "level 0 10 0", "time 60000", "sd 2", "usermove e2e4", "ping 1")
    assert conversation.hear_until("pong 1")[0] == "move a7a5"
    conversation.say("time 59950", "usermove a2a3")
    assert conversation.hear() == "move a5a4"
    assert [limit.ponder for limit in limits[:2]] == [False, True]
    assert limits[1].clock.time == pytest.approx(600, abs=5)
    conversation.say("time 1000", "usermove a1a2", "ping 2")
    assert conversation.hear_until("pong 2")[0].startswith("move ")
    conversation.ask("force")
    assert SideClock(10) in [limit.clock for limit in limits]


def test_abandoned_search_prints_nothing(conversation):
    conversation.say("new", "post", "analyze")
    conversation.hear_until("10 ")
    conversation.say("force", "ping 1")
    heard = conversation.rest()
    assert heard[heard.index("pong 1") :] == ["pong 1"]
    conversation.say("st 1000", "go", "ping 2", "force", "usermove e2e4", "ping 3")
    assert [line for line in conversation.rest() if line[0] in "pm"] == ["pong 2", "pong 3"]


@pytest.mark.parametrize(
    ("start", "stop", "answer"),
    [
        ("analyze", "exit", []),
        ("analyze", "force", []),
        ("go", "force", []),
        ("go", "?", ["move a2a3"]),
    ],
)
def test_stopped_search_is_answered_before_a_ping(conversation, start, stop, answer):
    conversation.say("new", "st 1000", "post", start)
    conversation.hear_until("3 ")
    conversation.say(stop, "ping 1")
    heard = conversation.hear_until("pong 1")
    assert [line for line in heard if not line[0].isdigit()] == [*answer, "pong 1"]
    assert conversation.rest() == []


def test_pings_are_answered_in_order(conversation):
    lines, number = [], 0
    for words in (
        "new",
        "st 1000",
        "go",
        "memory 8",
        "?",
        "hard",
        "analyze",
        "exit",
        "go",
        "force",
    ):
        number += 2
        lines += [words, f"ping {number}", f"ping {number + 1}"]
    conversation.say(*lines * 3)
    pongs = [line.split()[1] for line in conversation.rest() if line.startswith("pong")]
    assert pongs == [line.split()[1] for line in lines * 3 if line.startswith("ping")]


def test_pending_hints_are_answered_once(conversation):
    assert conversation.ask("new", "force", *["hint"] * 1000) == ["Hint: a2a3"]
    assert conversation.ask("hint") == ["Hint: a2a3"]


def test_user_error_messages_are_limited(conversation):
    heard = conversation.ask("new", *(f"memory {2000 + number}" for number in range(100)))
    assert [line.split()[0] for line in heard] == ["tellusererror"] * 20 + ["#"] * 80


def test_outdated_hint_is_not_given(conversation):
    assert conversation.ask("new", "force", "hint", "usermove e2e4", "ping 1") == ["pong 1"]


@pytest.mark.parametrize(("score", "accepted"), [(Cp(-200), True), (Cp(200), False)])
def test_draw_offer_is_accepted_only_when_losing(conversation, monkeypatch, score, accepted):
    def search(board, limits, lines=1):
        yield Info(1, score, (chess.Move.from_uci("a7a5"),), nodes=10)

    monkeypatch.setattr(conversation.xboard.chess.engine.scripted, "search", search)
    draw_offered = ["offer draw"] if accepted else []
    conversation.say("new", "st 10", "usermove e2e4", "draw")
    assert sorted(conversation.rest()) == ["move a7a5", *draw_offered]
    assert conversation.ask("draw") == draw_offered
    assert conversation.ask("force", "draw") == []


def test_search_error_is_shown_once_and_move_is_made(conversation, monkeypatch):
    def search(board, limits, lines=1):
        yield from ()
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(conversation.xboard.chess.engine.scripted, "search", search)
    error, move = conversation.ask("new", "st 10", "go")
    assert error.startswith("tellusererror internal error: ZeroDivisionError")
    assert move.startswith("move ")
    again, move = conversation.ask("usermove e7e5")
    assert again.startswith("# internal error")
    assert move.startswith("move ")


def test_chess960_lines_show_castling_with_letter_o():
    board = chess.Board("1r2k1r1/8/8/8/8/8/8/1R2K1R1 w GBgb - 0 1", chess960=True)
    moves = tuple(map(chess.Move.from_uci, ("e1g1", "e8b8", "a2a3")))[:2]
    line = thinking_line(Info(3, Cp(5), moves, bound="lowerbound"), board)
    assert line.partition("\t")[2] == "O-O O-O-O !"
    assert thinking_line(Info(3, Cp(5), ()), board, "e2e4").endswith("\te2e4")


def test_log_file_error_is_reported(make_conversation):
    def log_to(path):
        if path == "/":
            raise IsADirectoryError(21, "Is a directory")

    talk = make_conversation(log_to=log_to)
    assert talk.ask("option Debug Log File=/tmp/My Log") == []
    assert talk.ask("option Debug Log File=/") == [
        "Error (cannot open log file '/': Is a directory): option Debug Log File=/"
    ]


def test_missing_file_is_reported_to_user(make_conversation, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    talk = make_conversation(ChessBackend)
    for option in ("BookFile", "SyzygyPath", "GaviotaPath"):
        (reply,) = talk.ask(f"option {option}=nowhere")
        assert "nowhere" in reply


def test_megabyte_long_lines_get_short_answers(conversation):
    for line in ("x" * 2**20, "usermove " + "y " * 2**19, "ping " + "1" * 2**20):
        (heard,) = conversation.ask(line)
        assert len(heard) < 200
    assert conversation.ask("setboard " + "8/" * 2**19)[0].startswith("tellusererror Illegal")


def test_moves_beyond_game_length_limit_are_rejected(conversation, monkeypatch):
    from protocols.xboard import protocol

    monkeypatch.setattr(protocol, "MAX_GAME_PLIES", 2)
    (heard,) = conversation.ask("force", "usermove e2e4", "usermove e7e5", "usermove d2d4")
    assert heard == "Illegal move (the game has the maximum of 2 half-moves): d2d4"


def test_help_lists_all_commands(conversation):
    heard = conversation.ask("help")
    assert [line.split()[1].rstrip(":") for line in heard] == list(COMMANDS)


def test_quit_finishes_without_further_output(conversation):
    conversation.say("go", "quit")
    assert conversation.xboard.finished
    assert conversation.xboard.drain(0.0)
    assert conversation.xboard.close(20.0)
    assert conversation.rest() == []


@pytest.mark.parametrize("lines", [("st 0.1", "go"), ("sd 5", "hard", "go")])
def test_due_move_is_made_after_end_of_input(conversation, lines):
    conversation.say("new", *lines)
    assert conversation.xboard.drain()
    assert not conversation.xboard.chess.agent.busy
    assert conversation.rest()[-1] == "move a2a3"


@pytest.mark.parametrize("lines", [("analyze",), ("hard", "sd 1", "go")])
def test_analysis_and_pondering_stop_at_end_of_input(conversation, lines):
    conversation.say("new", *lines, "ping 1")
    conversation.hear_until("pong 1")
    began = time.monotonic()
    assert conversation.xboard.drain()
    assert time.monotonic() - began < chess_session.DRAIN_TIMEOUT / 2
