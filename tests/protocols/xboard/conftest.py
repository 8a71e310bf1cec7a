"""An engine that speaks xboard's protocol in the test's own process, around a scripted searcher."""

import pytest

from protocols.xboard.protocol import Xboard
from tests.protocols.uci.conftest import PATIENCE, Conversation


class XboardConversation(Conversation):
    protocol = Xboard

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
