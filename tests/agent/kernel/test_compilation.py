"""Loading of the kernel: from a cold, warm or read-only cache, by concurrent processes."""

import errno
import gc
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pytest

from agent import evaluation_types
from agent.chess.evaluation.loading import load as load_evaluation
from agent.chess.evaluation.nnue_format import read_neuron_count
from agent.chess.parts import ALPHABETA
from agent.connect_four.parts import CONNECT_FOUR
from agent.evaluation import NETWORK, SHIPPED_NETWORK
from agent.kernel import code_cache, compilation, decorators
from agent.kernel.parts import COMPILED_IN_PARALLEL, ON_DEMAND, PARTS, VARIANTS
from agent.machine import usable_cores
from tests.random_network import random_network
from tests.support import compiling_python as python
from tests.waiting import PATIENCE, until

LOAD = """
import json
from agent.kernel import compilation, decorators
compilation.COMPILED_IN_PARALLEL = {independent}
warm = compilation.is_cached({part!r})
compilation.load({part!r})
{play}
print(json.dumps([warm, decorators.compiled, decorators.loaded, perft]))
"""


class Cold(NamedTuple):
    """A part to compile: modules that may be compiled in parallel, and a perft result."""

    part: str
    independent: tuple[str, ...]
    independent_function: str
    play: str  # sets `perft`
    leaves: int


def modules_of(names: Iterable[str]) -> set[str]:
    """Return the modules that define functions; those of networks are in `shipped_network`."""
    modules = {name.rpartition(".")[0] for name in names}
    return {
        "agent.chess.evaluation.shipped_network" if m == "agent.chess.evaluation.nnue" else m
        for m in modules
    }


CONNECT_FOUR_LEAVES = """
from agent.connect_four.rules import DiscBoard
from agent.games.connect_four import ConnectFour
board = DiscBoard()
board.load(ConnectFour())
perft = board.perft(7)
"""
SMALL = Cold(
    CONNECT_FOUR,
    ("agent.connect_four.evaluation",),
    "agent.connect_four.evaluation.handcrafted",
    CONNECT_FOUR_LEAVES,
    823536,
)
LARGE = Cold(
    ALPHABETA,
    COMPILED_IN_PARALLEL,
    f"agent.chess.evaluation.nnue.{read_neuron_count(SHIPPED_NETWORK)}",
    "import chess; from agent.chess.board import kernel_board as board\n"
    "perft = board.perft(chess.Board(), 3)",
    8902,
)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "cold",
    [
        pytest.param(SMALL, id="small"),
        # `make setup` has just compiled this one.
        pytest.param(LARGE, id="large", marks=pytest.mark.thorough),
    ],
)
def test_concurrent_processes_fill_cache_that_works_read_only(cold: Cold, tmp_path: Path) -> None:
    code = LOAD.format(part=cold.part, independent=cold.independent, play=cold.play)
    pair = [python(code, tmp_path) for _ in range(2)]
    for process in pair:
        output, _ = process.communicate(timeout=600)
        warm, compiled, loaded, perft = json.loads(output)
        assert not warm
        assert compiled or loaded
        assert cold.independent_function in loaded or usable_cores() == 1
        assert perft == cold.leaves
    files = sorted(tmp_path.rglob("*"))
    assert not [file for file in files if file.suffix == ".tmp"]
    for file in [tmp_path, *files]:
        file.chmod(0o555 if file.is_dir() else 0o444)
    output, _ = python(code, tmp_path).communicate(timeout=600)
    for file in [tmp_path, *files]:
        file.chmod(0o755 if file.is_dir() else 0o644)
    warm, compiled, loaded, perft = json.loads(output)
    assert warm
    assert compiled == []
    assert len(loaded) == len(set(loaded))
    assert modules_of(loaded) == set(PARTS[cold.part]) - set(ON_DEMAND)
    assert perft == cold.leaves
    assert sorted(tmp_path.rglob("*")) == files


LOAD_ALL = """
import json
from agent.kernel import compilation, decorators
from agent.kernel.parts import PARTS
for part in PARTS:
    compilation.load(part)
cached = list(map(compilation.is_cached, PARTS))
print(json.dumps([cached, decorators.compiled, decorators.loaded]))
"""


@pytest.mark.thorough
def test_second_process_loads_all_compiled_parts(tmp_path: Path) -> None:
    names = []
    for _ in range(2):
        output, _ = python(LOAD_ALL, tmp_path).communicate(timeout=900)
        warm, compiled, loaded = json.loads(output)
        assert all(warm)
        names.append((set(compiled), set(loaded)))
    (compiled, parallel), (compiled_again, loaded) = names
    assert len(compiled) > 5
    assert compiled_again == set()
    on_demand = {name for name in compiled | parallel if modules_of([name]) <= set(ON_DEMAND)}
    assert loaded | on_demand == compiled | parallel


@pytest.mark.parametrize("part", PARTS)
def test_tests_run_on_a_warm_cache(part: str) -> None:
    """`make test` warms the cache first, so that no test waits for the compiler."""
    compilation.load(part)
    assert compilation.is_cached(part)


def output_when_warm(code: str) -> str:
    """Return the output of code in a new process with the cache of this one."""
    return python(code, decorators.cache_folder().parent).communicate(timeout=600)[0]


@pytest.mark.thorough
def test_unused_part_is_not_imported() -> None:
    output = output_when_warm(
        "import sys; from agent.kernel import compilation; compilation.load('alphabeta');"
        "from agent.chess.search.alphabeta_search import AlphaBetaSearch; AlphaBetaSearch();"
        "print('agent.chess.search.mcts' in sys.modules)"
    )
    assert output.split() == ["False"]


@pytest.mark.thorough
def test_warm_start_does_not_import_the_compiler() -> None:
    output = output_when_warm(
        "import sys; from agent.kernel import compilation, decorators;"
        "from agent.kernel.parts import PARTS;"
        "[compilation.load(part) for part in PARTS];"
        "print(decorators.compiled, 'numba.np.arraymath' in sys.modules)"
    )
    assert output.split() == ["[]", "False"]


@pytest.mark.thorough
def test_main_modules_do_not_import_separately_compiled_ones() -> None:
    modules = [m for part in PARTS.values() for m in part if m not in COMPILED_IN_PARALLEL]
    output = output_when_warm(
        f"import sys\nfor module in {modules}: __import__(module)\n"
        f"print([module for module in {COMPILED_IN_PARALLEL} if module in sys.modules])"
    )
    assert output == "[]\n"


@pytest.fixture
def toys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Modules to load, which log their import and the process id to a file.

    In another process, each takes 0.5 s, and fails if a file `broken` exists.
    """
    for name in ("toy", "toy_apart"):
        (tmp_path / f"{name}.py").write_text(
            "import os, pathlib, time\n"
            "folder = pathlib.Path(__file__).parent\n"
            f"if os.getpid() != {os.getpid()}:\n"
            "    time.sleep(0.5)\n"
            "    assert not (folder / 'broken').exists()\n"
            "with (folder / 'log').open('a') as log:\n"
            f"    print('{name}', os.getpid(), file=log)\n"
        )
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(
        compilation, "PARTS", {"play": ("toy_apart", "toy"), "apart": ("toy_apart",)}
    )
    monkeypatch.setattr(compilation, "COMPILED_IN_PARALLEL", ("toy_apart",))
    monkeypatch.setattr(compilation, "cache_folder", lambda: tmp_path / "base" / "cache")
    monkeypatch.setattr(compilation, "usable_cores", lambda: 2)
    return tmp_path


def imports(toys: Path) -> list[tuple[str, bool]]:
    """Return the imported modules in order, and whether this process imported them."""
    lines = (line.split() for line in (toys / "log").read_text().splitlines())
    return [(name, int(pid) == os.getpid()) for name, pid in lines]


def test_second_process_compiles_separate_modules(toys: Path) -> None:
    stages = []
    compilation.warm_up(lambda *stage: stages.append(stage), ["play"])
    assert imports(toys) == [("toy", True), ("toy_apart", False), ("toy_apart", True)]
    assert stages == [("toy", 0, 2), ("toy_apart", 1, 2), ("", 2, 2)]
    assert compilation.is_cached("play")


def failing_start(*_: object, **__: object) -> None:
    raise BlockingIOError("no more processes")


@pytest.mark.parametrize("reason", ["one core", "no cache", "broken", "no process", "warm"])
def test_one_process_loads_all_without_a_second(
    reason: str, toys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if reason == "one core":
        monkeypatch.setattr(compilation, "usable_cores", lambda: 1)
    elif reason == "no cache":
        (toys / "base").write_text("not a folder")
    elif reason == "broken":
        (toys / "broken").touch()
    elif reason == "no process":
        monkeypatch.setattr(subprocess, "Popen", failing_start)
    else:
        code_cache.write(toys / "base" / "cache", "complete-play", b"")
    compilation.load("play")
    assert imports(toys) == [("toy", True), ("toy_apart", True)]
    assert compilation.is_cached("play") or reason == "no cache"


def test_part_with_one_module_needs_no_second_process(toys: Path) -> None:
    compilation.load("apart")
    assert imports(toys) == [("toy_apart", True)]


def test_failed_compilation_leaves_no_mark_and_no_process(toys: Path) -> None:
    (toys / "toy.py").write_text("raise ValueError('no')")
    with pytest.raises(ValueError, match="no"):
        compilation.load("play")
    assert not compilation.is_cached("play")
    assert not (toys / "log").exists()


def test_a_child_ends_with_its_parent(toys: Path) -> None:
    (toys / "toy.py").write_text("import time; time.sleep(600)")
    child = compilation._start_child(["toy"])
    assert child.stdin is not None
    child.stdin.close()
    assert child.wait(timeout=60) == 1


def test_finished_child_exits_by_itself(toys: Path) -> None:
    with compilation._start_child(["toy"]) as child:
        assert child.wait(timeout=60) == 0


def test_child_ignores_modules_in_current_folder(
    toys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (toys / "agent").mkdir()
    (toys / "agent" / "__init__.py").write_text("raise ValueError('another agent')")
    monkeypatch.chdir(toys)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path != str(toys)])
    with compilation._start_child(["agent.kernel.parts"]) as child:
        assert child.wait(timeout=60) == 0


COMPILING = """
import os, sys, time
from pathlib import Path
from agent.kernel import compilation
folder = Path(sys.argv[1])
sys.path.insert(0, str(folder))
compilation.PARTS = {"play": ("slow",)}
compilation.cache_folder = lambda: folder / "base" / "cache"
compilation.load("play")
"""
SLOW = """
import os, sys, time
from pathlib import Path
from agent.kernel import code_cache
folder = Path(sys.argv[1])
cache = folder / "base" / "cache"
how = "loaded" if code_cache.contains(cache, "code") else "compiled"
with (folder / "log").open("a") as log:
    print(how, os.getpid(), file=log)
if how == "compiled":
    time.sleep(float(sys.argv[2]))
    code_cache.write(cache, "code", b"")
"""


def compiler(folder: Path, seconds: float = 0.5) -> subprocess.Popen[bytes]:
    """Start a process that loads a part, which takes `seconds` to compile."""
    (folder / "slow.py").write_text(SLOW)
    return subprocess.Popen([sys.executable, "-c", COMPILING, str(folder), str(seconds)])


def log_of(folder: Path, lines: int) -> list[tuple[str, int]]:
    """Wait for `lines` log lines; return (compiled or loaded, process id) for each."""
    log = folder / "log"
    assert until(lambda: log.exists() and log.read_text().count("\n") >= lines)
    return [(how, int(pid)) for how, pid in map(str.split, log.read_text().splitlines())]


def test_one_of_three_processes_compiles_and_others_load(tmp_path: Path) -> None:
    processes = [compiler(tmp_path) for _ in range(3)]
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    assert [how for how, _ in log_of(tmp_path, 3)] == ["compiled", "loaded", "loaded"]


def test_waiting_process_takes_over_from_killed_compiler(tmp_path: Path) -> None:
    first = compiler(tmp_path, 600)
    log_of(tmp_path, 1)
    others = [compiler(tmp_path) for _ in range(2)]
    with pytest.raises(subprocess.TimeoutExpired):
        others[0].wait(1)
    first.kill()
    first.wait()
    assert [process.wait(60) for process in others] == [0, 0]
    log = log_of(tmp_path, 3)
    assert [how for how, _ in log] == ["compiled", "compiled", "loaded"]
    assert log[0][1] == first.pid


@pytest.mark.skipif(os.name != "posix", reason="Windows uses another lock")
def test_compilation_works_without_file_locks(toys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", no_locks)
    with pytest.raises(OSError, match="No locks") as caught:
        code_cache.lock(compilation.cache_folder())
    assert not isinstance(caught.value, BlockingIOError)
    compilation.load("play")
    assert compilation.is_cached("play")


def test_waiting_for_cache_lock_times_out(toys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compilation, "LOCK_TIMEOUT_S", 0.3)
    with code_cache.lock(compilation.cache_folder()):
        began = time.monotonic()
        compilation.load("play")
        assert time.monotonic() - began >= 0.3
    assert compilation.is_cached("play")


def test_waiting_ends_when_lock_holder_stalls(toys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compilation, "STALL_TIMEOUT_S", 0.5)
    folder = compilation.cache_folder()
    with code_cache.lock(folder):
        progressing = threading.Thread(target=progress_for, args=(folder, 1.0))
        progressing.start()
        began = time.monotonic()
        compilation.load("play")
        assert 1.0 < time.monotonic() - began < 30
        progressing.join()
    assert compilation.is_cached("play")


def progress_for(folder: Path, seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        code_cache.note_progress(folder)
        time.sleep(0.05)


@pytest.mark.parametrize("works", [True, False])
def test_progress_is_noted_only_while_using_cpu(
    works: bool, toys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compilation, "HEARTBEAT_S", 0.2)
    monkeypatch.setattr(compilation, "HEARTBEAT_MIN_CPU_S", 0.05)
    folder = compilation.cache_folder()
    with code_cache.lock(folder), compilation._heartbeat():
        began = code_cache.progress_stamp(folder)
        end = time.monotonic() + (PATIENCE if works else 1)
        while code_cache.progress_stamp(folder) == began and time.monotonic() < end:
            if not works:
                time.sleep(0.1)
        assert (code_cache.progress_stamp(folder) != began) == works


def test_warm_start_does_not_wait_for_lock(toys: Path) -> None:
    code_cache.write(compilation.cache_folder(), "complete-play", b"")
    with code_cache.lock(compilation.cache_folder()):
        compilation.load("play")
    assert imports(toys) == [("toy", True), ("toy_apart", True)]


def test_on_demand_module_is_compiled_but_not_loaded_when_warm(
    toys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compilation, "ON_DEMAND", ("toy_apart",))
    compilation.load("play")
    assert imports(toys) == [("toy", True), ("toy_apart", False), ("toy_apart", True)]
    for name in ("toy", "toy_apart"):
        del sys.modules[name]
    (toys / "log").unlink()
    compilation.load("play")
    assert imports(toys) == [("toy", True)]


def test_new_variant_is_compiled_separately(toys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    variant = "128"
    monkeypatch.setattr(compilation, "VARIANTS", {"play": lambda: variant})
    compilation.load("play")
    assert compilation.is_cached("play")
    variant = "256"
    assert not compilation.is_cached("play")
    compilation.load("play")
    assert compilation.is_cached("play")
    variant = "128"
    assert compilation.is_cached("play")


def test_chess_kernel_variant_is_shipped_network_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert VARIANTS[ALPHABETA]() == str(load_evaluation(NETWORK).network.neurons)
    random_network(64).write(tmp_path / "other.nnue")
    monkeypatch.setattr(evaluation_types, "SHIPPED_NETWORK", tmp_path / "other.nnue")
    assert VARIANTS[ALPHABETA]() == "64"
    monkeypatch.setattr(evaluation_types, "SHIPPED_NETWORK", tmp_path / "none.nnue")
    assert VARIANTS[ALPHABETA]() == ""


@pytest.mark.parametrize("warm", [True, False])
def test_garbage_collection_is_off_while_loading_warm_cache(
    warm: bool, toys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if warm:
        code_cache.write(compilation.cache_folder(), "complete-play", b"")
    collecting = []
    monkeypatch.setattr(compilation, "import_module", lambda _: collecting.append(gc.isenabled()))
    compilation.load("play")
    assert collecting == [not warm] * 2
    assert gc.isenabled()
