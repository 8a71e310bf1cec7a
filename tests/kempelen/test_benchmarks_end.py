"""A benchmark that ends stops the processes that it started."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.systems import module_or_skip
from tests.waiting import PATIENCE, alive, until

supervisor = module_or_skip("protocols.client.supervisor")
ROOT = Path(__file__).parents[2]
MATCH = ["go_matches.py", "--against", "self", "--games", "2", "--seconds", "60", "--size", "5"]


def descendants(process: int) -> set[int]:
    """Return the descendants of a process."""
    own = set(supervisor.children(process))
    return own.union(*map(descendants, own))


def words(process: int) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])
def test_a_match_and_its_engines_end_with_the_benchmark(number: signal.Signals, warm_cache) -> None:
    benchmark = subprocess.Popen(
        [sys.executable, str(ROOT / "benchmarks" / MATCH[0]), *MATCH[1:]],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stderr=subprocess.DEVNULL,
    )
    try:
        # The match and two engines, each under a supervisor.
        assert until(lambda: len(descendants(benchmark.pid)) >= 5)
        started = descendants(benchmark.pid)
        assert any(b"\0match\0" in words(each) for each in started)
        benchmark.send_signal(number)
        assert benchmark.wait(PATIENCE) != 0
        assert until(lambda: not any(map(alive, started)))
    finally:
        benchmark.kill()
        benchmark.wait()


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_tuning_duels_end_with_the_tuner(tmp_path: Path, warm_cache) -> None:
    state = tmp_path / "state.json"
    words = ["RazorBase", "--state", str(state), "--nodes", "200", "--processes", "2"]
    tuning = subprocess.Popen(
        [sys.executable, str(ROOT / "benchmarks" / "tune_duel.py"), *words],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stderr=subprocess.DEVNULL,
    )
    try:
        assert until(lambda: len(descendants(tuning.pid)) >= 3)  # and the resource tracker
        started = descendants(tuning.pid)
        tuning.terminate()
        assert tuning.wait(PATIENCE) != 0
        assert until(lambda: not any(map(alive, started)))
    finally:
        tuning.kill()
        tuning.wait()


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_spawned_child_ends_with_its_parent() -> None:
    code = "from harness import *; end_in_order(); spawn(['sleep', '600']); print(flush=True)"
    spawner = subprocess.Popen(
        [sys.executable, "-c", f"{code}; import time; time.sleep(600)"],
        cwd=ROOT / "benchmarks",
        stdout=subprocess.PIPE,
    )
    try:
        assert spawner.stdout is not None
        spawner.stdout.readline()
        (child,) = supervisor.children(spawner.pid)
        spawner.terminate()
        assert spawner.wait(PATIENCE) == 128 + signal.SIGTERM
        assert until(lambda: not alive(child))
    finally:
        spawner.kill()
        spawner.communicate()
