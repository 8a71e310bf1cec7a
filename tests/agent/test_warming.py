"""The kernel on its way into a process: from a cold, warm or read-only cache, beside others."""

import json
import os
import sys
from pathlib import Path

import pytest

from agent import kernel, warming
from agent.parts import PARTS
from tests.support import ROOT
from tests.support import compiling_python as python

LOAD = """
import json
from agent import kernel, warming
warm = warming.is_warm()
warming.load()
from agent.chess.rules import perft
import chess
print(json.dumps([warm, kernel.compiled, kernel.loaded, perft(chess.Board(), 3)]))
"""


def test_two_processes_on_an_empty_cache_then_a_third_on_a_read_only_one(tmp_path: Path) -> None:
    pair = [python(LOAD, tmp_path) for _ in range(2)]
    for process in pair:
        output, _ = process.communicate(timeout=600)
        warm, compiled, loaded, leaves = json.loads(output)
        assert not warm
        assert compiled or loaded
        assert "agent.chess.handcrafted.handcrafted" in loaded or os.cpu_count() == 1
        assert leaves == 8902
    files = sorted(tmp_path.rglob("*"))
    assert not [file for file in files if file.suffix == ".tmp"]
    for file in [tmp_path, *files]:
        file.chmod(0o555 if file.is_dir() else 0o444)
    output, _ = python(LOAD, tmp_path).communicate(timeout=600)
    for file in [tmp_path, *files]:
        file.chmod(0o755 if file.is_dir() else 0o644)
    warm, compiled, loaded, leaves = json.loads(output)
    assert warm
    assert compiled == []
    assert len(loaded) == len(set(loaded)) > 5
    assert leaves == 8902
    assert sorted(tmp_path.rglob("*")) == files


@pytest.mark.parametrize("part", PARTS)
def test_this_process_runs_on_a_warm_cache(part: str) -> None:
    """`make test` warms the cache first, so that no test waits for the compiler."""
    warming.load(part)
    assert warming.is_warm(part)


def test_a_part_that_is_not_chosen_is_not_imported() -> None:
    process = python(
        "import sys; from agent import warming; warming.load();"
        "from agent.chess.search import KernelSearch; KernelSearch();"
        "print('agent.chess.mcts' in sys.modules)",
        kernel.cache_folder().parent,
    )
    assert process.communicate(timeout=600)[0].split() == ["False"]


def test_a_warm_start_imports_nothing_to_compile_with() -> None:
    process = python(
        "import sys; from agent import kernel, warming; from agent.parts import PARTS;"
        "[warming.load(part) for part in PARTS];"
        "print(kernel.compiled, 'numba.np.arraymath' in sys.modules)",
        kernel.cache_folder().parent,
    )
    assert process.communicate(timeout=600)[0].split() == ["[]", "False"]


@pytest.fixture
def toys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two modules, one of which stands apart; each notes in a file where it was imported."""
    for name in ("toy", "toy_apart"):
        (tmp_path / f"{name}.py").write_text(
            "import os, pathlib\n"
            "with (pathlib.Path(__file__).parent / 'log').open('a') as log:\n"
            f"    print('{name}', os.getpid(), file=log)\n"
            "if (pathlib.Path(__file__).parent / 'broken').exists():\n"
            f"    assert os.getpid() == {os.getpid()}\n"
        )
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), str(ROOT)]))
    monkeypatch.setattr(warming, "PARTS", {"play": ("toy_apart", "toy")})
    monkeypatch.setattr(warming, "APART", ("toy_apart",))
    monkeypatch.setattr(warming, "cache_folder", lambda: tmp_path / "cache")
    return tmp_path


def imports(toys: Path) -> list[tuple[str, bool]]:
    """Return which modules were imported, and whether by this process, the others first."""
    lines = (line.split() for line in (toys / "log").read_text().splitlines())
    return sorted((name, int(pid) == os.getpid()) for name, pid in lines)


@pytest.mark.parametrize("broken", [False, True])
def test_a_second_process_compiles_what_stands_apart(
    broken: bool, toys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If it fails there, it is compiled here all the same."""
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    if broken:
        (toys / "broken").touch()
    stages = []
    warming.warm_up(lambda *stage: stages.append(stage), ["play"])
    assert imports(toys) == [("toy", True), ("toy_apart", False), ("toy_apart", True)]
    assert stages == [("toy", 0, 2), ("toy_apart", 1, 2), ("", 2, 2)]
    assert warming.is_warm("play")


def test_one_core_or_a_warm_cache_needs_no_second_process(
    toys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    warming.load("play")
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.delitem(sys.modules, "toy_apart")
    warming.load("play")
    assert imports(toys) == [("toy", True), ("toy_apart", True), ("toy_apart", True)]


def test_what_cannot_be_compiled_leaves_no_mark(
    toys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (toys / "toy.py").write_text("raise ValueError('no')")
    with pytest.raises(ValueError, match="no"):
        warming.load("play")
    assert not warming.is_warm("play")


def test_the_child_that_compiles_ends_with_its_parent() -> None:
    child = warming.compile_in_child()
    assert child.stdin is not None
    child.stdin.close()
    assert child.wait(timeout=60) in (0, 1)
