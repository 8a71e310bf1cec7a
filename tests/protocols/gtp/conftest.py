"""A GTP engine in the test process."""

import queue

import pytest

from agent.kernel import compilation
from agent.kernel.backend import SearchConfig
from agent.threads.one_shot_event import wait_for_any
from protocols.gtp.protocol import GtpProtocol
from protocols.gtp.session import Settings
from tests.held_compiler import HeldCompiler
from tests.support import factory_fixture
from tests.waiting import PATIENCE

# To load a kernel, or to compile it without a cache.
LOAD_TIMEOUT_S = 120.0


class EngineSession:
    """A session with a new engine. Empty output lines are dropped.

    Go uses the Python search, which needs no loading, unless algorithm=None is given.
    """

    def __init__(self, **options):
        if options.get("game", "go") == "go":
            options.setdefault("algorithm", "mcts")
        self.sent = queue.Queue()
        self.reports = []
        of_the_game = {name: options.pop(name) for name in ("size", "komi") if name in options}
        names = {"threads", "megabytes", "playouts", "seed", "settings"} & options.keys()
        search_config = SearchConfig(**{"seed": 1} | {name: options.pop(name) for name in names})
        # A limit of playouts ends the search, even on a slow machine.
        seconds = 0.05 if search_config.playouts is None else 30.0
        settings = Settings(
            options=of_the_game, search_config=search_config, **{"seconds": seconds, **options}
        )
        self.gtp = GtpProtocol("Kempelen", "1.0", self.sent.put, self.reports.append, settings)
        self._heard = []

    def say(self, *lines):
        for line in lines:
            assert list(self.gtp.handle_line(line)) == []

    def hear(self):
        while not self._heard:
            piece = self.sent.get(timeout=PATIENCE)
            self._heard = [line for line in piece.split("\n") if line]
        return self._heard.pop(0)

    def rest(self):
        assert self.gtp.drain(PATIENCE)
        while not self.sent.empty():
            self._heard += [line for line in self.sent.get().split("\n") if line]
        return self._heard

    def answer(self, line):
        """Return the complete answer, as sent."""
        self.say(line)
        assert self.gtp.drain(PATIENCE)
        pieces = []
        while not self.sent.empty():
            pieces.append(self.sent.get() + "\n")
        return "".join(pieces)

    def await_compiled(self):
        """Wait until the compiled search is loaded; the first line starts that."""
        assert self.answer("name") == "= Kempelen\n\n"
        ready = self.gtp.session.backend.ready
        wait_for_any(ready, timeout=LOAD_TIMEOUT_S)
        assert ready.is_set()

    @property
    def searcher(self):
        """The search of the last move."""
        return self.gtp.session.backend._active._search

    def close(self):
        assert self.gtp.close(PATIENCE)


start = factory_fixture(EngineSession, EngineSession.close)


@pytest.fixture
def own(request, tmp_path):
    """A file with the evaluations of the module's OWN."""
    file = tmp_path / "own.py"
    file.write_text(request.module.OWN)
    return file


@pytest.fixture
def compiler(monkeypatch):
    """A compiler that finishes only when the test says so."""
    compiler = HeldCompiler()
    monkeypatch.setattr(compilation, "is_cached", lambda part: False)
    monkeypatch.setattr(compilation, "compile_in_child", lambda part: compiler)
    return compiler
