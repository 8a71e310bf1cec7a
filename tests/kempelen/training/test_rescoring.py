"""Test rescoring by another engine; Kempelen plays the other engine."""

import signal
import subprocess
import sys
import time
from pathlib import Path
from subprocess import CompletedProcess

import chess
import chess.engine
import numpy as np
import pytest

from agent.chess.board.packed_position import unpack_board
from agent.chess.search.selfplay_settings import SelfPlaySettings
from kempelen.training.dataset import Dataset
from kempelen.training.dataset_check import check_dataset
from kempelen.training.rescoring import _option_file_digests
from kempelen.training.selfplay import SelfPlayPlan, generate
from kempelen.training.uci_scorer import MATE_SCORE, UciScorer
from protocols.client.process import EngineError
from tests import in_process
from tests.external import program
from tests.waiting import alive, until

ENGINE = f"{sys.executable} -m kempelen.cli uci"
FEN = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
# An engine with given answers to `go`, which logs its input to standard error.
SCRIPTED = """
import sys, time
for line in sys.stdin:
    line = line.strip()
    print(line, file=sys.stderr, flush=True)
    if line == "uci":
        print("id name Scripted\\noption name UCI_Chess960 type check default false")
        print("option name Hash type spin default 1\\nuciok", flush=True)
    elif line == "isready":
        print("readyok", flush=True)
    elif line.startswith("go"):
        {answer}
        print("bestmove e1g1", flush=True)
    elif line == "quit":
        break
"""


def rescore(source: Path, target: Path, engine: str, *more: str) -> CompletedProcess[str]:
    arguments = ["--engine", engine, "--nodes", "60", "--sample-every", "4", *more]
    return in_process.run("train", "data", "rescore", source, "-o", target, *arguments)


def scripted(folder: Path, answer: str) -> str:
    """Write an engine script; return the command that starts it."""
    path = folder / "scripted.py"
    path.write_text(SCRIPTED.format(answer=answer))
    return f"{sys.executable} {path}"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("played") / "positions"
    list(
        generate(path, SelfPlayPlan(SelfPlaySettings(nodes=30), 4, "handcrafted"), "test", 2_000, 1)
    )
    return path


@pytest.fixture(scope="module")
def rescored(played: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rescored") / "positions"
    done = rescore(played, path, ENGINE, "--processes", "2")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{path}: ")
    return path


@pytest.mark.thorough
def test_rescoring_keeps_positions_and_changes_scores(played: Path, rescored: Path) -> None:
    with Dataset(played) as before, Dataset(rescored) as after:
        scores = after.contents[0].manifest["scores"]
        assert scores["nodes"] == 60
        assert scores["engine"].startswith("Kempelen")
        assert after.games == before.games
        assert 0.15 * len(before) < len(after) < 0.35 * len(before)
        known = {each.tobytes()[:25]: (each["result"], each["score"]) for each in before[:]}
        kept = after[:]
    old = np.array([known[each.tobytes()[:25]] for each in kept])
    assert (old[:, 0] == kept["result"]).all()
    assert (old[:, 1] != kept["score"]).mean() > 0.5
    scores_before, scores_after = (np.clip(each, -600, 600) for each in (old[:, 1], kept["score"]))
    assert np.corrcoef(scores_before, scores_after)[0, 1] > 0.7


@pytest.mark.thorough
def test_rescoring_by_depth_records_its_limits(played: Path, tmp_path: Path) -> None:
    arguments = ["--engine", ENGINE, "--depth", "2", "--sample-every", "9", "--processes", "1"]
    for more, ends in (([], {"depth": 2}), (["--nodes", "9"], {"depth": 2, "nodes": 9})):
        target = tmp_path / f"{len(more)}"
        done = in_process.run("train", "data", "rescore", played, "-o", target, *arguments, *more)
        assert done.returncode == 0, done.stderr
        with Dataset(target) as after:
            scores = after.contents[0].manifest["scores"]
            assert {each: scores[each] for each in ("depth", "nodes") if each in scores} == ends
            reached = after[:]["depth"]
        assert (reached == 2).mean() > 0.9 if not more else (reached == 1).any()


@pytest.mark.thorough
def test_interrupted_rescoring_is_completed_identically(
    played: Path, rescored: Path, tmp_path: Path
) -> None:
    target = tmp_path / "cut"
    target.write_bytes(rescored.read_bytes()[:-100])
    assert rescore(played, target, ENGINE, "--processes", "1").returncode == 0
    assert target.read_bytes() == rescored.read_bytes()


def test_rescored_file_passes_check(rescored: Path) -> None:
    findings = check_dataset(rescored, games=3)
    assert findings.is_valid
    assert findings.legality_checked > 100
    assert findings.games_replayed == 0
    checked = in_process.run("train", "data", "check", rescored, "--games", 2)
    assert (checked.returncode, checked.stdout.count("\n")) == (0, 3), checked.stderr
    assert "no games replayed" in checked.stderr


@pytest.mark.needs("stockfish")
def test_scores_match_analysis_by_python_chess(played: Path) -> None:
    stockfish = program("stockfish")
    with Dataset(played) as dataset:
        boards = [unpack_board(position) for position in dataset[:400:50]]
    with (
        UciScorer(stockfish, {"Hash": "4"}, 60) as teacher,
        chess.engine.SimpleEngine.popen_uci(stockfish) as engine,
    ):
        engine.configure({"Hash": 4})
        for number, board in enumerate(boards):
            teacher.new_game()
            found = teacher.score(board.fen(en_passant="fen"), False, 3000)
            with engine.analysis(board, chess.engine.Limit(nodes=3000), game=number) as lines:
                exact = [
                    (each["score"].relative.score(mate_score=MATE_SCORE), each["depth"])
                    for each in lines
                    if "score" in each and not {"lowerbound", "upperbound"} & each.keys()
                ]
            assert found == exact[-1]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("info depth 7 score cp -31 nodes 4 pv e1g1", (-31, 7)),
        ("info score mate 3 depth 300", (MATE_SCORE - 3, 255)),
        ("info depth 4 score mate -2", (-MATE_SCORE + 2, 4)),
        ("info depth 0 score mate 0", (-MATE_SCORE, 0)),
        ("info depth 9 score cp 99999", (MATE_SCORE, 9)),
        ("info depth 3 score cp 5\\ninfo depth 4 score cp 90 upperbound nodes 3", (5, 3)),
        ("info depth 4 score cp 90 lowerbound nodes 3", (90, 4)),
        ("info depth 3 score cp 5\\ninfo string score cp 8\\nnoise", (5, 3)),
        ("info depth 3 multipv 1 score cp 5\\ninfo depth 3 multipv 2 score cp -8", (5, 3)),
    ],
)
def test_last_exact_score_is_used(tmp_path: Path, said: str, expected: tuple[int, int]) -> None:
    with UciScorer(scripted(tmp_path, f'print("{said}")'), {}, 10) as teacher:
        teacher.new_game()
        assert teacher.score(FEN, False, 100) == expected


def test_engine_receives_expected_uci_commands(tmp_path: Path) -> None:
    answer = 'print("info depth 1 score cp 1")'
    with UciScorer(scripted(tmp_path, answer), {"hash": "3"}, 10) as teacher:
        assert teacher.name == "Scripted"
        teacher.new_game()
        teacher.score("one", False, 100)
        teacher.score("two", True, 100)
        teacher.score("three", True, 100)
        teacher.score("four", True, depth=6)
        teacher.score("five", True, 100, 6)
    words = bytes(teacher._stderr_tail).decode().splitlines()
    assert words == [
        *("uci", "setoption name hash value 3", "isready", "ucinewgame", "isready"),
        *("setoption name UCI_Chess960 value false", "position fen one", "go nodes 100"),
        *("setoption name UCI_Chess960 value true", "position fen two", "go nodes 100"),
        *("position fen three", "go nodes 100"),
        *("position fen four", "go depth 6", "position fen five", "go nodes 100 depth 6", "quit"),
    ]


@pytest.mark.parametrize(
    ("engine", "reason"),
    [
        ("no-such-engine", "no-such-engine"),
        ('unclosed "quote', "No closing quotation"),
        ("", "program not found"),
        (f"{sys.executable} -c pass", "ended with status 0"),
        (f"{sys.executable} -c 'raise SystemExit(\"no licence\")'", "ended with status 1: no lice"),
    ],
)
def test_engine_that_does_not_start_is_reported(
    played: Path, tmp_path: Path, engine: str, reason: str
) -> None:
    done = rescore(played, tmp_path / "rescored", engine)
    assert done.returncode == 2
    assert done.stderr.startswith("kempelen train data: ")
    assert reason in done.stderr
    assert not (tmp_path / "rescored").exists()


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("print('cannot go on', file=sys.stderr); sys.exit(3)", "ended with status 3: cannot go"),
        ("time.sleep(60)", "timed out and was killed"),
        ("while True: print('info string noise ' * 50)", "timed out and was killed"),
        ("pass", "returned no score for "),
        ("print('info depth x score cp much')", "last output: 'info depth x score cp much'"),
        ("import os; os.kill(os.getpid(), 9)", "was killed by signal 9"),
        ("import os; os.close(1); time.sleep(60)", "closed its output"),
    ],
)
def test_engine_failure_during_search_is_reported(
    played: Path, tmp_path: Path, answer: str, reason: str
) -> None:
    engine = scripted(tmp_path, answer)
    done = rescore(played, tmp_path / "rescored", engine, "--timeout", "2", "--processes", "1")
    assert done.returncode == 2
    assert done.stderr.startswith(f"kempelen train data: {engine}: the engine ")
    assert reason in done.stderr


def test_unknown_engine_option_is_rejected(played: Path, tmp_path: Path) -> None:
    engine = scripted(tmp_path, "pass")
    done = rescore(played, tmp_path / "rescored", engine, "--option", "Contempt=20")
    assert done.returncode == 2
    assert "has no option Contempt" in done.stderr


def test_chess960_positions_need_engine_with_chess960_option(tmp_path: Path) -> None:
    engine = scripted(tmp_path, "print('info depth 1 score cp 1')")
    program_file = tmp_path / "scripted.py"
    program_file.write_text(program_file.read_text().replace("UCI_Chess960", "Ponder"))
    with UciScorer(engine, {}, 10) as teacher:
        assert teacher.score(FEN, False, 1) == (1, 1)
        with pytest.raises(EngineError, match="has no option UCI_Chess960"):
            teacher.score(FEN, True, 1)


def test_idle_time_between_positions_is_no_timeout(tmp_path: Path) -> None:
    engine = scripted(tmp_path, "print('info depth 1 score cp 1')")
    with UciScorer(engine, {}, 0.5) as teacher:
        for _ in range(2):
            time.sleep(1.0)
            assert teacher.score(FEN, False, 1) == (1, 1)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere engines end as their input does")
def test_engines_end_when_command_is_killed(played: Path, tmp_path: Path) -> None:
    note = tmp_path / "engine.pid"
    answer = f"import os; open({str(note)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    engine = scripted(tmp_path, answer)
    words = [
        "train",
        "data",
        "rescore",
        str(played),
        "-o",
        str(tmp_path / "out"),
        "--engine",
        engine,
    ]
    settings = ["--nodes", "5", "--processes", "1", "--timeout", "3"]
    run = subprocess.Popen([sys.executable, "-m", "kempelen.cli", *words, *settings])
    assert until(lambda: note.exists() and note.read_text())
    run.send_signal(signal.SIGKILL)
    run.wait()
    assert until(lambda: not alive(int(note.read_text())))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("option", "reason"),
    [
        ("Evaluation=nnue:typo.nnue", "typo.nnue: No such file"),
        ("Evaluation={failing}:evaluate", "failing.py:evaluate failed: ZeroDivisionError"),
        ("Skill Level=99", "option Skill Level: invalid value 99 (expected a number from 0 to 20)"),
    ],
)
def test_kempelen_with_invalid_option_stops_rescoring(
    played: Path, tmp_path: Path, option: str, reason: str
) -> None:
    failing = tmp_path / "failing.py"
    failing.write_text("def evaluate(board):\n    return 1 // 0\n")
    words = "--processes", "1", "--option", option.format(failing=failing)
    done = rescore(played, tmp_path / "rescored", ENGINE, *words)
    assert done.returncode == 2
    assert reason in done.stderr


@pytest.mark.thorough
def test_changed_file_named_by_option_is_rejected_on_resume(played: Path, tmp_path: Path) -> None:
    own, target = tmp_path / "own.py", tmp_path / "rescored"
    words = ENGINE, "--sample-every", "500", "--option", f"Evaluation={own}:evaluate"
    assert _option_file_digests({"Name": "x" * 5000}) == {}
    own.write_text("def evaluate(board):\n    return 1\n")
    assert rescore(played, target, *words, "--processes", "1").returncode == 0
    assert rescore(played, target, *words, "--processes", "1").returncode == 0
    own.write_text("def evaluate(board):\n    return 2\n")
    done = rescore(played, target, *words, "--processes", "1")
    assert done.returncode == 2
    assert "scores.files" in done.stderr
