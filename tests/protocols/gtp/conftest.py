"""A GTP engine in the test's own process."""

import queue

import pytest

from agent.compiled.source import Means
from protocols.gtp.play import Settings
from protocols.gtp.protocol import Gtp

PATIENCE = 60.0


class Conversation:
    """Speaks with a fresh engine and hears what it says, without the empty lines.

    Go is played by the plain search, which is there at once, unless algorithm=None is said.
    """

    def __init__(self, **options):
        if options.get("game", "go") == "go":
            options.setdefault("algorithm", "mcts")
        self.sent = queue.Queue()
        self.reports = []
        of_the_game = {name: options.pop(name) for name in ("size", "komi") if name in options}
        names = {"threads", "megabytes", "playouts", "seed"} & options.keys()
        means = Means(**{"seed": 1} | {name: options.pop(name) for name in names})
        settings = Settings(options=of_the_game, means=means, **{"seconds": 0.05, **options})
        self.gtp = Gtp("Kempelen", "1.0", self.sent.put, self.reports.append, settings)
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
        """All of one answer, as it is sent."""
        self.say(line)
        assert self.gtp.drain(PATIENCE)
        pieces = []
        while not self.sent.empty():
            pieces.append(self.sent.get() + "\n")
        return "".join(pieces)

    def close(self):
        assert self.gtp.close(PATIENCE)


@pytest.fixture
def start():
    started = []

    def start(**options):
        started.append(Conversation(**options))
        return started[-1]

    yield start
    for conversation in started:
        conversation.close()
