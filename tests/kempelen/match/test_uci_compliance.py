"""`kempelen match --compliance`: what is wrong with the UCI of an engine."""

import json
import sys
from itertools import pairwise
from pathlib import Path

import pytest

import kempelen.match.suites.uci_compliance as compliance
from kempelen.cli import main
from protocols.client.process import EngineProcess
from tests.external import program
from tests.support import failing

COMPLIANT = Path(__file__).parents[2] / "compliant_engine.py"
INFO = "info depth 1"


@pytest.fixture(autouse=True)
def _short_searches(monkeypatch):
    monkeypatch.setattr(compliance, "INFINITE_TIME", 0.02)


def check(capsys, *line, options=""):
    """Return the exit status and the failed steps: descriptions and details."""
    words = "args=" + " ".join(f'"{word}"' for word in line[1:]).replace(",", "\\,")
    status = main(["match", "--json", "--compliance", f"cmd={line[0]},{words}{options}"])
    found = json.loads(capsys.readouterr().out)
    assert found["passed"] is (status == 0)
    return status, {
        s["description"]: s["detail"] for s in found["steps"] if s["outcome"] == "failed"
    }


def test_compliant_engine_passes_every_step(capsys):
    assert main(["match", "--compliance", f"{sys.executable} {COMPLIANT}"]) == 0
    *steps, last = capsys.readouterr().out.splitlines()
    assert last == f"Compliant: 0 of {len(compliance.STEPS)} steps failed"
    assert len(steps) == len(compliance.STEPS)
    assert all(line.startswith("passed ") for line in steps)


def test_steps_for_missing_options_are_skipped(capsys):
    assert check(capsys, sys.executable, COMPLIANT, "name Ponder", "name Other") == (0, {})
    assert main(["match", "--compliance", f"{sys.executable} {COMPLIANT} MultiPV Lines"]) == 0
    assert "skipped 27 MultiPV 3: no option MultiPV" in capsys.readouterr().out


@pytest.mark.thorough(keep=3)
@pytest.mark.parametrize(
    ("old", "new", "step", "detail"),
    [
        ("id author Tests", "", "send id name and id author", "missing id author"),
        ("default 16", "default 99", "declare valid options", "default must be from 1 to 64"),
        ("readyok", "ready", compliance.STEPS[0][0], "no readyok within 0.5 s"),
        ("default 16 min 1", "min 1", "declare valid options", "must be numbers"),
        ("default Solid", "default Odd", "declare valid options", "default must be one of"),
        ("Ponder type check", "Ponder type spin", "declare valid options", "type must be check"),
        ("type button", "type knob", "declare valid options", "unknown type"),
        ("name Clear Hash", "name Hash", "declare valid options", "declared twice"),
        ("pv a2a3", "pv a2a5", "go nodes 1000", "illegal move 'a2a5'"),
        ("hashfull 0", "hashfull 1001", "go nodes 1000", "at most 1000"),
        ("depth 1", "depth x", "go nodes 1000", "depth must be a number"),
        ("score cp 7", "score 7", "go nodes 1000", "score must be cp NUMBER"),
        ("score cp 7", "", "go nodes 1000", "no info line with a score"),
        ("bestmove a2a3", "bestmove a3", "go nodes 1000", "illegal move 'a3'"),
        ("bestmove a2a3", "bestmove A2A3", "go nodes 1000", "illegal move 'A2A3'"),
        ("ponder a7a5", "ponder a7a1", "go nodes 1000", "illegal move 'a7a1'"),
        ("ponder", "then", "go nodes 1000", "expected bestmove MOVE [ponder MOVE]"),
        ("bestmove a2a3", "bestmove a2a3\\nbestmove h2h3", "go nodes 1000", "without a search"),
        ("(none)", "e1e2", "checkmate: bestmove (none)", "no move is legal"),
        ("bestmove g8f6", "bestmove f8f7", "castling in position ... moves", "illegal move"),
        ("multipv 3", "multipv 1", "MultiPV 3", "three lines with different moves"),
    ],
)
def test_fault_fails_the_step_that_shows_it(capsys, monkeypatch, old, new, step, detail):
    if old == "readyok":  # this limit only, because the start of the engine takes time
        ready = compliance._Session.ready
        monkeypatch.setattr(
            compliance._Session, "ready", lambda session, limit: ready(session, 0.5)
        )
    status, failed = check(capsys, sys.executable, COMPLIANT, old, new)
    assert status == 1
    assert detail in failed[step]


def delay_searches(monkeypatch, delay):
    """Let searches seem to take as many seconds as `delay` returns for a search."""
    search_once = compliance._Session._search_once

    async def search_late(session, *search):
        move, found, _ = await search_once(session, *search)
        return move, found, delay(search)

    monkeypatch.setattr(compliance._Session, "_search_once", search_late)


@pytest.mark.parametrize(
    ("seconds", "message"),
    [(5, "bestmove 4.9 s late (late in all 5 attempts)"), (60, "bestmove 59.9 s late")],
)
def test_engine_that_is_always_late_fails(capsys, monkeypatch, seconds, message):
    delay_searches(monkeypatch, lambda search: seconds)
    status, failed = check(capsys, sys.executable, COMPLIANT)
    assert status == 1
    assert failed["go movetime 100"] == message
    assert {"1 ms on the clock", "go ponder and stop"} < failed.keys()
    assert "go nodes 1000" not in failed  # without a clock
    assert "MultiPV 3" not in failed


def test_engine_is_not_blamed_for_one_late_search(capsys, monkeypatch):
    seen = set()

    def first_is_late(search):
        is_first = search not in seen
        seen.add(search)
        return 5 if is_first else 0

    delay_searches(monkeypatch, first_is_late)
    assert check(capsys, sys.executable, COMPLIANT) == (0, {})


def test_late_search_is_repeated_in_a_new_game(capsys, monkeypatch):
    """The engine must not answer from what it knows of the late search."""
    sent = []
    send = EngineProcess.send
    monkeypatch.setattr(
        EngineProcess, "send", lambda process, line: (sent.append(line), send(process, line))
    )
    delay_searches(monkeypatch, lambda search: 5)
    check(capsys, sys.executable, COMPLIANT)
    searches = [place for place, line in enumerate(sent) if line == "go movetime 100"]
    assert len(searches) == 5
    assert all("ucinewgame" in sent[a:b] for a, b in pairwise(searches))


def test_answers_before_stop_and_crashes_are_reported(capsys):
    status, failed = check(capsys, failing("none")[0], *failing("none")[1])
    assert status == 1
    infinite = failed["go infinite, isready and stop: no bestmove before stop"]
    assert infinite == "bestmove a2a3: sent before stop"
    assert "ended with status 1: ValueError" in failed["checkmate: bestmove (none)"]


@pytest.mark.parametrize("failure", ["dies-at-once", "no-uciok"])
def test_engine_that_does_not_start_fails_the_first_step_only(capsys, failure):
    command, words = failing(failure)
    limits = ",start_limit=0.5" if failure == "no-uciok" else ""
    status, failed = check(capsys, command, *words, options=limits)
    assert status == 1
    reason = {"dies-at-once": "no licence found", "no-uciok": "no uciok within 0.5 s"}[failure]
    assert list(failed) == [compliance.STEPS[0][0]]
    assert reason in failed[compliance.STEPS[0][0]]


def test_invalid_engine_is_a_usage_error(capsys):
    for text, message in [
        ("/no/such/engine", "program not found"),
        ("cmd=x,option.Hash", "invalid entry"),
        ("cmd=gnugo,proto=gtp", "protocol must be uci (got gtp)"),
        (f"cmd={sys.executable},args={COMPLIANT},option.Nothing=1", "unknown option Nothing"),
    ]:
        assert main(["match", "--compliance", text]) == 2
        assert message in capsys.readouterr().err
    assert main(["match", "--compliance", "x", "--games", "2"]) == 2
    assert "--games: not allowed with --compliance" in capsys.readouterr().err


@pytest.mark.thorough
@pytest.mark.needs("stockfish")
def test_stockfish_and_kempelen_pass(capsys):
    assert check(capsys, program("stockfish")) == (0, {})
    assert check(capsys, sys.executable, "-m", "kempelen", "uci") == (0, {})
