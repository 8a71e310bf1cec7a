"""Options of the test run."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# How long an example takes says nothing on a machine that is busy.
settings.register_profile("kempelen", deadline=None)
settings.load_profile("kempelen")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--positions",
        type=int,
        default=20_000,
        help="random positions on which the kernel's rules are compared with the chess package's",
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

    A shell without job control has its background jobs, and all that they start, ignore Ctrl-C.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def endgame_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the endgame tables that the package ships, and KQKR and KBBK, built."""
    from openings.tables import Build, open_tables, plan

    folder = tmp_path_factory.mktemp("tables")
    open_tables(folder)
    list(Build(plan(["KQKR", "KBBK"]), folder, threads=1).run())
    return folder


@pytest.fixture(scope="session")
def endgame_tables(endgame_folder: Path) -> Any:
    from openings.tables import open_tables

    tables, problems = open_tables(endgame_folder)
    assert problems == []
    return tables


@pytest.fixture
def mosquitto(tmp_path: Path) -> Iterator[Any]:
    """Start a broker of MQTT for one test."""
    from tests.mosquitto import Mosquitto

    mosquitto = Mosquitto(tmp_path)
    yield mosquitto
    mosquitto.kill()
