"""`kempelen xboard` as a process, driven by xboard and python-chess."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import chess
import chess.engine
import chess.pgn
import pytest

from agent.games.variants import VARIANTS, board_class
from agent.kernel.decorators import CACHE_VARIABLE, cache_folder
from kempelen.match.config.engine_settings import EngineProtocol, EngineSettings
from kempelen.match.config.time_control import TimeControl
from kempelen.match.game.game_result import Termination
from tests.kempelen.match.support import play, settings

COMMAND = [sys.executable, "-m", "kempelen.cli", "xboard"]
# The variants of the engine that xboard knows.
XBOARD_VARIANTS = ("normal", "fischerandom", "crazyhouse", "atomic", "giveaway", "3check")


def test_nothing_heavy_is_imported_before_the_features_are_sent():
    code = """
import sys
import kempelen.cli
from protocols.xboard.protocol import XboardProtocol
heavy = "numba numpy chess argparse asyncio importlib.metadata llvmlite rich".split()
early = None
def send(line):
    global early
    if line != "feature done=1":
        early = " ".join(name for name in heavy if name in sys.modules)
XboardProtocol("name", send, print).handle_line("protover 2")
sys.exit("no features" if early is None else early or 0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("arguments", [[], ["xboard"]])
def test_xboard_session_moves_and_quits(start_engine, warm_cache, arguments):
    engine = start_engine(*arguments)
    engine.send("xboard", "protover 2")
    features = engine.read_until("feature done=1")
    assert features[0] == "feature done=0"
    assert features[1].startswith("feature ping=1 ")
    engine.send("new", "option OwnBook=0", "level 40 5 0", "post", "ping 1")
    assert engine.read_until("pong 1") == ["pong 1"]
    engine.send("sd 6", "usermove e2e4")
    lines = engine.read_until("move ")
    assert lines[-2].split("\t")[1].split()[0] == lines[-1].split()[1]
    engine.send("nopost", "analyze", "quit")
    engine.read_all()
    assert engine.wait() == (0, "")


@pytest.mark.parametrize("last", ["go", "analyze"])
def test_pending_move_is_sent_after_end_of_input(start_engine, warm_cache, last):
    engine = start_engine("xboard")
    engine.send("new", "option OwnBook=0", "hard", "st 0.2", last)
    engine.end_input()
    assert sum(line.startswith("move ") for line in engine.read_all()) == (last == "go")
    assert engine.wait() == (0, "")


@pytest.mark.thorough
@pytest.mark.needs("xboard", "xvfb-run")
@pytest.mark.parametrize("variant", XBOARD_VARIANTS)
def test_whole_game_is_played_in_xboard(warm_variants, tmp_path, variant):
    """One side is detected by its first line. Both ponder."""
    engine = tmp_path / "engine"
    engine.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m kempelen.cli "$@"\n')
    engine.chmod(0o755)
    game_file, log = tmp_path / "game.pgn", tmp_path / "xboard.debug"
    more = f"-ponder -variant {variant}"
    match = [*f"-cp -mg 1 -tc 0:02 -inc 0.02 -animateMoving false {more}".split()]
    match += ["-fcp", f"{engine} xboard", "-scp", str(engine), "-sgf", str(game_file)]
    match += ["-popupExitMessage", "false", "-debug", "-nameOfDebugFile", str(log)]
    cache = cache_folder().parent  # otherwise it would depend on HOME
    process = subprocess.Popen(
        ["xvfb-run", "-a", "xboard", *match],
        env=os.environ | {"HOME": str(tmp_path), CACHE_VARIABLE: str(cache)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        assert process.wait(180) == 0
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    with game_file.open() as file:
        game = chess.pgn.read_game(file)
    assert game.errors == []
    assert variant in (game.headers.get("Variant", "normal"), game.board().xboard_variant)
    assert "Kempelen" in game.headers["White"]
    assert "Kempelen" in game.headers["Black"]
    assert game.headers["Result"] in ("1-0", "0-1", "1/2-1/2")
    ending = game.end()
    assert "illegal" not in ending.comment.lower()
    assert "forfeit" not in ending.comment.lower()
    assert ending.board().is_game_over(claim_draw=True), ending.comment
    said = [line for line in log.read_text(errors="replace").splitlines() if " <" in line]
    complaints = ("Error (", "Illegal move", "tellusererror", "Traceback")
    assert not [line for line in said if any(word in line for word in complaints)]


@pytest.fixture
def playing(warm_cache):
    with chess.engine.SimpleEngine.popen_xboard(COMMAND, timeout=60) as engine:
        engine.configure({"OwnBook": False, "memory": 8, "cores": 1})
        yield engine


def test_python_chess_plays_moves(playing):
    assert playing.id["name"].startswith("Kempelen ")
    board, time = chess.Board(), {"white_inc": 0.02, "black_inc": 0.02}
    for number in range(12):
        limit = chess.engine.Limit(white_clock=2, black_clock=2, clock_id=1, **time)
        played = playing.play(
            board, limit, game=1, info=chess.engine.INFO_ALL, ponder=number % 2 == 0
        )
        if number % 2:  # otherwise the info contains the lines of pondering
            assert played.info["pv"][0] == played.move
        board.push(played.move)
    for _ in range(3):
        board.pop()
    assert playing.play(board, chess.engine.Limit(time=0.05), game=1).move in board.legal_moves
    board = chess.Board("7k/8/8/8/8/8/R7/1R5K w - - 0 1")
    limit = chess.engine.Limit(time=20, depth=6)
    played = playing.play(board, limit, info=chess.engine.INFO_SCORE)
    assert played.info["score"].white() == chess.engine.Mate(2)


@pytest.mark.thorough
def test_python_chess_plays_chess960(playing):
    board = chess.Board.from_chess960_pos(100)
    for _ in range(6):
        board.push(playing.play(board, chess.engine.Limit(time=0.02), game=960).move)
    board = chess.Board("rk5r/pp6/8/8/8/8/PP6/RK5R w KQkq - 0 1", chess960=True)
    info = playing.analyse(board, chess.engine.Limit(depth=3), root_moves=[board.parse_san("O-O")])
    assert board.is_castling(info["pv"][0])


@pytest.mark.thorough
@pytest.mark.parametrize("variant", VARIANTS[1:])
def test_python_chess_plays_whole_game_of_variant(warm_variants, playing, variant):
    board = board_class(variant)()
    while not board.is_game_over(claim_draw=True):
        played = playing.play(board, chess.engine.Limit(time=0.02), game=variant)
        assert played.move in board.legal_moves
        board.push(played.move)
        assert board.ply() < 600


@pytest.mark.thorough
def test_python_chess_analyses_positions(playing):
    with playing.analysis(chess.Board(), chess.engine.Limit(depth=8)) as analysis:
        depths = [info["depth"] for info in analysis]
    assert depths == sorted(depths)
    assert depths[-1] == 8
    moves = [chess.Move.from_uci("a2a3"), chess.Move.from_uci("h2h4")]
    info = playing.analyse(chess.Board(), chess.engine.Limit(depth=6), root_moves=moves)
    assert info["pv"][0] in moves
    assert info["nodes"] > 0


@pytest.mark.thorough
async def test_xboard_engine_plays_a_match_against_a_uci_engine(warm_cache, thorough):
    """Both sides are our engine; neither loses on time or by a crash."""
    both = [
        EngineSettings(
            sys.executable,
            word,
            ("-m", "kempelen.cli", word),
            protocol=EngineProtocol(word),
            options={memory: 4, "Move Overhead": 50},
        )
        for word, memory in (("xboard", "memory"), ("uci", "Hash"))
    ]
    time = TimeControl(base=1, increment=0.02, margin=2)
    finish, records = await play(settings(*both, games=10 if thorough else 2, time=time))
    assert finish.complete
    assert {record.termination for record in records} <= {
        Termination.CHECKMATE,
        Termination.STALEMATE,
        Termination.MATERIAL,
        Termination.REPETITION,
        Termination.FIFTY_MOVES,
    }
    assert any(move.depth for record in records for move in record.moves)


@pytest.mark.thorough
def test_short_xboard_fuzz_run_passes(warm_cache, thorough):
    script = Path(__file__).parents[2] / "benchmarks" / "xboard_fuzz.py"
    number = "20000" if thorough else "2000"
    command = [sys.executable, script, "--lines", number, "--timeout", "150"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stdout + done.stderr
