"""An xboard engine in the test process with a scripted searcher."""

import pytest

from protocols.xboard.protocol import XboardProtocol
from tests.protocols.uci.conftest import PATIENCE, EngineSession, ScriptedEngine, ScriptedSearcher


class PatientSearcher(ScriptedSearcher):
    """Uses seconds of a time limit of minutes, to keep the tests fast."""

    def pace(self, limits):
        return 0.05 if limits.movetime and limits.movetime >= 50 else 0.001


class PatientEngine(ScriptedEngine):
    def __init__(self, report):
        super().__init__(report)
        self.scripted = PatientSearcher()


class XboardConversation(EngineSession):
    def __init__(self, make_engine=PatientEngine, **options):
        super().__init__(make_engine, **options)

    def make_protocol(self, *arguments):
        return XboardProtocol("Kempelen test", *arguments)

    def rest(self):
        return self.wait_for(self.uci.chess.agent)

    @property
    def xboard(self):
        return self.uci


@pytest.fixture
def conversation():
    talk = XboardConversation()
    talk.say("option OwnBook=0")
    yield talk
    assert talk.xboard.close(PATIENCE)


@pytest.fixture
def make_conversation():
    made = []

    def make(*arguments, **options):
        made.append(XboardConversation(*arguments, **options))
        return made[-1]

    yield make
    for talk in made:
        assert talk.xboard.close(PATIENCE)
