"""Compiled functions and their cache, which is never stale and may be damaged."""

import shutil
from pathlib import Path

import numba
import pytest

from agent.kernel import decorators
from tests.support import ROOT
from tests.support import compiling_python as python

pytestmark = pytest.mark.early

FOLDER = "from agent.kernel.decorators import cache_folder; print(cache_folder())"


@pytest.mark.thorough
def test_editing_kernel_source_changes_cache_folder(tmp_path: Path) -> None:
    root = tmp_path / "copy"
    shutil.copytree(ROOT / "agent", root / "agent", ignore=shutil.ignore_patterns("__pycache__"))

    def folder() -> str:
        return python(FOLDER, tmp_path, root).communicate(timeout=60)[0]

    before = folder()
    assert folder() == before
    names = {before}
    for name in ("kernel/decorators.py", "chess/board/movegen.py", "kernel/transposition_table.py"):
        with (root / "agent" / name).open("a") as file:
            file.write("# edited\n")
        names.add(folder())
    assert len(names) == 4


def test_cpu_name_changes_cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = python(FOLDER, tmp_path).communicate(timeout=60)[0]
    monkeypatch.setenv("NUMBA_CPU_NAME", "generic")
    assert python(FOLDER, tmp_path).communicate(timeout=60)[0] != before


SIGNATURE = numba.int32(numba.int32)


def double(x: int) -> int:
    return 2 * x


def test_unwritable_or_damaged_cache_causes_recompilation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    monkeypatch.setattr(decorators, "cache_folder", lambda: blocked / "cache")
    assert decorators.c_function(SIGNATURE, double, "double").ctypes(4) == 8
    monkeypatch.setattr(decorators, "cache_folder", lambda: tmp_path)
    assert decorators.c_function(SIGNATURE, double, "double").ctypes(4) == 8
    path = tmp_path / "double.pickle"
    path.write_bytes(path.read_bytes()[:-1])
    assert decorators.c_function(SIGNATURE, double, "double").ctypes(4) == 8
    assert "double.pickle: damaged" in capsys.readouterr().err
    decorators.loaded.clear()
    assert decorators.c_function(SIGNATURE, double, "double").ctypes(4) == 8
    assert decorators.loaded == ["double"]


USER_CODE = """
import numba
from agent.kernel import compilation, decorators
compilation.load('alphabeta')
def probe_position(x):
    return {1: 1, 2: 2}[2] * x
signature = numba.int32(numba.int32)
compiled = decorators.c_function(signature, probe_position, "probe_position", is_user_code=True)
print(compiled.ctypes(4), decorators.compiled)
"""


@pytest.mark.thorough
def test_cached_foreign_code_finds_its_dependencies(tmp_path: Path) -> None:
    cache, folder = tmp_path / "cache", decorators.cache_folder()
    shutil.copytree(folder, cache / folder.name)
    assert python(USER_CODE, cache).communicate(timeout=600)[0] == "8 ['probe_position']\n"
    assert python(USER_CODE, cache).communicate(timeout=600)[0] == "8 []\n"


ENTRIES = """
import numba
from agent.kernel import decorators
number = numba.int64

@decorators.entry_point(number(number, number, numba.boolean))
def ways(coins, left, exact):
    if left < 0 or coins == 0:
        return 0
    if left == 0:
        return 1
    return ways(coins - 1, left, True) + ways(coins=coins, left=left - coins, exact=exact)

@decorators.entry_point(number(number, number))
def climb(n, steps):
    if steps > 9:
        raise ValueError("too high")
    return 10 if n == 10 else climb(10, 1) + climb(n + 1, steps + 1)

@decorators.entry_point(number(numba.int32))
def both(n):
    return ways(3, n, False) + climb(n, 0)

def of_both(n):
    try:
        return both(n)
    except ValueError as error:
        return str(error)

print([of_both(n) for n in (8, 9, 10, -1)], both.__name__, decorators.compiled)
"""


@pytest.mark.thorough
def test_entries_call_each_other_when_compiled_and_when_cached(tmp_path: Path) -> None:
    """With literal and keyword arguments, and with exceptions."""
    for names in (["__main__.ways", "__main__.climb", "__main__.both"], []):
        output = python(ENTRIES, tmp_path).communicate(timeout=600)[0]
        assert output == f"[40, 32, 24, 'too high'] both {names}\n"


CALLED_FOR = """
import numba
from agent.kernel import decorators
number = numba.int64

@decorators.kernel
def for_it(n):
    return 1000 + it(n - 1)

try:
    @decorators.entry_point(number(number))
    def it(n):
        return n if n <= 0 else 1 + for_it(n)
except numba.TypingError:
    print("no type")
"""


@pytest.mark.thorough
def test_entry_being_compiled_rejects_indirect_recursion(tmp_path: Path) -> None:
    """The call would be compiled as a recursive one."""
    assert python(CALLED_FOR, tmp_path).communicate(timeout=600)[0] == "no type\n"


READ_ONLY = """
import numba
import numpy
from agent.kernel import decorators

@decorators.entry_point(numba.void(numba.int64[::1]))
def change(numbers):
    numbers[0] = 5

numbers = numpy.zeros(3, numpy.int64)
change(numbers=numbers)
numbers.flags.writeable = False

@numba.njit
def change_it(numbers):
    change(numbers)

try:
    change_it(numbers)
except numba.TypingError:
    print(numbers)
"""


@pytest.mark.thorough
def test_entry_rejects_read_only_array(tmp_path: Path) -> None:
    assert python(READ_ONLY, tmp_path).communicate(timeout=600)[0] == "[5 0 0]\n"


OUTSIDE = """
import numba
from agent.kernel import decorators

@decorators.entry_point(numba.int64(numba.int64))
def grow(number):
    return number + STEP

print(grow(1), len(decorators.compiled))
"""


@pytest.mark.thorough
def test_edited_kernel_outside_the_package_is_recompiled(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    printed = []
    for step in (1, 1, 2):
        script.write_text(OUTSIDE.replace("STEP", str(step)))
        # Python's bytecode cache misses edits within one second.
        code = f"import sys; sys.dont_write_bytecode = True; sys.path.insert(0, {str(tmp_path)!r})"
        code += "; import script"
        printed.append(python(code, tmp_path / "cache").communicate(timeout=60)[0])
    assert printed == ["2 1\n", "2 0\n", "3 1\n"]


def test_empty_cache_variable_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    folders = []
    for value in ("", None):
        monkeypatch.delenv(decorators.CACHE_VARIABLE, raising=False)
        if value is not None:
            monkeypatch.setenv(decorators.CACHE_VARIABLE, value)
        folders.append(decorators.cache_folder.__wrapped__())
    assert folders[0] == folders[1]
    assert folders[0].is_absolute()
