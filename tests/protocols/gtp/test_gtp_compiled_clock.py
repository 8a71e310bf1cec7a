"""A compiled search over GTP ends in time in every game."""

import time

import pytest

from agent.connect_four.search import ConnectFourSearch
from agent.go.search import GoSearch

SEARCHES = {"connect-four": ConnectFourSearch, "go": GoSearch}


@pytest.fixture(params=SEARCHES)
def talk(request, start):
    """A session with the compiled search, without a book, and with long thinking times."""
    options = {"size": 19, "megabytes": 8} if request.param == "go" else {}
    talk = start(game=request.param, algorithm=None, book=False, seconds=1000.0, **options)
    talk.await_compiled()
    return talk


def test_interrupt_ends_a_long_search_at_once(talk):
    talk.say("genmove b")
    search = SEARCHES[talk.gtp.session.settings.game]
    while not isinstance(talk.searcher, search) or not talk.searcher.progress().nodes:
        time.sleep(0.01)
    began = time.monotonic()
    talk.say("# interrupt")
    assert talk.hear().startswith("= ")
    assert time.monotonic() - began < 5


@pytest.mark.thorough(keep=2)
@pytest.mark.parametrize("settings", ["time_settings 0 1 1", "kgs-time_settings absolute 10"])
def test_genmove_obeys_the_clock(talk, settings):
    assert talk.answer(settings) == "=\n\n"
    began = time.monotonic()
    assert talk.answer("genmove b").startswith("= ")
    assert time.monotonic() - began < 10
