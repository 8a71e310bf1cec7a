"""Positions scored by another engine: the script that does it, with this engine as the other."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from agent.selfplay import Rules
from training.positions import Dataset
from training.selfplay import Plan, generate

SCRIPT = Path(__file__).parents[2] / "scripts" / "rescore_positions.py"
ENGINE = f"{sys.executable} -m kempelen.cli uci"


def rescore(source: Path, target: Path, engine: str) -> subprocess.CompletedProcess[str]:
    arguments = ["--engine", engine, "--nodes", "60", "--one-in", "4"]
    return subprocess.run(
        [sys.executable, str(SCRIPT), str(source), "-o", str(target), *arguments],
        capture_output=True,
        text=True,
    )


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("played") / "positions"
    list(generate(path, Plan(Rules(nodes=30), seed=4), "test", 2_000, 2))
    return path


def test_positions_and_results_stay_and_scores_are_new(played: Path, tmp_path: Path) -> None:
    target = tmp_path / "rescored"
    assert rescore(played, target, ENGINE).returncode == 0
    with Dataset(played) as before, Dataset(target) as after:
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

    written = target.read_bytes()
    assert rescore(played, target, ENGINE).returncode == 0
    assert target.read_bytes() == written


def test_an_engine_that_is_none(played: Path, tmp_path: Path) -> None:
    done = rescore(played, tmp_path / "rescored", "no-such-engine")
    assert done.returncode == 2
    assert "no-such-engine" in done.stderr
