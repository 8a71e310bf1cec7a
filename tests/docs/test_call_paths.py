"""The call paths on the architecture page are those of the running program."""

import sys

import pytest

from agent.threads.serial_executor import SerialExecutor
from protocols.gtp.protocol import GtpProtocol
from protocols.gtp.session import Settings
from protocols.uci.protocol import UciProtocol
from tests.pages import Page
from tests.support import PACKAGES, ROOT
from tests.waiting import PATIENCE

PAGE = Page("docs/architecture.md")
HAND_OVER = "-- the agent's thread --"
MAX_HOPS = 9


def call_stack():
    """Return the product's functions on the stack, outermost first, as `file function`."""
    calls = []
    frame = sys._getframe(2)
    while frame is not None:
        path = frame.f_code.co_filename
        if path.startswith(f"{ROOT}/") and path.removeprefix(f"{ROOT}/").split("/")[0] in PACKAGES:
            calls.append(f"{path.removeprefix(f'{ROOT}/')} {frame.f_code.co_qualname}")
        frame = frame.f_back
    return calls[::-1]


@pytest.fixture
def record(monkeypatch):
    """Record the way from a line to the first call of a kernel."""

    def record(protocol, lines, module, kernel):
        path = []
        submit, called = SerialExecutor.submit, getattr(module, kernel)

        def noting_submit(executor, work, long_running=False, **options):
            if long_running and not path:
                path.extend([*call_stack(), HAND_OVER])
            return submit(executor, work, long_running, **options)

        def noting_kernel(*arguments):
            if path[-1] == HAND_OVER:
                path.extend(call_stack())
            return called(*arguments)

        *before, last = lines
        for line in before:
            list(protocol.handle_line(line))
        assert protocol.drain(PATIENCE)
        monkeypatch.setattr(SerialExecutor, "submit", noting_submit)
        monkeypatch.setattr(module, kernel, noting_kernel)
        list(protocol.handle_line(last))
        assert protocol.drain(PATIENCE)
        assert protocol.close(PATIENCE)
        return path

    return record


def test_go_takes_the_documented_path(record):
    from agent.chess.search import alphabeta_search

    uci = UciProtocol("name", "author", lambda line: None, lambda path: None)
    lines = ["setoption name OwnBook value false", "isready", "go depth 1", "go depth 3"]
    check(record(uci, lines, alphabeta_search, "aspiration_search"), "go")


def test_genmove_takes_the_documented_path(record):
    from agent.go import search

    settings = Settings(options={"size": 9}, nodes=50)
    gtp = GtpProtocol("name", "1", lambda line: None, lambda line: None, settings)
    check(record(gtp, ["clear_board", "genmove b"], search, "run_simulations"), "genmove")


def check(path, name):
    (block,) = PAGE.having(f"path-{name}")
    assert path == block.text.splitlines()
    assert path.count(HAND_OVER) == 1
    assert len(path) - 2 <= MAX_HOPS  # every call after the first, and the hand-over
