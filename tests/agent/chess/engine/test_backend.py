"""The chess backend while a fake kernel is loaded, compiled or missing."""

import sys
import threading
import time
from types import SimpleNamespace

import chess
import pytest

from agent import evaluation_types
from agent.agent import AgentError
from agent.chess.engine import backend as engine_module
from agent.chess.engine import settings as settings_module
from agent.chess.engine.backend import ChessBackend
from agent.chess.engine.levels import MAX_ELO, MAX_SKILL, MIN_ELO, SkillLevel, skill_for_elo
from agent.chess.engine.limited_strength import LimitedStrengthSearch
from agent.chess.evaluation import loading
from agent.chess.evaluation.loading import DEFAULT, load
from agent.chess.search.python_search import PythonSearch
from agent.clock import SearchClock
from agent.evaluation import HANDCRAFTED, EvaluationError
from agent.kernel import compilation
from agent.limits import Limits, SideClock
from agent.threads.one_shot_event import OneShotEvent, wait_for_any
from agent.threads.serial_executor import Job
from tests.held_compiler import HeldCompiler
from tests.waiting import PATIENCE

BLITZ = Limits(clock=SideClock(60.0))


class FakeKernel:
    """Records its calls."""

    def __init__(self, megabytes, evaluation):
        self.calls = []
        self.evaluation = evaluation

    def search(self, board, limits, lines=1):
        self.calls.append("search")
        return iter(())

    def clear_stop(self):
        pass

    def new_game(self):
        self.calls.append("new_game")

    def clear(self):
        self.calls.append("clear")

    def resize(self, megabytes):
        if megabytes > 1024:
            raise MemoryError("no memory")
        self.calls.append(("resize", megabytes))

    def set_threads(self, threads):
        self.calls.append(("set_threads", threads))

    def set_evaluation(self, evaluation):
        if evaluation.name.endswith("wrong"):
            raise EvaluationError("does not compile")
        self.evaluation = evaluation
        self.calls.append(("set_evaluation", evaluation.name))


class FakeTree(FakeKernel):
    """Stands for Monte Carlo tree search."""

    final_choice = "visits"


class FakeVariantKernel(FakeKernel):
    """Stands for the search of a variant."""


@pytest.fixture
def situation(monkeypatch):
    """The state of the fake kernel: compiled, unless the test changes it."""
    now = SimpleNamespace(
        warm=True,
        cold_parts=(),
        child=HeldCompiler(),
        gate=threading.Event(),
        error=None,
        children=0,
    )
    now.gate.set()
    monkeypatch.setattr(engine_module, "_warmed_up", set())

    def load(part):
        assert now.gate.wait(PATIENCE)
        if now.error:
            raise now.error

    def compile_in_child(part):
        now.children += 1
        return now.child

    for module in (engine_module, settings_module):
        monkeypatch.setattr(module, "usable_cores", lambda: 8)
    monkeypatch.setattr(
        compilation, "is_cached", lambda part: now.warm and part not in now.cold_parts
    )
    monkeypatch.setattr(compilation, "load", load)
    monkeypatch.setattr(compilation, "compile_in_child", compile_in_child)
    fake = SimpleNamespace(AlphaBetaSearch=FakeKernel)
    monkeypatch.setitem(sys.modules, "agent.chess.search.alphabeta_search", fake)
    fake = SimpleNamespace(AlphaBetaSearch=FakeVariantKernel)
    monkeypatch.setitem(sys.modules, "agent.chess_3check.search.alphabeta_search", fake)
    fake = SimpleNamespace(MctsSearch=FakeTree)
    monkeypatch.setitem(sys.modules, "agent.chess.search.mcts_search", fake)
    return now


@pytest.fixture
def engine(situation):
    reports = []
    backend = ChessBackend(reports.append)
    backend.reports = reports
    yield backend
    situation.gate.set()
    assert backend.close(PATIENCE)


def searcher(engine, limits, stop=None):
    return engine.get_searcher(SearchClock(limits), stop or OneShotEvent())


def use_shipped_network(monkeypatch, path):
    for module in (evaluation_types, loading):
        monkeypatch.setattr(module, "SHIPPED_NETWORK", path)


@pytest.mark.parametrize("limits", [BLITZ, Limits(depth=3), Limits(infinite=True)])
def test_warm_kernel_handles_every_kind_of_limit(engine, limits):
    assert isinstance(searcher(engine, limits), FakeKernel)
    assert engine.reports == []


def test_new_kernel_runs_trial_search_and_is_reset(engine):
    kernel = engine.wait_for_kernel(OneShotEvent())
    assert kernel.calls[:2] == ["search", "new_game"]


def test_early_settings_are_applied_when_kernel_loads(engine, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("def evaluate(board):\n    return 0\n")
    engine.set_megabytes(64)
    engine.set_threads(3)
    engine.set_evaluation(f"{path}:evaluate")
    kernel = engine.wait_for_kernel(OneShotEvent())
    assert kernel.calls[2:] == [
        ("resize", 64),
        ("set_threads", 1),
        ("set_evaluation", f"{path}:evaluate"),
    ]


def test_shipped_network_is_the_default_evaluation(engine):
    kernel = engine.wait_for_kernel(OneShotEvent())
    assert kernel.evaluation.network is load(DEFAULT).network
    engine.set_evaluation("handcrafted")
    assert kernel.evaluation is HANDCRAFTED


@pytest.mark.parametrize("damage", [lambda path: None, lambda path: path.write_bytes(b"\x8bKmp")])
def test_broken_network_falls_back_to_handcrafted_evaluation(engine, damage, monkeypatch, tmp_path):
    path = tmp_path / "shipped.nnue"
    damage(path)
    use_shipped_network(monkeypatch, path)
    kernel = engine.wait_for_kernel(OneShotEvent())
    assert kernel.evaluation is HANDCRAFTED
    (report,) = engine.reports
    assert report.startswith(f"evaluation nnue: {path}")
    assert report.endswith("reinstall Kempelen, or use `handcrafted`; using handcrafted")
    with pytest.raises(EvaluationError, match=r"shipped\.nnue"):
        engine.set_evaluation(DEFAULT)
    assert searcher(engine, BLITZ) is kernel
    assert kernel.evaluation is HANDCRAFTED


def test_rejected_memory_size_keeps_the_network(engine):
    engine.start()
    wait_for_any(engine.ready, timeout=60)
    with pytest.raises(MemoryError):
        engine.set_megabytes(65536)
    assert engine.wait_for_kernel(OneShotEvent()).evaluation.network is load(DEFAULT).network


def test_handcrafted_evaluation_needs_no_network_file(engine, monkeypatch, tmp_path):
    use_shipped_network(monkeypatch, tmp_path / "none.nnue")
    engine.set_evaluation("handcrafted")
    assert engine.wait_for_kernel(OneShotEvent()).evaluation is HANDCRAFTED
    assert engine.reports == []


def test_invalid_early_settings_are_reported_and_ignored(engine, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("def wrong(board):\n    return 0\n")
    engine.set_megabytes(2048)
    engine.set_evaluation(f"{path}:wrong")
    kernel = engine.wait_for_kernel(OneShotEvent())
    assert engine.reports == ["no memory", "does not compile"]
    assert kernel.calls[2:] == [("set_threads", 1)]


def test_settings_are_applied_to_loaded_kernel(engine):
    kernel = engine.wait_for_kernel(OneShotEvent())
    del kernel.calls[:]
    engine.set_megabytes(8)
    engine.set_threads(2)
    engine.set_evaluation("handcrafted")
    engine.clear()
    engine.new_game()
    assert kernel.calls == [
        ("resize", 8),
        ("set_threads", 2),
        ("set_evaluation", HANDCRAFTED.name),
        ("set_threads", 2),
        "clear",
        "new_game",
    ]
    with pytest.raises(MemoryError):
        engine.set_megabytes(65536)


@pytest.mark.parametrize("spec", ["nonsense", "missing.py:f", "x" * 5000 + ".py:f", "no_module:f"])
def test_missing_evaluation_changes_nothing(engine, spec):
    kernel = engine.wait_for_kernel(OneShotEvent())
    before = list(kernel.calls)
    with pytest.raises((EvaluationError, AgentError)):
        engine.set_evaluation(spec)
    assert kernel.calls == before


def test_only_timed_searches_run_before_cold_kernel_is_compiled(engine, situation):
    situation.warm = False
    for limits in (BLITZ, Limits(movetime=1.0), Limits(clock=SideClock(60.0), ponder=True)):
        assert isinstance(searcher(engine, limits), PythonSearch)
    assert "compiling" in engine.reports[0]
    results = []
    waiting = threading.Thread(target=lambda: results.append(searcher(engine, Limits(depth=3))))
    waiting.start()
    waiting.join(0.1)
    assert waiting.is_alive()
    situation.child.ended.set()
    waiting.join(PATIENCE)
    assert isinstance(results[0], FakeKernel)
    assert isinstance(searcher(engine, BLITZ), FakeKernel)
    assert situation.children == 1


def test_search_waiting_for_kernel_can_be_stopped(engine, situation):
    situation.warm = False
    stop = OneShotEvent()
    timer = threading.Timer(0.05, stop.set)
    timer.start()
    assert isinstance(searcher(engine, Limits(infinite=True), stop), PythonSearch)
    timer.join()
    with pytest.raises(AgentError, match="kernel, which is still being compiled"):
        engine.wait_for_kernel(stop)


def test_stop_does_not_interrupt_kernel_loading(engine, situation):
    situation.gate.clear()
    stop = OneShotEvent()
    stop.set()
    timer = threading.Timer(0.1, situation.gate.set)
    timer.start()
    assert isinstance(engine.wait_for_kernel(stop), FakeKernel)
    timer.join()


def test_timed_search_waits_briefly_for_warm_kernel(engine, situation):
    situation.gate.clear()
    assert isinstance(searcher(engine, Limits(clock=SideClock(0.5))), PythonSearch)
    situation.gate.set()
    assert isinstance(searcher(engine, BLITZ), FakeKernel)


def test_readiness_waits_for_the_kernel_or_for_the_next_request(engine, situation, monkeypatch):
    situation.gate.clear()
    job = Job(lambda job: None, long_running=False)
    timer = threading.Timer(0.05, job.superseded.set)
    timer.start()
    engine.wait_until_loaded(job)
    assert not engine.ready.is_set()
    timer.join()
    monkeypatch.setattr("agent.chess.engine.backend.READY_TIMEOUT_S", 0.01)
    time.sleep(0.02)
    engine.wait_until_loaded(Job(lambda job: None, long_running=False))
    assert not engine.ready.is_set()
    monkeypatch.setattr("agent.chess.engine.backend.READY_TIMEOUT_S", PATIENCE)
    situation.gate.set()
    engine.wait_until_loaded(Job(lambda job: None, long_running=False))
    assert engine.ready.is_set()


def test_readiness_need_not_include_compilation(engine, situation):
    situation.warm = False
    job = Job(lambda job: None, long_running=False)
    engine.wait_until_loaded(job, unless_compiling=True)
    assert not engine.ready.is_set()
    situation.child.ended.set()
    engine.wait_until_loaded(job)
    assert engine.ready.is_set()


def test_missing_kernel_falls_back_to_plain_search(engine, situation):
    situation.error = ImportError("no numba here")
    assert isinstance(searcher(engine, Limits(depth=1)), PythonSearch)
    assert "no numba here" in engine.reports[0]
    with pytest.raises(AgentError, match="kernel"):
        engine.wait_for_kernel(OneShotEvent())


def test_fallback_search_uses_user_evaluation(engine, situation, tmp_path):
    situation.warm = False
    path = tmp_path / "mine.py"
    path.write_text("def evaluate(board):\n    raise ValueError('mine was called')\n")
    engine.set_evaluation(f"{path}:evaluate")
    plain = searcher(engine, BLITZ)
    plain.clear_stop()
    with pytest.raises(Exception, match="mine was called"):
        list(plain.search(chess.Board(), Limits(depth=1)))


def test_chosen_search_runs_and_gets_the_memory(engine):
    kernel = engine.wait_for_kernel(OneShotEvent())
    engine.set_megabytes(64)
    engine.set_final_choice("value")
    engine.set_search("mcts")
    tree = searcher(engine, Limits(depth=3))
    assert isinstance(tree, FakeTree)
    assert tree.final_choice == "value"
    assert [call for call in tree.calls if call[0] == "resize"][-1] == ("resize", 64)
    assert kernel.calls[-1] == ("resize", 1)
    engine.set_final_choice("bound")
    assert tree.final_choice == "bound"
    engine.new_game()
    assert tree.calls[-1] == kernel.calls[-1] == "new_game"
    with pytest.raises(MemoryError):
        engine.set_megabytes(2048)
    engine.set_search("alphabeta")
    assert searcher(engine, BLITZ) is kernel
    assert kernel.calls[-1] == ("resize", 64)
    assert tree.calls[-1] == ("resize", 1)


def test_levels_use_alphabeta_search(engine):
    engine.set_search("mcts")
    assert isinstance(searcher(engine, Limits(depth=3)), FakeTree)
    engine.set_level(skill=5)
    weak = searcher(engine, Limits(depth=3))
    assert isinstance(weak, LimitedStrengthSearch)
    assert weak._level == SkillLevel(5)
    engine.set_level(limit=True)
    assert searcher(engine, BLITZ)._level == SkillLevel(skill_for_elo(MIN_ELO))
    engine.set_level(elo=MAX_ELO)
    assert isinstance(searcher(engine, BLITZ), FakeTree)
    engine.set_level(limit=False)
    assert searcher(engine, BLITZ)._level == SkillLevel(5)


def test_levels_use_one_thread(engine):
    kernel = engine.wait_for_kernel(OneShotEvent())
    del kernel.calls[:]
    engine.set_threads(3)
    engine.set_level(skill=5)
    engine.set_threads(4)
    engine.set_level(skill=int(MAX_SKILL))
    assert kernel.calls == [("set_threads", threads) for threads in (3, 1, 1, 4)]


def test_thread_count_is_limited_to_cores(engine):
    kernel = engine.wait_for_kernel(OneShotEvent())
    del kernel.calls[:]
    for threads in (8, 9, 256, 1):
        engine.set_threads(threads)
    assert kernel.calls == [("set_threads", threads) for threads in (8, 8, 8, 1)]
    assert engine.reports == [
        f"threads: using 8 instead of {threads} (number of cores)" for threads in (9, 256)
    ]


def test_python_evaluation_uses_one_thread(engine, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("def evaluate(board):\n    return 0\n")
    kernel = engine.wait_for_kernel(OneShotEvent())
    engine.set_threads(3)
    engine.set_evaluation(f"{path}:evaluate")
    engine.set_threads(4)
    assert engine.reports == ["threads: using 1, because the evaluation is in Python"] * 2
    assert kernel.calls[-1] == ("set_threads", 1)
    engine.set_evaluation("handcrafted")
    assert kernel.calls[-1] == ("set_threads", 4)
    assert len(engine.reports) == 2


def test_levels_use_a_new_seed_for_each_game(engine):
    engine.set_level(skill=5)
    seeds = set()
    for _ in range(5):
        engine.new_game()
        seeds.add(searcher(engine, BLITZ)._seed)
    assert len(seeds) == 5


def test_other_search_is_not_loaded_until_chosen(engine, situation):
    situation.cold_parts = ("mcts",)
    assert isinstance(searcher(engine, BLITZ), FakeKernel)
    engine.new_game()
    engine.clear()
    assert engine.reports == []
    assert situation.children == 0


def test_alphabeta_plays_timed_games_while_mcts_compiles(engine, situation):
    situation.cold_parts = ("mcts",)
    engine.set_search("mcts")
    assert not isinstance(searcher(engine, BLITZ), FakeTree)
    assert isinstance(searcher(engine, BLITZ), FakeKernel)
    assert engine.reports == ["compiling the mcts search (once, about a minute); using alphabeta"]
    situation.child.ended.set()
    assert isinstance(searcher(engine, Limits(depth=3)), FakeTree)
    assert engine.reports[1:] == ["finished compiling the mcts search"]
    assert situation.children == 1


def test_unloadable_search_is_reported_and_alphabeta_plays(engine, situation, monkeypatch):
    def fail(megabytes, evaluation):
        raise ImportError("not this one")

    monkeypatch.setattr(sys.modules["agent.chess.search.mcts_search"], "MctsSearch", fail)
    engine.set_search("mcts")
    for _ in range(2):
        assert isinstance(searcher(engine, BLITZ), FakeKernel)
    (report,) = engine.reports
    assert report.startswith("could not load the mcts search; using alphabeta: ")
    assert "not this one" in report


def test_closing_engine_kills_the_compiler(engine, situation):
    situation.warm = False
    searcher(engine, BLITZ)
    assert engine.close(PATIENCE)
    assert situation.child.killed


def test_unstarted_engine_can_be_closed(engine):
    assert engine.close(0.0)


def test_variant_has_its_own_search_and_keeps_the_settings(engine):
    engine.set_search("mcts")
    assert isinstance(searcher(engine, BLITZ), FakeTree)
    engine.set_variant("3check")
    assert engine.reports == ["search mcts: not available in 3check; using alphabeta"]
    engine.set_megabytes(32)
    found = searcher(engine, BLITZ)
    assert isinstance(found, FakeVariantKernel)
    assert ("resize", 32) in found.calls
    engine.set_variant("chess")
    assert isinstance(searcher(engine, BLITZ), FakeTree)


def test_code_of_a_variant_is_compiled_when_it_is_first_needed(engine, situation):
    situation.cold_parts = ("alphabeta-3check",)
    assert isinstance(searcher(engine, BLITZ), FakeKernel)
    assert situation.children == 0
    engine.set_variant("3check")
    assert isinstance(searcher(engine, BLITZ), PythonSearch)
    assert situation.children == 1


def test_evaluation_of_the_user_is_used_in_chess_only(engine, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("def evaluate(board):\n    return 0\n")
    engine.set_variant("3check")
    engine.set_evaluation(f"{path}:evaluate")
    assert searcher(engine, BLITZ).evaluation.network is load(DEFAULT).network
    engine.set_variant("chess")
    assert ("set_evaluation", f"{path}:evaluate") in searcher(engine, BLITZ).calls
    engine.set_variant("3check")
    assert engine.reports == [f"evaluation {path}:evaluate: not used in 3check"]
