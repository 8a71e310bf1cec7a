"""Questions that wait for compiled code: for what is in the cache, not for a compiler."""

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
    go_on = threading.Event()
    monkeypatch.setattr(compilation, "is_cached", lambda part: warm)
    monkeypatch.setattr(
        compilation, "cache_problem", lambda: "the cache is lost"
    )  # so no child compiles
    monkeypatch.setattr(compilation, "load", lambda part: go_on.wait(60))

    def source() -> GameBackend[int]:
        def make(evaluate: Evaluate) -> GameSearcher[int]:
            return GameSearcher(make_search("minimax", ConnectFour(), evaluate))

        return GameBackend(make, lambda game: 0.0, None, lambda line: None)

    compiled = CompiledBackend("toy", HANDCRAFTED.name, source(), source, lambda line: None)
    threading.Timer(0.3, go_on.set).start()
    began = time.monotonic()
    compiled.wait_until_loaded(60)
    assert compiled.loaded == waits
    assert time.monotonic() - began < 30
    go_on.set()
