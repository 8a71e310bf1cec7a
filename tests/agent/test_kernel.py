"""The cache of compiled kernels: found when warm, never stale, harmless when read-only."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from agent import kernel
from agent.parts import PARTS

ROOT = Path(kernel.__file__).parents[1]
LOAD = """
import json
from agent import kernel
warm = kernel.is_warm()
kernel.load()
from agent.chess.rules import perft
import chess
print(json.dumps([warm, kernel.compiled, kernel.loaded, perft(chess.Board(), 3)]))
"""
FOLDER = "from agent.kernel import cache_folder; print(cache_folder())"


def python(code: str, cache: Path, root: Path = ROOT) -> subprocess.Popen[str]:
    environment = {**os.environ, kernel.CACHE_VARIABLE: str(cache), "PYTHONPATH": str(root)}
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env=environment,
        cwd=root,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_two_processes_on_an_empty_cache_then_a_third_on_a_read_only_one(tmp_path: Path) -> None:
    pair = [python(LOAD, tmp_path) for _ in range(2)]
    for process in pair:
        output, _ = process.communicate(timeout=600)
        warm, compiled, loaded, leaves = json.loads(output)
        assert not warm
        assert compiled or loaded
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
    kernel.load(part)
    assert kernel.is_warm(part)


def test_a_part_that_is_not_chosen_is_not_imported() -> None:
    process = python(
        "import sys; from agent import kernel; kernel.load();"
        "from agent.chess.search import KernelSearch; KernelSearch();"
        "print('agent.chess.mcts' in sys.modules)",
        kernel.cache_folder().parent,
    )
    assert process.communicate(timeout=600)[0].split() == ["False"]


def test_a_warm_start_imports_nothing_to_compile_with() -> None:
    process = python(
        "import sys; from agent import kernel; from agent.parts import PARTS;"
        "[kernel.load(part) for part in PARTS];"
        "print(kernel.compiled, 'numba.np.arraymath' in sys.modules)",
        kernel.cache_folder().parent,
    )
    assert process.communicate(timeout=600)[0].split() == ["[]", "False"]


def test_an_edit_of_any_kernel_source_names_another_folder(tmp_path: Path) -> None:
    root = tmp_path / "copy"
    shutil.copytree(ROOT / "agent", root / "agent", ignore=shutil.ignore_patterns("__pycache__"))

    def folder() -> str:
        return python(FOLDER, tmp_path, root).communicate(timeout=60)[0]

    before = folder()
    assert folder() == before
    names = {before}
    for name in ("kernel.py", "chess/moves.py", "chess/table.py"):
        with (root / "agent" / name).open("a") as file:
            file.write("# edited\n")
        names.add(folder())
    assert len(names) == 4


def test_the_cpu_names_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = python(FOLDER, tmp_path).communicate(timeout=60)[0]
    monkeypatch.setenv("NUMBA_CPU_NAME", "generic")
    assert python(FOLDER, tmp_path).communicate(timeout=60)[0] != before


SIGNATURE = numba.int32(numba.int32)


def double(x: int) -> int:
    return 2 * x


def test_an_unwritable_or_damaged_cache_only_costs_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    monkeypatch.setattr(kernel, "cache_folder", lambda: blocked / "cache")
    assert kernel.c_function(SIGNATURE, double, "double").ctypes(4) == 8
    monkeypatch.setattr(kernel, "cache_folder", lambda: tmp_path)
    assert kernel.c_function(SIGNATURE, double, "double").ctypes(4) == 8
    path = tmp_path / "double.pickle"
    path.write_bytes(path.read_bytes()[:-1])
    assert kernel.c_function(SIGNATURE, double, "double").ctypes(4) == 8
    assert "double.pickle is damaged" in capsys.readouterr().err
    kernel.loaded.clear()
    assert kernel.c_function(SIGNATURE, double, "double").ctypes(4) == 8
    assert kernel.loaded == ["double"]


FOREIGN = """
import numba
from agent import kernel
kernel.load()
def look_up(x):
    return {"one": 1, "two": 2}["two"] * x
signature = numba.int32(numba.int32)
print(kernel.c_function(signature, look_up, "look_up", foreign=True).ctypes(4), kernel.compiled)
"""


def test_foreign_code_from_the_cache_finds_what_it_was_compiled_with(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    shutil.copytree(kernel.cache_folder().parent, cache)
    assert python(FOREIGN, cache).communicate(timeout=600)[0] == "8 ['look_up']\n"
    assert python(FOREIGN, cache).communicate(timeout=600)[0] == "8 []\n"


ENTRIES = """
import numba
from agent import kernel
number = numba.int64

@kernel.entry(number(number, number, numba.boolean))
def ways(coins, left, exact):
    if left < 0 or coins == 0:
        return 0
    if left == 0:
        return 1
    return ways(coins - 1, left, True) + ways(coins=coins, left=left - coins, exact=exact)

@kernel.entry(number(number, number))
def climb(n, steps):
    if steps > 9:
        raise ValueError("too high")
    return 10 if n == 10 else climb(10, 1) + climb(n + 1, steps + 1)

@kernel.entry(number(numba.int32))
def both(n):
    return ways(3, n, False) + climb(n, 0)

def of_both(n):
    try:
        return both(n)
    except ValueError as error:
        return str(error)

print([of_both(n) for n in (8, 9, 10, -1)], both.__name__, kernel.compiled)
"""


def test_entries_call_themselves_and_each_other_when_new_and_when_cached(tmp_path: Path) -> None:
    """With literals and keywords among the arguments, with exceptions on the way."""
    for names in (["__main__.ways", "__main__.climb", "__main__.both"], []):
        output = python(ENTRIES, tmp_path).communicate(timeout=600)[0]
        assert output == f"[40, 32, 24, 'too high'] both {names}\n"


def test_the_child_that_compiles_ends_with_its_parent() -> None:
    child = kernel.compile_in_child()
    assert child.stdin is not None
    child.stdin.close()
    assert child.wait(timeout=60) in (0, 1)
