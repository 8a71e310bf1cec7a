"""A UCI engine in the test process with a fast and deterministic searcher."""

import queue
import threading

import chess
import pytest

from agent.agent import AgentError
from agent.chess.engine.backend import ChessBackend
from agent.limits import Cp, Info, Progress
from protocols.uci.protocol import UciProtocol
from tests.support import factory_fixture
from tests.waiting import PATIENCE


class ScriptedSearcher:
    """Returns moves in alphabetical order; iteration d has 100 d nodes and scores 10 d - line."""

    def __init__(self):
        self.calls = []
        self._stop = threading.Event()

    def clear_stop(self):
        self._stop.clear()

    def stop(self):
        self._stop.set()

    def new_game(self):
        self.calls.append("new_game")

    def progress(self):
        return Progress(nodes=1)

    def pace(self, limits):
        return 0.001

    def search(self, board, limits, lines=1):
        moves = sorted(limits.search_moves or board.legal_moves, key=chess.Move.uci)
        for depth in range(1, (limits.depth or 60) + 1):
            for line, move in enumerate(moves[:lines], 1):
                pv = [move]
                board.push(move)
                pv += sorted(board.legal_moves, key=chess.Move.uci)[:1]
                board.pop()
                yield Info(depth, Cp(10 * depth - line), tuple(pv), depth, line, nodes=100 * depth)
            if (limits.nodes and 100 * depth >= limits.nodes) or self._stop.wait(self.pace(limits)):
                return


class ScriptedEngine(ChessBackend):
    """Records changes of options; has no kernel."""

    def __init__(self, report):
        super().__init__(report)
        self.scripted = ScriptedSearcher()
        self.changes = []

    def start(self):
        self.ready.set()

    def wait_until_loaded(self, job, *, unless_compiling=False):
        pass

    def get_searcher(self, clock, stop):
        return self.scripted

    def wait_for_kernel(self, stop):
        raise AgentError("the compiled kernel is not available")

    def set_megabytes(self, megabytes):
        if megabytes > 1024:
            raise MemoryError(f"no memory for a table of {megabytes} MB; keeping the old one")
        self.changes.append(("Hash", megabytes))

    def set_threads(self, threads):
        self.changes.append(("Threads", threads))

    def set_evaluation(self, spec):
        self.changes.append(("Evaluation", spec))

    def clear(self):
        self.changes.append(("Clear Hash", None))

    def new_game(self):
        self.changes.append(("ucinewgame", None))


class EngineSession:
    """A session of the engine, and its output in order."""

    def __init__(self, make_engine=ScriptedEngine, log_to=lambda path: None):
        self.heard = queue.Queue()
        self.uci = self.make_protocol(self.heard.put, log_to, make_engine)

    def make_protocol(self, *arguments):
        return UciProtocol("Kempelen test", "The authors", *arguments)

    def say(self, *lines):
        for line in lines:
            for reply in self.uci.handle_line(line):
                self.heard.put(reply)

    def hear(self):
        return self.heard.get(timeout=PATIENCE)

    def hear_until(self, start):
        lines = [self.hear()]
        while not lines[-1].startswith(start):
            lines.append(self.hear())
        return lines

    def rest(self):
        """Return the remaining output after all jobs are done."""
        return self.wait_for(self.uci.session.agent)

    def wait_for(self, agent):
        assert agent.wait(PATIENCE)
        lines = []
        while not self.heard.empty():
            lines.append(self.heard.get())
        return lines

    def ask(self, *lines):
        """Send lines, wait until all jobs are done, and return the output."""
        self.say(*lines)
        return self.rest()

    def close(self):
        assert self.uci.close(PATIENCE)


make_conversation = factory_fixture(EngineSession, EngineSession.close)


@pytest.fixture
def conversation(make_conversation):
    return make_conversation()
