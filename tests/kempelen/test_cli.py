import io
import json
import os
import subprocess
import sys

import pytest

from kempelen import __version__
from kempelen.cli import BLAS_THREADS_VARIABLE as THREADS
from kempelen.cli import COMMANDS, main
from tests import in_process

KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq -"


kempelen = in_process.run


def process(*arguments):
    command = [sys.executable, "-m", "kempelen.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def test_version_flag_prints_the_version():
    done = process("--version")
    assert (done.returncode, done.stdout) == (0, f"kempelen {__version__}\n")


def test_python_m_runs_the_package():
    """`py -m kempelen`, where pip's folder of programs is not on PATH."""
    command = [sys.executable, "-m", "kempelen", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, f"kempelen {__version__}\n")


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize(("given", "used"), [(None, "1"), ("3", "3")])
def test_numpy_uses_one_thread_unless_configured(given, used):
    environment = {name: value for name, value in os.environ.items() if name != THREADS}
    if given:
        environment[THREADS] = given
    code = (
        "import os, sys; from kempelen.cli import main; assert 'numpy' not in sys.modules; "
        "main(['perft', '1']); assert 'numpy' in sys.modules; "
        f"print(os.environ['{THREADS}'])"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60
    )
    assert run.stdout.endswith(f"{used}\n"), run.stderr


@pytest.mark.thorough
def test_log_messages_of_libraries_are_not_printed():
    pytest.importorskip("distributed")
    code = (
        "import logging; from kempelen.cli import main; "
        "from kempelen.console.cluster_arguments import _import_dask; "
        "main(['match', 'sprt', '13', '37', '50', '25', '3']); _import_dask(); "
        "names = 'mqtt', 'asyncio', 'distributed.client', 'tornado.application'; "
        "[logging.getLogger(name).critical('bare') for name in names]"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stderr) == (0, "")


def test_code_of_a_user_can_configure_logging():
    code = (
        "import logging; from kempelen.cli import main; "
        "main(['match', 'sprt', '13', '37', '50', '25', '3']); logging.basicConfig(); "
        "logging.getLogger('mine').warning('seen')"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stderr) == (0, "WARNING:mine:seen\n")


@pytest.mark.parametrize(("chosen", "encoding"), [(None, "utf-8"), ("cp1252", "cp1252")])
def test_windows_pipes_use_utf8_unless_configured(chosen, encoding, monkeypatch):
    monkeypatch.delenv("PYTHONIOENCODING", raising=False)
    if chosen:
        monkeypatch.setenv("PYTHONIOENCODING", chosen)
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="cp1252") for _ in range(2)]
    monkeypatch.setattr(sys, "stdout", streams[0])
    monkeypatch.setattr(sys, "stderr", streams[1])
    monkeypatch.setattr(sys, "platform", "win32")
    assert main(["match", "sprt", "10", "5", "5"]) == 0
    assert [stream.encoding for stream in streams] == [encoding] * 2


def test_help_lists_the_commands():
    done = kempelen("--help")
    assert done.returncode == 0
    for name, help_line in COMMANDS.items():
        assert name in done.stdout
        assert help_line in " ".join(done.stdout.split())
        assert kempelen(name, "--help").returncode == 0


@pytest.mark.parametrize(
    "arguments", [["fly"], ["perft"], ["perft", "0"], ["bench", "--depth", "x"]]
)
def test_wrong_arguments_are_refused(arguments):
    done = kempelen(*arguments)
    assert done.returncode == 2
    assert "usage: kempelen" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "total"),
    [(["4"], "197281"), (["3", "--fen", KIWIPETE], "97862"), (["1", "--chess960"], "20")],
)
def test_perft_prints_the_total(warm_cache, arguments, total):
    done = kempelen("perft", *arguments)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{total}\n", "")


def test_deep_perft_move_counts_sum_to_the_total():
    # Kings only: small trees, deep enough to be divided twice.
    shallow = kempelen("perft", "6", "--fen", "k7/8/8/8/8/8/8/7K w - - 0 1", "--divide")
    deep = kempelen("perft", "7", "--fen", "k7/8/8/8/8/8/8/7K w - - 0 1", "--json", "--divide")
    assert shallow.returncode == deep.returncode == 0
    *moves, total = shallow.stdout.splitlines()
    assert sum(int(line.split(": ")[1]) for line in moves) == int(total)
    found = json.loads(deep.stdout)
    assert sum(found["moves"].values()) == found["leaves"] > int(total)


def test_perft_divides_in_chess960(warm_cache):
    fen = "4k3/8/8/8/8/8/8/RK5R w HA - 0 1"
    done = kempelen("perft", "1", "--fen", fen, "--chess960", "--divide")
    assert "b1h1: 1" in done.stdout.splitlines()


def test_perft_of_a_bad_position_is_refused():
    done = kempelen("perft", "3", "--fen", "8/8/8/8/8/8/8/8 w - - 0 1")
    assert done.returncode == 2
    assert "white has no king" in done.stderr


def test_bench_is_deterministic_and_prints_nodes_and_nps(warm_cache):
    counts = set()
    for _ in range(2):
        done = kempelen("bench", "--depth", "5")
        assert (done.returncode, done.stderr) == (0, "")
        words = done.stdout.splitlines()[-1].split()
        assert words[1::2] == ["nodes", "nps"]
        counts.add(int(words[0]))
    found = json.loads(kempelen("bench", "--depth", "5", "--json").stdout)
    assert counts == {found["nodes"]}


@pytest.mark.thorough
def test_warmup_prints_the_kernel_location(warm_cache):
    done = process("warmup")
    assert done.returncode == 0
    assert done.stdout.startswith("kernel loaded from ")
