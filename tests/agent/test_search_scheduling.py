"""Agents that share a scheduler: waiting searches answer in time, paused searches resume."""

import threading
import time

import chess
import pytest

from agent.agent import Agent
from agent.chess.engine.board_adapter import BoardAdapter
from agent.chess.search.alphabeta_search import AlphaBetaSearch
from agent.chess.search.mcts_search import MctsSearch
from agent.connect_four.search import ConnectFourSearch
from agent.games.connect_four import ConnectFour
from agent.games.go import Go
from agent.go.search import GoSearch
from agent.kernel.backend import SearchConfig
from agent.limits import Cp, Info, Limits, Progress, SideClock
from agent.threads import scheduler as scheduler_module
from agent.threads.scheduler import SearchScheduler
from tests.waiting import PATIENCE, until


class IterativeDeepening:
    """A fake searcher: one iteration per millisecond, with pauses between iterations."""

    threads = 1
    runs_user_code = False

    def __init__(self, pausable=True, hangs=False):
        self.depths = []
        self.pauses = 0
        self._stop = threading.Event()
        self._wait = None
        self._hangs = hangs
        if not pausable:
            self.pause = None

    def clear_stop(self):
        self._stop.clear()

    def stop(self):
        self._stop.set()

    def pause(self, wait):
        self._wait = wait

    def progress(self):
        return Progress(nodes=1)

    def search(self, board, limits, lines=1):
        move = chess.Move.from_uci("e2e4")
        for depth in range(1, 1_000_000):
            if self._hangs:
                self._stop.wait()
            if (wait := self._wait) is not None:
                self._wait = None
                self.pauses += 1
                wait()
            self.depths.append(depth)
            yield Info(depth, Cp(0), (move,))
            if self._stop.wait(0.001):
                return

    def get_searcher(self, clock, stop):
        return self

    def abandon(self, thread):
        return None


class ResultListener:
    def __init__(self):
        self.results = []
        self.changed = threading.Condition()

    def info(self, info):
        pass

    def progress(self, progress, seconds):
        pass

    def error(self, message):
        raise AssertionError(message)

    def result(self, result):
        with self.changed:
            self.results.append(result)
            self.changed.notify_all()

    def wait(self):
        with self.changed:
            assert self.changed.wait_for(lambda: self.results, PATIENCE)
        return self.results[0]


@pytest.fixture
def player():
    players = []

    def make(scheduler, searcher):
        listener = ResultListener()
        players.append(Agent(searcher, listener, BoardAdapter(), scheduler=scheduler))
        players[-1].listener, players[-1].searcher = listener, searcher
        return players[-1]

    yield make
    for each in players:
        assert each.close(PATIENCE)


@pytest.mark.parametrize("limits", [Limits(infinite=True), Limits(ponder=True, movetime=60)])
def test_endless_search_pauses_for_another_and_resumes(player, limits):
    scheduler = SearchScheduler(1)
    endless, short = (
        player(scheduler, IterativeDeepening()),
        player(scheduler, IterativeDeepening()),
    )
    endless.go(chess.Board(), limits)
    assert until(lambda: len(endless.searcher.depths) > 3)
    short.go(chess.Board(), Limits(movetime=0.3))
    assert short.listener.wait().move == chess.Move.from_uci("e2e4")
    assert short.searcher.depths
    assert endless.searcher.pauses == 1
    before = len(endless.searcher.depths)
    assert until(lambda: len(endless.searcher.depths) > before + 3)
    assert endless.searcher.depths == sorted(set(endless.searcher.depths))
    endless.stop()
    assert endless.listener.wait().info.depth > before


def test_stop_while_waiting_for_a_turn_is_answered_at_once(player):
    scheduler = SearchScheduler(1)
    holder, waiting = (
        player(scheduler, IterativeDeepening(hangs=True)),
        player(scheduler, IterativeDeepening()),
    )
    holder.go(chess.Board(), Limits(movetime=60))
    assert until(lambda: scheduler.counts() == (1, 0))
    waiting.go(chess.Board(), Limits(infinite=True))
    assert until(lambda: scheduler.counts() == (1, 1))
    waiting.stop()
    assert waiting.listener.wait().move == chess.Move.from_uci("e2e4")
    assert waiting.searcher.depths == [1], "only the first iteration is searched"
    assert scheduler.counts() == (1, 0)


def test_waiting_search_runs_in_the_last_moments_of_its_time(player, monkeypatch):
    monkeypatch.setattr(scheduler_module, "LAST_MOMENTS", 1.0)
    scheduler = SearchScheduler(1)
    holder, waiting = (
        player(scheduler, IterativeDeepening(hangs=True)),
        player(scheduler, IterativeDeepening()),
    )
    holder.go(chess.Board(), Limits(movetime=60))
    assert until(lambda: scheduler.counts() == (1, 0))
    began = time.monotonic()
    waiting.go(chess.Board(), Limits(movetime=2.0))
    assert waiting.listener.wait().move == chess.Move.from_uci("e2e4")
    assert 0.9 < time.monotonic() - began < PATIENCE / 2
    assert waiting.searcher.depths
    assert scheduler.counts() == (1, 0)


def test_waiting_past_the_soft_limit_still_allows_iterations(player):
    """The soft limit has passed before the search runs, but it has several iterations."""
    scheduler = SearchScheduler(1)
    holder, waiting = (
        player(scheduler, IterativeDeepening(hangs=True)),
        player(scheduler, IterativeDeepening()),
    )
    holder.go(chess.Board(), Limits(movetime=60))
    assert until(lambda: scheduler.counts() == (1, 0))
    waiting.go(chess.Board(), Limits(clock=SideClock(60.0)))
    time.sleep(2.5)
    holder.stop()
    assert waiting.listener.wait().info.depth > 3


def test_forty_players_on_two_slots_are_each_answered_once(player):
    scheduler = SearchScheduler(2)
    agents = [player(scheduler, IterativeDeepening()) for _ in range(40)]
    for agent in agents:
        agent.go(chess.Board(), Limits(movetime=4.0))
    assert all(agent.listener.wait().move in chess.Board().legal_moves for agent in agents)
    searched = sum(bool(agent.searcher.depths) for agent in agents)
    assert searched > 10, searched
    assert all(agent.wait(PATIENCE) for agent in agents)
    assert all(len(agent.listener.results) == 1 for agent in agents)
    assert scheduler.counts() == (0, 0)


# Compiled searches with frequent pauses.

START = chess.Board()
SEARCHES = {
    "alphabeta": (lambda: AlphaBetaSearch(4), START, Limits(depth=9)),
    "alphabeta, threads": (lambda: AlphaBetaSearch(4, threads=2), START, Limits(depth=8)),
    "mcts": (lambda: MctsSearch(8), START, Limits(nodes=6_000)),
    "mcts, threads": (lambda: MctsSearch(8, threads=2), START, Limits(nodes=6_000)),
    "go": (lambda: GoSearch(SearchConfig(megabytes=8, seed=1)), Go(9), Limits(nodes=3_000)),
    "go, threads": (lambda: GoSearch(SearchConfig(2, 8, seed=1)), Go(9), Limits(nodes=3_000)),
    "connect four": (lambda: ConnectFourSearch(), ConnectFour(), Limits(depth=13)),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_paused_search_resumes_and_completes(name):
    make, position, limits = SEARCHES[name]
    search = make()
    rests, over = [], threading.Event()

    def pause():
        search.pause(lambda: rests.append(time.sleep(0.002)))

    def interrupt():
        while not over.wait(0.004):
            pause()

    search.clear_stop()
    pause()  # the search may end before the thread begins
    disturber = threading.Thread(target=interrupt)
    disturber.start()
    try:
        infos = list(search.search(position, limits))
    finally:
        over.set()
        disturber.join()
    assert rests
    assert all(info.complete for info in infos)
    depths = [info.depth for info in infos]
    assert depths == sorted(depths)
    if limits.depth:
        assert depths == list(range(1, limits.depth + 1))
    else:
        assert infos[-1].nodes >= limits.nodes
    if name == "connect four":
        undisturbed = list(make().search(position, limits))
        assert [(each.score, each.pv[0]) for each in infos] == [
            (each.score, each.pv[0]) for each in undisturbed
        ]


@pytest.mark.parametrize("name", SEARCHES)
def test_stop_ends_a_paused_search(name):
    make, position, _ = SEARCHES[name]
    search = make()
    resting, stopped = threading.Event(), threading.Event()

    def wait():
        resting.set()
        assert stopped.wait(PATIENCE)

    def stop():
        time.sleep(0.05)
        search.pause(wait)
        assert resting.wait(PATIENCE)
        search.stop()
        stopped.set()

    search.clear_stop()
    stopper = threading.Thread(target=stop)
    stopper.start()
    infos = list(search.search(position, Limits()))
    stopper.join()
    assert infos[0].pv
    search.clear_stop()
    assert next(iter(search.search(position, Limits(depth=1)))).pv  # it can be used again
