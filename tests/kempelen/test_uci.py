"""The engine process: its start, its end, and its standard output."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from protocols.uci.chess_session import DRAIN_TIMEOUT
from tests.systems import module_or_skip

supervisor = module_or_skip("protocols.client.supervisor")

# Seconds: far more than needed on a busy machine, far less than a hang.
SOON = 15.0


@pytest.fixture
def engine(start_engine, warm_cache):
    return start_engine()


def test_nothing_heavy_is_imported_before_uciok():
    code = """
import sys
import kempelen.cli
from protocols.uci.protocol import UciProtocol
import protocols.session
for line in UciProtocol("name", "author", print, print).handle_line("uci"):
    if line == "uciok":
        break
heavy = "numba numpy chess argparse asyncio importlib.metadata llvmlite rich".split()
heavy += ["agent.chess.engine.backend", "agent.agent", "agent.learning", "opponents"]
sys.exit(" ".join(name for name in heavy if name in sys.modules) or 0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("arguments", [[], ["uci"]])
def test_uci_session_searches_and_quits(start_engine, warm_cache, arguments):
    engine = start_engine(*arguments)
    engine.send("xboard", "uci")
    first = engine.read_until("uciok")
    assert first[0].startswith("id name Kempelen ")
    engine.send("isready")
    assert engine.read_until("readyok") == ["readyok"]
    engine.send("position startpos moves e2e4", "go depth 6")
    lines = engine.read_until("bestmove")
    assert lines[-2].split(" pv ")[1].split()[0] == lines[-1].split()[1]
    engine.send("quit")
    assert engine.read_all() == []
    assert engine.wait() == (0, "")


@pytest.mark.thorough
def test_commands_sent_at_once_are_all_answered(engine):
    engine.send("uci", "isready", "position startpos", "go depth 4", "isready")
    lines = engine.read_until("bestmove")
    engine.end_input()
    lines += engine.read_all()
    assert lines.count("readyok") == 2
    assert sum(line.startswith("bestmove") for line in lines) == 1
    assert engine.wait() == (0, "")


@pytest.mark.parametrize("ending", ["end of input", "quit"])
def test_quit_or_end_of_input_stops_the_search(engine, ending):
    engine.send("uci", "isready")
    engine.read_until("readyok")
    engine.send("go infinite")
    engine.read_until("info depth 4")
    began = time.monotonic()
    if ending == "quit":
        engine.send("quit")
    else:
        engine.end_input()
    assert engine.wait() == (0, "")
    assert time.monotonic() - began < SOON
    assert engine.read_all()[-1].startswith("bestmove")


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("go", ["go infinite", "go depth 60"])
def test_engine_exits_when_its_output_is_closed(warm_cache, go):
    engine = subprocess.Popen(
        [sys.executable, "-m", "kempelen.cli"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        engine.stdin.write(f"uci\n{go}\n".encode())
        engine.stdin.flush()
        while not engine.stdout.readline().startswith(b"info depth 4"):
            pass
        engine.stdout.close()
        assert engine.wait(SOON) == 0
        assert engine.stderr.read() == b""
    finally:
        engine.kill()
        engine.wait()
        engine.stdin.close()
        engine.stderr.close()


def test_engine_exits_quickly_when_the_front_end_dies(warm_cache):
    """Not even for the time in which pending answers are drained."""
    engine = subprocess.Popen(
        [sys.executable, "-m", "kempelen.cli"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        engine.stdin.write(b"uci\ngo depth 60\n")
        engine.stdin.flush()
        while not engine.stdout.readline().startswith(b"info depth 4"):
            pass
        engine.stdin.close()
        engine.stdout.close()
        assert engine.wait(DRAIN_TIMEOUT / 2) == 0
    finally:
        engine.kill()
        engine.wait()


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize(
    "last",
    [
        "isready",
        "go depth 3",
        "go perft 3",
        pytest.param("uci", marks=pytest.mark.thorough),
        pytest.param("go movetime 50", marks=pytest.mark.thorough),
        pytest.param("bench 3", marks=pytest.mark.thorough),
    ],
)
def test_end_of_input_during_kernel_loading_is_handled(start_engine, warm_cache, last):
    engine = start_engine()
    engine.send("uci", last)
    engine.end_input()
    began = time.monotonic()
    assert engine.wait() == (0, "")
    assert time.monotonic() - began < SOON
    lines = engine.read_all()
    assert lines.count("readyok") == (last == "isready")
    moved = last in ("go depth 3", "go movetime 50")
    assert sum(line.startswith("bestmove") for line in lines) == moved
    assert lines.count("Nodes searched: 8902") == (last == "go perft 3")
    assert sum(line.endswith("nps") for line in lines) == (last == "bench 3")


def test_output_of_user_code_does_not_reach_the_front_end(start_engine, warm_cache, tmp_path):
    (tmp_path / "chatty.py").write_text(
        "print('hello from the import')\n"
        "def evaluate(board):\n"
        "    print('hello from the evaluation')\n"
        "    return len(board.piece_map())\n"
    )
    engine = start_engine(cwd=tmp_path)
    engine.send("uci", "setoption name Evaluation value chatty.py:evaluate", "go nodes 20")
    lines = engine.read_until("bestmove")
    engine.send("quit")
    lines += engine.read_all()
    assert lines[-1].startswith("bestmove")
    assert not [line for line in lines if "hello" in line]
    status, errors = engine.wait()
    assert status == 0
    assert "hello from the import" in errors


def test_user_evaluation_is_used_and_its_failure_is_survived(start_engine, warm_cache, tmp_path):
    (tmp_path / "mine.py").write_text(
        "def corner(board):\n"
        "    return (1 if board.turn else -1) * (500 if board.piece_at(16) else 0)\n"
        "def broken(board):\n"
        "    return 1 // 0\n"
    )
    engine = start_engine(cwd=tmp_path)
    engine.send("uci", "setoption name Evaluation value mine.py:corner", "go depth 1")
    assert engine.read_until("bestmove")[-1].split()[1] in ("a2a3", "b1a3")
    engine.send("setoption name Evaluation value mine.py:broken", "go depth 3")
    lines = engine.read_until("bestmove")
    assert any(line.startswith("info string") and "broken" in line for line in lines)
    assert lines[-1] != "bestmove (none)"
    engine.send("setoption name Evaluation value nowhere.py:evaluate", "isready")
    assert any("nowhere.py" in line for line in engine.read_until("readyok"))
    engine.send("setoption name Evaluation value handcrafted", "go depth 1")
    assert engine.read_until("bestmove")[-1] != "bestmove (none)"
    engine.send("quit")
    assert engine.read_all() == []


def test_cold_engine_moves_while_a_child_process_compiles(start_engine, tmp_path):
    engine = start_engine(env=os.environ | {"KEMPELEN_CACHE_DIR": str(tmp_path)})
    engine.send("uci", "setoption name OwnBook value false")
    engine.read_until("info string compiling")
    engine.send("position startpos moves e2e4", "go wtime 1000 btime 1000")
    assert engine.read_until("bestmove")[-1] != "bestmove (none)"
    engine.send("go depth 3", "isready")
    assert engine.read_until("readyok")[-1] == "readyok"
    engine.send("stop")
    assert engine.read_until("bestmove")[-1] != "bestmove (none)"
    compilers = supervisor.children(engine.process.pid)
    assert compilers, "a child compiles"
    engine.send("quit")
    assert engine.wait()[0] == 0
    assert not any(Path(f"/proc/{pid}").exists() for pid in compilers)


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "lines"), [("uci_fuzz.py", 2000), ("variant_fuzz.py", 1000)])
def test_short_uci_fuzz_run_passes(warm_variants, name, lines):
    script = Path(__file__).parents[2] / "benchmarks" / name
    command = [sys.executable, script, "--lines", str(lines), "--timeout", "120"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
