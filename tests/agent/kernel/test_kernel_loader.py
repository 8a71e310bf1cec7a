"""Requests wait for cached code, but not for the compiler."""

import threading
import time

import pytest

from agent.evaluation import HANDCRAFTED
from agent.games.connect_four import ConnectFour
from agent.kernel import compilation
from agent.kernel.backend import CompiledBackend
from agent.search.backend import Evaluate, GameBackend
from agent.search.defaults import make_search
from agent.search.searcher import GameSearcher


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
