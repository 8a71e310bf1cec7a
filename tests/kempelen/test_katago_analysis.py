"""`kempelen katago-analysis`: its options, KataGo's flags, the end of input."""

import json
import subprocess
import sys

import pytest

from agent.machine import usable_cores
from tests import in_process
from tests.waiting import PATIENCE

QUICK = ("--algorithm", "mcts", "--seed", "1")


def query(name, **fields):
    usual = {"moves": [], "rules": "chinese", "boardXSize": 5, "boardYSize": 5}
    return json.dumps({"id": name, **usual, **fields}) + "\n"


def analysis(text, *arguments):
    return in_process.run("katago-analysis", *QUICK, *arguments, text=text)


def answers(done):
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_all_queries_are_answered_after_end_of_input():
    """Run as a process with pipes."""
    moves = [["B", "C3"], ["W", "C4"]]
    text = query("a", moves=moves, analyzeTurns=[0, 1, 2]) + '{"id":"v","action":"query_version"}'
    done = subprocess.run(
        [sys.executable, "-m", "kempelen.cli", "katago-analysis", *QUICK, "--visits", "20"],
        input=text,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert (done.returncode, done.stderr) == (0, "")
    found = answers(done)
    assert [each["turnNumber"] for each in found if each["id"] == "a"] == [0, 1, 2]
    assert all(each["rootInfo"]["visits"] == 20 for each in found if each["id"] == "a")
    assert len(found) == 4


def test_quit_without_waiting_drops_pending_queries():
    text = query("a", maxVisits=10**9) + query("b", maxVisits=10**9)
    for flag in ("--quit-without-waiting", "-quit-without-waiting"):
        done = analysis(text, flag)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("side", "moves", "high"),
    [("black", [], True), ("white", [], False), ("side", [], True), ("side", [["B", "A1"]], False)],
)
def test_winrate_is_reported_for_the_chosen_side(side, moves, high):
    """Komi makes Black win."""
    done = analysis(query("a", komi=-30, moves=moves), "--report-as", side, "--visits", "5")
    (answer,) = answers(done)
    assert answer["rootInfo"]["winrate"] == (1.0 if high else 0.0)


def test_katago_arguments_from_katrain_are_accepted():
    words = [
        "-model",
        "net.bin.gz",
        "-config",
        "analysis.cfg",
        "-analysis-threads",
        "500",
        "--threads",
        "2",
    ]
    override = ["-override-config", "homeDataDir=/x,maxVisits=3,reportAnalysisWinratesAs=WHITE"]
    done = analysis(query("a", komi=-30), *words, *override)
    assert done.returncode == 0
    assert done.stderr.splitlines() == [
        f"kempelen katago-analysis: --analysis-threads limited to {usable_cores()}, the number of "
        "cores",
        "kempelen katago-analysis: -override-config: homeDataDir: ignored",
        "kempelen katago-analysis: -config analysis.cfg: ignored",
        "kempelen katago-analysis: -model net.bin.gz: ignored",
        "kempelen katago-analysis: Started, ready to begin handling requests",
    ]
    (answer,) = answers(done)
    assert (answer["rootInfo"]["visits"], answer["rootInfo"]["winrate"]) == (3, 0.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--algorithm", "luck"], "unknown algorithm 'luck'"),
        (["--algorithm", "alpha-beta"], "alpha-beta: does not report visits of moves"),
        (["--visits", "0"], "expected a whole number above 0"),
        (["--report-as", "red"], "invalid choice: 'red'"),
        (
            ["-override-config", "maxVisits=x"],
            "-override-config: maxVisits: invalid value x (expected a number from 1",
        ),
        (
            ["-override-config", "reportAnalysisWinratesAs=RED"],
            "(expected BLACK, WHITE or SIDETOMOVE)",
        ),
    ],
)
def test_wrong_arguments_are_refused(arguments, message):
    done = in_process.run("katago-analysis", *arguments, text=query("a"))
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stdout == ""


def test_a_line_that_is_too_long_is_dropped():
    done = analysis("x" * (5 << 20) + "\n" + query("a", maxVisits=2))
    error, answer = answers(done)
    assert error == {"error": "Line too long, ignoring"}
    assert answer["rootInfo"]["visits"] == 2


def test_nothing_heavy_is_imported_before_a_query_is_read():
    code = "import sys, kempelen.commands.katago_analysis\n"
    code += "from protocols.katago_analysis.protocol import AnalysisEngine\n"
    code += "list(AnalysisEngine('', print, print).handle_line('[]'))\n"
    code += "sys.exit(' '.join(n for n in ('numba', 'numpy', 'rich') if n in sys.modules) or 0)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
