"""Evaluations that sleep or never return: all moves are made in time."""

import sys
import threading
import time

import chess
import pytest

from agent import evaluation_loading
from agent.chess.engine.backend import ChessBackend
from agent.chess.engine.settings import SEARCHES
from agent.chess.evaluation.loading import DEFAULT
from agent.threads.abandoned_threads import MAX_ABANDONED

# Seconds for an answer in time on a busy machine; a search that is not abandoned takes longer.
SOON = 8.0

SOURCE = """
import threading
from agent.evaluation import U64, evaluator

gate = threading.Event()
calls = 0

def sleeps(board):
    gate.wait(20)
    return 0

def sleeps_late(board):
    global calls
    calls += 1
    if calls > 200:
        gate.wait(20)
    return len(board.piece_map())

def loops(board):
    while not gate.is_set():
        pass
    return 0

def loops_once(board):
    global calls
    calls += 1
    while calls == 1:
        pass
    return (1 if board.turn else -1) * (500 if board.piece_at(16) else 0)

@evaluator
def compiled(worker, ply):
    x = U64(ply)
    if worker.nodes > 300:
        for _ in range(1_500_000_000):  # seconds
            x ^= x << U64(13)
            x ^= x >> U64(7)
            x ^= x << U64(17)
            x += U64(1)
    return x & U64(1)
"""


@pytest.fixture
def await_threads():
    """Wait for threads with these names, except threads that earlier tests have abandoned."""
    others = set(threading.enumerate())

    def wait(*names):
        for thread in set(threading.enumerate()) - others:
            if thread.name in names:
                thread.join(60.0)
                assert not thread.is_alive()

    return wait


@pytest.fixture
def file(tmp_path, await_threads):
    path = tmp_path / "my_eval.py"
    path.write_text(SOURCE)
    yield path
    sys.modules["kempelen_evaluation_my_eval"].gate.set()
    await_threads("search", "apart")


@pytest.fixture
def talk(await_threads, make_conversation):
    conversation = make_conversation(ChessBackend)
    conversation.say("setoption name OwnBook value false", "setoption name Hash value 4", "isready")
    conversation.hear_until("readyok")
    return conversation


def answer(heard, board=None):
    """Return the only bestmove, which must be legal."""
    (found,) = [text for text in heard if text.startswith("bestmove ")]
    assert heard[-1] == found
    assert chess.Move.from_uci(found.split()[1]) in (board or chess.Board()).legal_moves
    return found.split()[1]


def complaints(heard):
    return [text for text in heard if "did not return in time" in text]


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("name", ["sleeps", "loops"])
def test_stuck_evaluation_does_not_delay_moves(talk, file, search, name):
    talk.ask(f"setoption name Search value {search}", "isready")
    talk.ask(f"setoption name Evaluation value {file}:{name}")
    for limits in ("movetime 400", "wtime 4000 btime 4000"):
        began = time.monotonic()
        heard = talk.ask(f"go {limits}")
        assert time.monotonic() - began < SOON
        answer(heard)
        (complaint,) = complaints(heard)
        assert f"{file}:{name}" in complaint
    heard = talk.ask("setoption name Evaluation value handcrafted", "go depth 3")
    answer(heard)
    assert not complaints(heard)


def test_last_completed_depth_is_played(talk, file):
    talk.ask(f"setoption name Evaluation value {file}:sleeps_late")
    heard = talk.ask("go movetime 300")
    assert complaints(heard)
    levels = [text for text in heard if " pv " in text]
    assert levels[-1].split(" pv ")[1].split()[0] == answer(heard)
    assert heard[-2] == levels[-1]
    assert any(" depth 2 " in text for text in levels)


def test_evaluation_works_again_after_interrupted_loop(talk, file):
    talk.ask(f"setoption name Evaluation value {file}:loops_once")
    assert complaints(talk.ask("go movetime 100"))
    assert answer(talk.ask("go depth 1")) in ("a2a3", "b1a3")


@pytest.mark.parametrize(
    "setting",
    ["name Threads value 3", "name Skill Level value 5"],
)
def test_stuck_evaluation_is_stopped_with_threads_or_skill_level(talk, file, setting):
    talk.ask(f"setoption {setting}", f"setoption name Evaluation value {file}:loops")
    for _ in range(2):
        heard = talk.ask("go movetime 100")
        answer(heard)
        assert complaints(heard)


def test_stop_ends_stuck_commands_without_clock(talk, file):
    talk.ask(f"setoption name Evaluation value {file}:loops")
    for command in ("go infinite", "go depth 5", "eval"):
        talk.say(command)
        assert not talk.uci.session.agent.wait(0.1)
        assert complaints(talk.ask("stop"))


def test_default_evaluation_replaces_repeatedly_stuck_one(talk, file, await_threads):
    talk.ask(f"setoption name Evaluation value {file}:sleeps")
    for _ in range(MAX_ABANDONED + 1):
        assert complaints(talk.ask("go movetime 50"))
    heard = talk.ask("go depth 4")
    assert f"evaluation {file}:sleeps still does not return; using {DEFAULT}" in heard[0]
    assert any(" depth 4 " in text for text in heard)
    sys.modules["kempelen_evaluation_my_eval"].gate.set()
    await_threads("search")
    heard = talk.ask("go depth 1")
    assert " score cp 0 " in heard[-2], "the user's evaluation is back"


@pytest.mark.thorough
@pytest.mark.parametrize(
    "search",
    [pytest.param(each, marks=[pytest.mark.thorough][: each == "mcts"]) for each in SEARCHES],
)
def test_default_evaluation_replaces_stuck_compiled_one(talk, file, search):
    talk.ask(f"setoption name Search value {search}", "isready")
    talk.ask(f"setoption name Evaluation value {file}:compiled")
    heard = talk.ask("go movetime 300")
    answer(heard)
    assert complaints(heard)
    assert any(" depth 2 " in text for text in heard)
    heard = talk.ask("go depth 3")
    answer(heard)
    assert f"still does not return; using {DEFAULT}" in heard[0]


def test_evaluation_file_with_endless_loop_times_out(talk, tmp_path, monkeypatch, await_threads):
    monkeypatch.setattr(evaluation_loading, "LOAD_TIMEOUT_S", 0.1)
    path = tmp_path / "endless.py"
    path.write_text("while True:\n    pass\n")
    (reply,) = talk.ask(f"setoption name Evaluation value {path}:f")
    assert f"evaluation {path}:f: loading took more than" in reply
    answer(talk.ask("go depth 2"))
    await_threads("evaluation")


def test_evaluation_file_that_exits_is_reported(talk, tmp_path):
    path = tmp_path / "leaver.py"
    path.write_text("import sys\nsys.exit(3)\n")
    (reply,) = talk.ask(f"setoption name Evaluation value {path}:f")
    assert "leaver.py failed: SystemExit: 3" in reply
