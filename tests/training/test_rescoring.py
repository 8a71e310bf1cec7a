"""Positions scored by another engine: the script that does it, with this engine as the other."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from agent.chess.selfplay_rules import Rules
from training.checking import check
from training.positions import Dataset
from training.selfplay import SelfPlayPlan, generate

SCRIPT = Path(__file__).parents[2] / "scripts" / "rescore_positions.py"
ENGINE = f"{sys.executable} -m kempelen.cli uci"
FRAIL = """
for line in iter(input, "go nodes 60"):
    print({"uci": "uciok", "isready": "readyok"}.get(line, ""), flush=True)
"""


def rescore(
    source: Path, target: Path, engine: str, *more: str
) -> subprocess.CompletedProcess[str]:
    arguments = ["--engine", engine, "--nodes", "60", "--one-in", "4", *more]
    return subprocess.run(
        [sys.executable, str(SCRIPT), str(source), "-o", str(target), *arguments],
        capture_output=True,
        text=True,
    )


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("played") / "positions"
    list(generate(path, SelfPlayPlan(Rules(nodes=30), seed=4), "test", 2_000, 1))
    return path


@pytest.fixture(scope="module")
def rescored(played: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rescored") / "positions"
    assert rescore(played, path, ENGINE, "--processes", "2").returncode == 0
    return path


def test_positions_and_results_stay_and_scores_are_new(played: Path, rescored: Path) -> None:
    with Dataset(played) as before, Dataset(rescored) as after:
        assert after.contents[0].manifest["scores"]["nodes"] == 60
        assert after.games == before.games
        assert 0.15 * len(before) < len(after) < 0.35 * len(before)
        scores = {each.tobytes()[:25]: (each["result"], each["score"]) for each in before[:]}
        kept = after[:]
    old = np.array([scores[each.tobytes()[:25]] for each in kept])
    assert (old[:, 0] == kept["result"]).all()
    assert (old[:, 1] != kept["score"]).mean() > 0.5
    scores_before, scores_after = (np.clip(each, -600, 600) for each in (old[:, 1], kept["score"]))
    assert np.corrcoef(scores_before, scores_after)[0, 1] > 0.7


def test_an_interruption_leaves_no_trace(played: Path, rescored: Path, tmp_path: Path) -> None:
    target = tmp_path / "cut"
    target.write_bytes(rescored.read_bytes()[:-100])
    assert rescore(played, target, ENGINE, "--processes", "1").returncode == 0
    assert target.read_bytes() == rescored.read_bytes()


def test_rescored_positions_are_sound(rescored: Path) -> None:
    findings = check(rescored, games=3)
    assert findings.sound
    assert findings.legality_checked > 100
    assert findings.games_replayed == 0


@pytest.mark.parametrize(
    ("engine", "reason"),
    [
        ("no-such-engine", "no-such-engine"),
        ('unclosed "quote', "No closing quotation"),
        (f"{sys.executable} -c pass", "died"),
    ],
)
def test_an_engine_that_is_none(played: Path, tmp_path: Path, engine: str, reason: str) -> None:
    done = rescore(played, tmp_path / "rescored", engine)
    assert done.returncode == 2
    assert reason in done.stderr
    assert "Traceback" not in done.stderr


def test_an_engine_that_ends_on_the_way(played: Path, tmp_path: Path) -> None:
    program = tmp_path / "frail.py"
    program.write_text(FRAIL)
    done = rescore(played, tmp_path / "rescored", f"{sys.executable} {program}")
    assert done.returncode == 2
    assert "rescore_positions: engine" in done.stderr
    assert "Traceback" not in done.stderr
