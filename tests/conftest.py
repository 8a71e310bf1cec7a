"""Options of the test run, and what many tests share."""

import contextlib
import gc
import hashlib
import os
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests import external

# How long an example takes says nothing on a machine that is busy.
settings.register_profile("kempelen", deadline=None, max_examples=40)
settings.register_profile("thorough", deadline=None, max_examples=100)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--positions",
        type=int,
        help="random positions on which the kernel's rules are compared with the chess package's "
        "(2000; in a thorough run 20000)",
    )
    parser.addoption(
        "--game",
        metavar="FILE.py:CLASS",
        help="a game of your own, to be tested as every game is",
    )
    parser.addoption(
        "--image",
        action="store_true",
        help="build the container image and play in it: needs root, buildah and debootstrap",
    )
    parser.addoption(
        "--thorough",
        action="store_true",
        help="run what is marked so too, and look at all where else a sample is looked at",
    )


PROGRAM_PATH = pytest.StashKey[external.ProgramPath]()


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("thorough" if config.getoption("--thorough") else "kempelen")
    folder = tempfile.TemporaryDirectory(prefix="kempelen-programs-")
    config.add_cleanup(folder.cleanup)
    config.stash[PROGRAM_PATH] = external.ProgramPath(Path(folder.name))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect thorough tests in a quick run, and begin with the files that take longest."""
    if not config.getoption("--thorough"):
        quick = _quick(items)
        config.hook.pytest_deselected(items=[item for item in items if item not in quick])
        items[:] = [item for item in items if item in quick]
    items.sort(key=lambda item: item.get_closest_marker("early") is None)
    for item in items:
        for fixture, programs in external.FIXTURES.items():
            if fixture in getattr(item, "fixturenames", ()):
                item.add_marker(pytest.mark.needs(*programs))


def _quick(items: list[pytest.Item]) -> set[pytest.Item]:
    """Return the tests without the mark `thorough`, and the first N cases of `thorough(keep=N)`."""
    cases: Counter[str] = Counter()
    quick = set()
    for item in items:
        marks = list(item.iter_markers("thorough"))
        function = item.nodeid.partition("[")[0]
        if all(cases[function] < mark.kwargs.get("keep", 0) for mark in marks):
            quick.add(item)
            cases[function] += 1
    return quick


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Provide the external programs that the test declares, or skip it; where CI is set, fail."""
    names = {name for marker in item.iter_markers("needs") for name in marker.args}
    missing = sorted(external.missing(names))
    if missing:
        reason = f"{', '.join(missing)}: not installed (run scripts/install-debian-packages)"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)
    item.config.stash[PROGRAM_PATH].declare(names)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call() -> Iterator[None]:
    """End a child process that a test has forked, should it come back to here."""
    process = os.getpid()
    try:
        return (yield)
    finally:
        if os.getpid() != process:
            os.write(2, b"a forked child of a test must not return: end it with os._exit\n")
            os._exit(70)


def pytest_collection_finish() -> None:
    """Look for no garbage in what has been imported and collected: it stays."""
    gc.freeze()


def pytest_xdist_auto_num_workers() -> int:
    """Two workers more than there are cores: many tests wait for clocks and for processes."""
    from agent.machine import usable_cores

    return usable_cores() + 2


@pytest.fixture(scope="session")
def thorough(request: pytest.FixtureRequest) -> bool:
    """Whether to look at everything where a sample does for every day."""
    return bool(request.config.getoption("--thorough"))


@pytest.fixture(scope="session", autouse=True)
def data_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the user's data out of the tests, unless the user has named a folder."""
    with pytest.MonkeyPatch.context() as patch:
        if "KEMPELEN_DATA_DIR" not in os.environ:
            patch.setenv("KEMPELEN_DATA_DIR", str(tmp_path_factory.mktemp("data")))
        yield


@pytest.fixture(scope="session", autouse=True)
def interruptible() -> None:
    """Let programs that tests start be interrupted, even if these run in the background.

    A shell without job control has its background jobs, and all that they start, ignore Ctrl-C;
    nohup has them outlive their terminal.
    """
    for name, default in (("SIGINT", signal.default_int_handler), ("SIGHUP", signal.SIG_DFL)):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, default)


@pytest.fixture(autouse=True)
def forget_user_modules(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Forget modules that a test has imported from a temporary folder, and the folder.

    Another test may have a file of the same name.
    """
    before, path = set(sys.modules), list(sys.path)
    yield
    folder = str(tmp_path_factory.getbasetemp())
    sys.path[:] = [each for each in sys.path if each in path or not each.startswith(folder)]
    for name in sys.modules.keys() - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(folder):
            del sys.modules[name]


@pytest.fixture
def usual_recursion() -> Iterator[None]:
    """Set the limit of a program's own process, which other tests may have raised in this one."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)
    yield
    sys.setrecursionlimit(limit)


@pytest.fixture(scope="session")
def endgame_folder(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the endgame tables that the package ships, and KQKR and KBBK, built.

    They are built once for all workers, and kept until any source that they depend on changes.
    """
    from openings.endgame_tables import TableBuilder, build_order, open_tables

    cache = getattr(pytestconfig, "cache", None)
    if cache is None:  # by -p no:cacheprovider
        folder, older = tmp_path_factory.mktemp("tables"), []
    else:
        folder = cache.mkdir("endgame-tables") / _digest_of_tables()
        folder.mkdir(exist_ok=True)
        older = [other for other in folder.parent.iterdir() if other != folder]
    with _turn(folder):
        for other in older:
            shutil.rmtree(other, ignore_errors=True)
        open_tables(folder)
        list(
            TableBuilder(build_order(["KQKR", "KBBK"]), folder, threads=1).run()
        )  # keeps those that are whole
    return folder


def _digest_of_tables() -> str:
    """Name what the tables follow from: the kernel's sources, and those that build with it."""
    import openings.endgame_tables as builder
    from agent.kernel.decorators import cache_folder

    own = Path(builder.__file__)
    digest = hashlib.sha256(cache_folder().name.encode())
    for path in (own, *sorted((own.parent / "data").glob("*.xz"))):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@contextlib.contextmanager
def _turn(folder: Path) -> Iterator[None]:
    """Wait until no other worker has the folder."""
    from agent.io.file_lock import lock_path

    while True:
        try:
            with lock_path(str(folder / "turn")):
                yield
                return
        except BlockingIOError:
            time.sleep(0.1)


@pytest.fixture(scope="session")
def endgame_tables(endgame_folder: Path) -> Any:
    from openings.endgame_tables import open_tables

    tables, problems = open_tables(endgame_folder)
    assert problems == []
    return tables


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Start a browser for the tests of a file."""
    from tests.browser import started

    with started(tmp_path_factory.mktemp("browser")) as browser:
        yield browser


@pytest.fixture
def mosquitto(tmp_path: Path) -> Iterator[Any]:
    """Start a broker of MQTT for one test."""
    from tests.mosquitto import Mosquitto

    mosquitto = Mosquitto(tmp_path)
    yield mosquitto
    mosquitto.kill()


@pytest.fixture(scope="module")
def clusters() -> Iterator[list[Any]]:
    """The clusters that were started, of which the last may be used again."""
    if sys.platform != "linux":
        pytest.skip("stops workers by POSIX signals, and reads /proc")
    started: list[Any] = []
    yield started
    for dask in started:
        dask.close()


@pytest.fixture
def dask(clusters: list[Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Give a cluster with two workers of one thread each; whatever a test has done to the last."""
    from tests.dask_cluster import Dask

    if not clusters or not clusters[-1].alive:
        clusters.append(Dask(tmp_path_factory.mktemp("dask")))
    yield clusters[-1]
    if clusters[-1].alive:
        clusters[-1].restore()
