"""An analysis engine in the test process."""

import json
import queue

from agent.kernel.backend import SearchConfig
from protocols.katago_analysis.protocol import AnalysisEngine, Settings
from protocols.katago_analysis.query import QueryDefaults
from protocols.katago_analysis.visit_limited_backend import SearchSettings
from tests.support import factory_fixture
from tests.waiting import PATIENCE


class EngineSession:
    """A session with a new engine, which uses the Python search."""

    def __init__(self, visits=8, perspective=0, algorithm="mcts", **options):
        self.sent = queue.Queue()
        self.reports = []
        settings = Settings(
            QueryDefaults(visits=visits, perspective=perspective),
            SearchSettings(algorithm, SearchConfig(seed=1)),
            **options,
        )
        self.engine = AnalysisEngine("1.0", self.sent.put, self.reports.append, settings)

    def say(self, *lines):
        for line in lines:
            for answer in self.engine.handle_line(line):
                self.sent.put(answer)

    def ask(self, name="a", **fields):
        """Send a query, by default about an empty board of 5x5."""
        defaults = {"moves": [], "rules": "tromp-taylor", "boardXSize": 5, "boardYSize": 5}
        self.say(json.dumps({"id": name, **defaults, **fields}))

    def act(self, action, name="act", **fields):
        self.say(json.dumps({"id": name, "action": action, **fields}))

    def hear(self):
        return self.sent.get(timeout=PATIENCE)

    def answer(self):
        return json.loads(self.hear())

    def final(self):
        """Return the next answer that is not a warning."""
        while "warning" in (answer := self.answer()):
            pass
        return answer

    def rest(self):
        assert self.engine.drain(PATIENCE)
        lines = []
        while not self.sent.empty():
            lines.append(self.sent.get())
        return lines

    def answers(self):
        return [json.loads(line) for line in self.rest()]

    def close(self):
        assert self.engine.close(PATIENCE)


start = factory_fixture(EngineSession, EngineSession.close)
