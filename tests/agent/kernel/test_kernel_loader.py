"""Requests wait for cached code, but not for the compiler."""

import threading
import time

import pytest

from agent.clock import SearchClock
from agent.evaluation import HANDCRAFTED
from agent.games.connect_four import ConnectFour
from agent.kernel import compilation, kernel_loader
from agent.kernel.backend import CompiledBackend
from agent.kernel.kernel_loader import KernelLoader
from agent.limits import Limits, SideClock
from agent.search.backend import Evaluate, GameBackend
from agent.search.defaults import make_search
from agent.search.searcher import GameSearcher
from agent.threads.one_shot_event import OneShotEvent


@pytest.mark.parametrize(("warm", "waits"), [(True, True), (False, False)])
def test_request_waits_for_warm_code_but_not_for_compiler(
    warm: bool, waits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    continue_loading = threading.Event()
    monkeypatch.setattr(compilation, "is_cached", lambda part: warm)
    monkeypatch.setattr(
        compilation, "cache_problem", lambda: "no cache"
    )  # so no child process compiles
    monkeypatch.setattr(compilation, "load", lambda part: continue_loading.wait(60))

    def backend() -> GameBackend[int]:
        def make(evaluate: Evaluate) -> GameSearcher[int]:
            return GameSearcher(make_search("minimax", ConnectFour(), evaluate))

        return GameBackend(make, lambda game: 0.0, None, lambda line: None)

    compiled = CompiledBackend("toy", HANDCRAFTED.name, backend(), backend, lambda line: None)
    threading.Timer(0.3, continue_loading.set).start()
    began = time.monotonic()
    compiled.wait_until_loaded(60)
    assert compiled.loaded == waits
    assert time.monotonic() - began < 30
    continue_loading.set()


@pytest.mark.parametrize(
    ("limits", "seconds"),
    [
        (Limits(movetime=2.0), 1.0),
        (Limits(clock=SideClock(10.0, 0.1)), 0.87),
        (Limits(clock=SideClock(60.0)), 3.0),
        (Limits(clock=SideClock(900.0)), 16.875),
        (Limits(depth=9), None),
    ],
)
def test_search_waits_for_loading_for_half_of_its_time(
    limits: Limits[int], seconds: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    timeouts: list[float | None] = []
    monkeypatch.setattr(
        kernel_loader, "wait_for_any", lambda *events, timeout=None: timeouts.append(timeout)
    )
    now = 0.0
    clock: SearchClock[int] = SearchClock(limits, now=lambda: now)
    loader = KernelLoader("toy", "toy", "waiting", lambda line: None)
    monkeypatch.setattr(loader, "start", lambda: None)
    loader.wait(clock, OneShotEvent())
    assert timeouts == [seconds if seconds is None else pytest.approx(seconds)]
    now = 100.0
    loader.wait(clock, OneShotEvent())
    assert timeouts[1] == (None if seconds is None else 0.0), "for all parts together"


def test_searches_leave_nothing_behind_in_the_loader() -> None:
    loader = KernelLoader("toy", "toy", "waiting", lambda line: None)
    loader.ready.set()
    limits: Limits[int] = Limits(movetime=9.0)
    stop = OneShotEvent()
    for _ in range(3):
        loader.wait(SearchClock(limits), stop)
    assert loader.compiling._callbacks == stop._callbacks == []
