"""The source of a player's search, with a user's evaluation that hangs."""

import threading
import time
from contextlib import suppress

import pytest

from agent.clock import SearchClock
from agent.games.tic_tac_toe import TicTacToe
from agent.limits import Limits
from agent.search.algorithms.alpha_beta import AlphaBeta
from agent.search.backend import GameBackend
from agent.search.searcher import GameSearcher
from agent.threads.abandoned_threads import GRACE_PERIOD_S, MAX_ABANDONED
from agent.threads.background_call import AbandonedError
from agent.threads.one_shot_event import OneShotEvent


@pytest.fixture
def released():
    """Set when the user's evaluation may return."""
    event = threading.Event()
    yield event
    event.set()


class Made:
    """A backend with the evaluations it used and its reports."""

    def __init__(self, function):
        self.evaluations, self.reports = [], []
        self.source = GameBackend(self._make, own, ("mine.py:f", function), self.reports.append)

    def _make(self, evaluate):
        self.evaluations.append(evaluate)
        return GameSearcher(AlphaBeta(evaluate))

    def search(self):
        """Search in a thread, as a player does, and return the thread."""
        searcher = self.source.get_searcher(SearchClock(Limits(depth=1)), OneShotEvent())

        def run():
            with suppress(AbandonedError):
                list(searcher.search(TicTacToe(), Limits(depth=1)))

        thread = threading.Thread(target=run)
        thread.start()
        return thread

    def abandon(self, thread):
        """Abandon the search as soon as possible."""
        deadline = time.monotonic() + 20
        while (reason := self.source.abandon(thread)) is None:
            assert time.monotonic() < deadline
            time.sleep(GRACE_PERIOD_S / 4)
        return reason


def own(game):
    return 0.0


def test_repeatedly_hung_evaluation_is_disabled_until_it_returns(released):
    def hang(game):
        # A wait in C is not interrupted.
        released.wait(20)
        return 0.0

    made = Made(hang)
    threads = []
    for _ in range(MAX_ABANDONED + 1):
        threads.append(made.search())
        assert made.abandon(threads[-1]).startswith("evaluation mine.py:f did not return in time")
        assert made.reports == []
    assert made.evaluations[-1] is not own
    rested = made.search()
    rested.join(20)
    assert made.evaluations[-1] is own
    assert made.reports == [
        "evaluation mine.py:f still does not return; using the game's evaluation"
    ]
    released.set()
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive()
    made.search().join(20)
    assert made.evaluations[-1] is not own
    assert len(made.reports) == 1


def test_finished_search_is_not_abandoned(released):
    made = Made(own)
    thread = made.search()
    thread.join(20)
    assert made.source.abandon(thread) is None


def test_new_game_creates_a_search_and_reports_save_errors():
    made = Made(own)
    before = len(made.evaluations)
    made.source.new_game()
    assert len(made.evaluations) == before + 1

    class Forgetful(GameSearcher):
        def save(self):
            raise OSError("disk full")

    reports = []
    source = GameBackend(lambda evaluate: Forgetful(AlphaBeta(evaluate)), own, None, reports.append)
    source.new_game()
    assert reports == ["disk full"]
