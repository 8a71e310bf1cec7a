import json
import sys
import time
from pathlib import Path

import pytest

from kempelen.match.suites.gtp_regression_command import START_TIMEOUT
from tests import in_process

FAILING = Path(__file__).parents[1] / "failing_gtp.py"

# The test engine plays on the first free vertex: A1.
SUITE = """\
boardsize 9
clear_board
reset_owl_node_counter
1 genmove black
#? [A1]
2 genmove white
#? [!B1]
3 genmove black
#? [!C1]*
4 genmove white
#? [D1]*
5 name
#? []&
"""


def regress(*arguments):
    return in_process.run("suite", *arguments)


@pytest.fixture
def suite(tmp_path):
    path = tmp_path / "suite.tst"
    path.write_text(SUITE, "utf-8")
    return path


def engine(*words):
    return " ".join((sys.executable, str(FAILING), *words))


def test_a_table_shows_passes_and_failures(suite):
    done = regress(suite, "--engine", engine("none"))
    assert done.returncode == 1, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["suite.tst", "2", "4", "50.0%", "1", "1"] in [line[:6] for line in lines]
    assert any("failed as" in line for line in done.stdout.splitlines())
    assert "!B1" in done.stdout
    assert "passed" in done.stdout


def test_json_reports_each_outcome(suite, tmp_path):
    other = tmp_path / "other.tst"
    other.write_text("clear_board\n1 genmove black\n#? [A1]\n", "utf-8")
    done = regress(suite, other, "--engine", engine(), "--json", "--", "none", "1")
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    assert found["options"] == ["none", "1"]
    assert [file["passed"] for file in found["files"]] == [2, 1]
    assert [(row["number"], row["answer"], row["outcome"]) for row in found["tests"][:4]] == [
        ("1", "A1", "passed"),
        ("2", "B1", "failed"),
        ("3", "C1", "failed as expected"),
        ("4", "D1", "passed unexpectedly"),
    ]
    assert found["tests"][4]["outcome"] == "ignored"


@pytest.mark.thorough
def test_own_engine_runs_with_options_and_a_relative_sgf(tmp_path, warm_cache):
    (tmp_path / "games").mkdir()
    game = "(;GM[1]FF[4]SZ[2]KM[0];B[aa];W[bb])"
    (tmp_path / "games" / "the one.sgf").write_text(game, "utf-8")
    path = tmp_path / "own.tst"
    path.write_text(
        "loadsgf games/the one.sgf 2\nlevel 8\n1 query_boardsize\n#? [2]\n"
        "2 all_legal b\n#? [.*A1.*]\n"
        "loadsgf games/none.sgf\n3 query_boardsize\n#? [2]\n"
        "play black Z9\nclear_board\n4 query_boardsize\n#? [2]\n"
        "5 no_such_command\n#? [!2]\n6 no_such_command\n#? [unknown command]\n"
        "boardsize 25\nclear_board\n7 query_boardsize\n#? [2]\n"
        "boardsize 3\nclear_board\n8 query_boardsize\n#? [3]\n",
        "utf-8",
    )
    done = regress(path, "--json", "--", "--playouts", 3, "--seed", 1)
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    outcomes = [row["outcome"] for row in found["tests"]]
    assert " ".join(outcomes) == "passed passed failed passed failed passed failed passed"
    assert "line 7, loadsgf games/none.sgf" in found["tests"][2]["error"]
    assert found["tests"][4]["error"] == "rejected: unknown command"
    assert "line 18, boardsize 25" in found["tests"][6]["error"]
    assert [row["line"] for row in found["refused"]] == [2, 7, 10, 18]


@pytest.mark.thorough
def test_failing_engine_fails_the_rest_of_its_suite(suite, tmp_path):
    other = tmp_path / "other.tst"
    other.write_text("1 name\n#? [.*]\n", "utf-8")
    done = regress(suite, other, "--engine", engine("dies", "2"), "--json")
    assert done.returncode == 1
    rows = json.loads(done.stdout)["tests"]
    assert [row["outcome"] for row in rows[:3]] == ["passed", "failed", "failed as expected"]
    assert "cannot go on" in rows[1]["error"]
    assert rows[-1]["outcome"] == "passed"
    done = regress(suite, "--engine", engine("hangs", "2"), "--json", "--timeout", 5)
    assert "no answer to genmove within 5 s" in json.loads(done.stdout)["tests"][1]["error"]


def test_silent_engine_times_out_at_startup(suite):
    began = time.monotonic()
    done = regress(suite, "--engine", "cat", "--timeout", 1)
    assert time.monotonic() - began < START_TIMEOUT / 4
    assert (done.returncode, done.stdout) == (2, "")
    assert "engine cat: could not start: no answer to name within 1 s" in done.stderr


def test_startup_errors_are_reported(suite, tmp_path, warm_cache):
    broken = tmp_path / "broken.tst"
    broken.write_text("1 name\n#? [(]\n", "utf-8")
    for words, reason in (
        ([tmp_path / "none.tst"], "none.tst"),
        ([broken], "broken.tst, line 2"),
        ([suite, "--engine", "no-such-engine --mode gtp"], "no-such-engine"),
        ([suite, "--engine", "'"], "--engine: "),
        ([suite, "--engine", "/bin/ls"], "engine ls: could not start"),
        ([suite, "--", "--no-such-option"], "engine Kempelen: could not start"),
        ([suite, "--timeout", "0"], "expected seconds above 0, not '0'"),
    ):
        done = regress(*words)
        assert (done.returncode, done.stdout) == (2, "")
        assert reason in done.stderr
