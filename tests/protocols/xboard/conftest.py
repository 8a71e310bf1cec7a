"""An xboard engine in the test process with a scripted searcher."""

import pytest

from protocols.xboard.protocol import XboardProtocol
from tests.protocols.uci.conftest import EngineSession, ScriptedEngine, ScriptedSearcher
from tests.support import factory_fixture


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


make_conversation = factory_fixture(XboardConversation, XboardConversation.close)


@pytest.fixture
def conversation(make_conversation):
    talk = make_conversation()
    talk.say("option OwnBook=0")
    return talk
