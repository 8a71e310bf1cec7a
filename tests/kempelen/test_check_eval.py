"""`kempelen check-eval`: reports, matches and errors."""

import json
import re
import subprocess
import sys
from argparse import ArgumentParser
from dataclasses import replace

import pytest

from agent.chess.evaluation.loading import load as load_of_chess
from agent.evaluation import load
from kempelen.cli import main
from kempelen.commands import check_eval
from kempelen.training import evaluation_check
from tests.random_network import random_network
from tests.support import ROOT

MINE = """
import chess
from agent.evaluation import batched, evaluator

def good(board):
    return sum(
        1 if piece.color == board.turn else -1 for piece in board.piece_map().values()
    )

def whites(board):
    return good(board) * (1 if board.turn else -1)

def greedy(board):
    return 20_000 * good(board)

def flat(board):
    return 0

def fails(board):
    return [][0]

def deeper(board, depth):
    return 0

def endless(board):
    while True:
        pass

def runs(game):
    return 1 / len(list(game.moves()))

@evaluator
def five(worker, ply):
    return 5

@evaluator
def board_only(board):
    return 5

@evaluator
def unknown(worker, ply):
    return worker.no_such_field

@evaluator
def spinning(worker, ply):
    n = ply + 1
    while n != 0:
        n = (n * 3 + 1) % 1000003 + 1
    return n

WORTH = 5

@batched(size=8)
def many(batch):
    return [0] * len(batch)
"""


@pytest.fixture(autouse=True)
def hasty(monkeypatch):
    monkeypatch.setattr(evaluation_check, "CALL_BENCH_SECONDS", 0.01)
    monkeypatch.setattr(evaluation_check, "SEARCH_BENCH_SECONDS", 0.05)


@pytest.fixture
def attempt(tmp_path, capsys):
    """Check a function of the file; return the exit status and the output."""
    file = tmp_path / "mine.py"
    file.write_text(MINE)

    def run(name, *arguments):
        try:
            status = main(["check-eval", name.format(file=file), *map(str, arguments)])
        except SystemExit as stop:
            status = stop.code
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return run


def arguments_of(*words):
    parser = ArgumentParser()
    check_eval.configure(parser)
    return parser.parse_args(words)


def test_valid_evaluation_passes(attempt):
    status, out, err = attempt("{file}:good", "--no-match")
    assert (status, err) == (0, "")
    assert "mine.py:good: a Python function of a chess.Board" in out
    assert "no call failed" in out
    assert re.search(r"values from -\d+ to \d+ centipawns, type int", out)
    assert "  symmetric: " in out
    assert re.search(r"[\d,]+ calls per second\n", out)
    assert re.search(r"[\d,]+ nodes per second; [\d,]+ with the included evaluation", out)
    assert "compiled into the search" in attempt("{file}:five", "--no-match")[1]


@pytest.mark.thorough(keep=2)
@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("whites", r"not symmetric: on \d+ of \d+ positions"),
        ("whites", r"\n    -?[\d,]+, swapped -?[\d,]+: \S+ [wb] "),
        ("whites", "expected: for the side to move"),
        ("greedy", r"\d+ values beyond the limit of ±29,000 are clipped"),
        ("flat", "all values are the same"),
    ],
)
def test_suspicious_evaluation_is_reported(attempt, name, found):
    status, out, _ = attempt(f"{{file}}:{name}", "--no-match")
    assert status == 0
    assert re.search(found, out)


@pytest.mark.thorough
def test_failing_evaluation_prevents_the_match(attempt):
    status, out, err = attempt("{file}:fails")
    assert status == 1
    assert "IndexError: list index out of range (mine.py, line 20)" in out
    assert "first on rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1:" in out
    assert re.search(r"(\d+) of \1 calls failed; no match is played until all succeed", err)
    assert "match" not in attempt("{file}:fails", "--no-match")[2]


@pytest.mark.parametrize(
    ("name", "arguments", "status", "message"),
    [
        ("{file}x:good", [], 2, "mine.pyx:good' failed|No module named|mine.pyx"),
        ("missing.py:f", [], 2, "missing.py does not exist"),
        (
            "{file}",
            [],
            2,
            "invalid name .expected 'handcrafted', 'nnue:FILE', 'module:function' or",
        ),
        ("{file}:none", [], 2, "unknown function 'none' .defined: .*good"),
        ("{file}:WORTH", [], 2, "unknown function 'WORTH'"),
        ("{file}:deeper", [], 2, r"wrong arguments .*\(position\).*missing .*'depth'"),
        ("{file}:board_only", [], 2, r"wrong arguments .*\(worker, ply\), but takes \(boa"),
        ("{file}:unknown", [], 2, "cannot be compiled: .*no_such_field"),
        ("{file}:good", ["--games", "0"], 2, "expected a whole number above 0, not '0'"),
        ("{file}:good", ["--tc", "soon"], 2, "expected moves/base"),
        ("{file}:good", ["--game", "chass"], 2, "unknown game 'chass'"),
        ("{file}:good", ["--size", "6"], 2, "--size, --komi and --option are for other games"),
        ("{file}:good", ["--algorithm", "mcts"], 2, "--algorithm is only for other games"),
        ("{file}:five", ["--game", "othello"], 2, "compiled evaluations are not supported"),
        ("{file}:runs", ["--game", "nim", "--algorithm", "fly"], 2, "unknown algorithm 'fly'"),
        ("{file}:runs", ["--game", "nim", "--option", "sise=3"], 2, "sise"),
    ],
)
def test_invalid_arguments_are_rejected(attempt, name, arguments, status, message):
    found, out, err = attempt(name, *arguments)
    assert (found, out) == (status, "")
    assert re.search(message, err.replace("\n", " "))


def test_endless_evaluation_times_out(attempt, monkeypatch):
    monkeypatch.setattr(evaluation_check, "CALL_TIMEOUT", 0.5)
    status, out, err = attempt("{file}:endless")
    assert (status, out) == (1, "")
    assert re.search(r"endless on rnbq\S* .*: timed out after 0\.5 s", err)


@pytest.mark.thorough
def test_match_is_resumed(attempt, tmp_path):
    line = ["{file}:five", "--nodes", "20", "--ledger", tmp_path / "ledger", "--seed", "3"]
    status, out, _ = attempt(*line, "--games", "2")
    assert status == 0
    assert re.search(r"five against material: \+\d+ =\d+ -\d+, Elo .* ± ", out)
    status, out, err = attempt(*line, "--games", "4", "--json", "--resume")
    assert status == 0
    assert "resuming after 2 games" in err
    report, match = map(json.loads, out.splitlines())
    assert report["event"] == "evaluation_examined"
    assert (report["failed"], report["highest"]) == (0, 5)
    assert match["summary"]["players"] == ["five", "material"]
    assert match["summary"]["played"] == 4
    assert attempt(*line, "--games", "4")[0] == 2


@pytest.mark.thorough
def test_evaluation_plays_against_the_shipped_one(attempt):
    status, out, _ = attempt("{file}:flat", "--nodes", "20", "--games", "2", "--against", "shipped")
    assert status == 0
    assert "flat against shipped: " in out


def test_evaluation_of_another_game_is_tried(attempt):
    line = ["{file}:runs", "--game", "othello", "--size", "4", "--nodes", "9", "--games", "2"]
    status, out, _ = attempt(*line)
    assert status == 0
    assert "a Python function of a game" in out
    assert "runs against nothing: " in out


def test_edited_file_changes_the_match_name(tmp_path):
    file = tmp_path / "mine.py"
    arguments = arguments_of(f"{file}:good", "--games", "7", "--seed", "3")

    def settings(text):
        file.write_text(text)
        return check_eval.match_settings(arguments, {}, load(f"{file}:good"))

    first = settings(MINE)
    assert (first.games, first.seed, str(first.time)) == (7, 3, check_eval.TIME_CONTROL)
    assert [dict(each.options) for each in first.engines] == [
        {"Evaluation": f"{file}:good"},
        {"Evaluation": check_eval.PLAIN_MATERIAL},
    ]
    assert settings(MINE) == first
    other = settings(MINE + "# edited\n")
    assert other.name != first.name
    assert replace(other, name=first.name) == first


def test_batched_evaluation_makes_both_sides_use_mcts(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(MINE)
    arguments = arguments_of(f"{file}:many")
    match = check_eval.match_settings(arguments, {}, load(f"{file}:many"))
    assert [dict(each.options) for each in match.engines] == [
        {"Evaluation": f"{file}:many", "Search": "mcts"},
        {"Evaluation": check_eval.PLAIN_MATERIAL, "Search": "mcts"},
    ]


def test_batched_evaluation_of_another_game_uses_mcts(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(MINE)
    arguments = arguments_of(f"{file}:many")
    game = {"name": "othello", "options": {}}
    match = check_eval.match_settings(arguments, game, load(f"{file}:many"))
    assert [each.command for each in match.engines] == ["mcts"] * 2


@pytest.mark.thorough
def test_output_of_the_evaluation_goes_to_stderr(tmp_path):
    (tmp_path / "mine.py").write_text(
        "print('noise')\ndef loud(game):\n    print('more noise')\n    return 0\n"
    )
    done = subprocess.run(
        [
            *(sys.executable, "-m", "kempelen.cli", "check-eval", "mine.py:loud", "--game", "nim"),
            *("--no-match", "--json"),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
    )
    assert json.loads(done.stdout)["event"] == "evaluation_examined"
    assert "more noise" in done.stderr


@pytest.mark.thorough
def test_endless_compiled_evaluation_times_out(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(MINE)
    code = (
        "import sys; from kempelen.training import evaluation_check as check; "
        "check.CALL_TIMEOUT = 0.5;"
        "from kempelen.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", code, "check-eval", f"{file}:spinning", "--no-match"]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert "timed out after 0.5 s" in done.stderr


def test_network_match_is_named_by_file_name_and_content(tmp_path):
    folder = tmp_path / "nets+1"
    folder.mkdir()
    names = set()
    for seed in (1, 2):
        random_network(32, 1, seed).write(folder / "my#net.nnue")
        spec = f"nnue:{folder}/my#net.nnue"
        match = check_eval.match_settings(arguments_of(spec), {}, load_of_chess(spec))
        assert match.engines[0].name == "mynet.nnue"
        names.add(match.name)
    assert len(names) == 2
    assert all(re.fullmatch(r"mynet\.nnue \w{12} against material", name) for name in names)
