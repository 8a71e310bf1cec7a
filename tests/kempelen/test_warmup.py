"""Compilation ahead of time, by `kempelen warmup` and by make."""

import shutil
import subprocess

import pytest

from agent.chess.parts import ALPHABETA, MCTS
from agent.kernel import compilation
from agent.kernel.parts import PARTS
from kempelen.cli import main
from kempelen.commands import warmup
from tests.external import installed
from tests.support import ROOT


@pytest.fixture
def compiled(monkeypatch):
    """Return the parts compiled into an empty cache."""
    done = []
    monkeypatch.setattr(warmup, "load_kernels", lambda *parts: done.extend(parts))
    monkeypatch.setattr(compilation, "is_cached", done.__contains__)
    return done


def test_warmup_compiles_all_or_named_parts(compiled):
    assert main(["warmup", MCTS, ALPHABETA]) == 0
    assert compiled == [MCTS, ALPHABETA]
    compiled.clear()
    assert main(["warmup"]) == 0
    assert compiled == list(PARTS)


def test_warmup_fails_if_a_part_is_not_cached(compiled, monkeypatch, capsys):
    monkeypatch.setattr(warmup, "load_kernels", lambda *parts: None)
    assert main(["warmup", MCTS]) == 1
    assert "not all parts could be stored" in capsys.readouterr().err


def test_unknown_part_is_rejected(compiled, capsys):
    with pytest.raises(SystemExit) as end:
        main(["warmup", "endgames"])
    assert end.value.code == 2
    assert (
        f"unknown part 'endgames' (expected one of: {', '.join(PARTS)}" in capsys.readouterr().err
    )
    assert compiled == []


@pytest.fixture
def plan(tmp_path):
    """Return the commands that make would run in a new clone."""
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)

    def output(*targets):
        line = [installed("make"), "--dry-run", "--directory", tmp_path, *targets]
        return subprocess.run(line, capture_output=True, text=True, check=True).stdout

    return output


def test_make_run_installs_and_compiles_only_the_engine(plan, tmp_path):
    output = plan("run")
    assert "--editable . " in output
    assert "[dev]" not in output
    assert f"kempelen warmup {ALPHABETA} " in output
    # The packages for tests are installed with the other packages.
    for stamp in (".venv/bin/python", ".venv/.installed"):
        (tmp_path / stamp).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / stamp).touch()
    assert "pip install" not in plan("run")
    assert plan("test").count("pip install") == 1
    assert "--editable '.[dev]'" in plan("test")


def test_make_run_leaves_standard_output_to_the_engine(plan):
    """All other output goes to standard error before the engine starts."""
    *before, last = [
        line for line in plan("run").splitlines() if "kempelen" in line or "pip" in line
    ]
    assert last.endswith("kempelen uci")
    assert before
    assert all(line.endswith(">&2") for line in before)
