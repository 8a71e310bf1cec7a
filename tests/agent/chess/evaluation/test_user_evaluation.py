"""Errors of compiled user evaluations: reports name the evaluation and the exception."""

import sys
from pathlib import Path

import chess
import numpy as np
import pytest

from agent.chess.engine.levels import SkillLevel
from agent.chess.engine.limited_strength import LimitedStrengthSearch
from agent.chess.search.alphabeta_search import AlphaBetaSearch
from agent.chess.search.mcts_search import MctsSearch
from agent.chess.search.selfplay import SelfPlay
from agent.chess.search.selfplay_settings import SelfPlaySettings
from agent.evaluation import HANDCRAFTED, EvaluationError, load
from agent.kernel import user_evaluation
from agent.limits import Cp, Info, Limits

SOURCE = """
import numpy as np
from agent.evaluation import PAWN, U64, count, evaluator, position_at

TABLE = np.arange(10)

def pawns(worker, ply):
    return count(position_at(worker, ply).kinds[PAWN])

@evaluator
def raises(worker, ply):
    if ply >= 0:
        raise ValueError("no good", ply)
    return 0

@evaluator
def raises_late(worker, ply):
    if worker.nodes > 3000:
        raise ValueError("too late")
    return count(position_at(worker, ply).kinds[PAWN])

@evaluator
def divides(worker, ply):
    return 100 // (count(position_at(worker, ply).kinds[PAWN]) - 16)

@evaluator
def divides_floats(worker, ply):
    return 1.0 / (count(position_at(worker, ply).kinds[PAWN]) - 16.0)

@evaluator
def nan(worker, ply):
    return np.nan

@evaluator
def infinite(worker, ply):
    return -np.inf

@evaluator
def beyond_the_table(worker, ply):
    return TABLE[count(position_at(worker, ply).kinds[PAWN])]

@evaluator
def sometimes_none(worker, ply):
    if ply > 200:
        return 1

@evaluator
def none(worker, ply):
    pass

@evaluator
def text(worker, ply):
    return "text"

@evaluator
def great(worker, ply):
    return 1e300

@evaluator
def small(worker, ply):
    return -10**12

@evaluator
def fraction(worker, ply):
    return 7.9

@evaluator
def unsigned(worker, ply):
    return U64(3) - U64(5)
"""

FAILURES = {
    "raises": r"ValueError: \('no good', \d+\) \(my_eval\.py, line 13\)",
    "raises_late": r"ValueError: too late \(my_eval\.py, line 19\)",
    "divides": "ZeroDivisionError: integer division by zero",
    "divides_floats": "ZeroDivisionError: division by zero",
    "nan": "ValueError: it returned NaN$",
    "infinite": "OverflowError: it returned infinity$",
    "beyond_the_table": "IndexError: index is out of bounds",
    "sometimes_none": "TypeError: expected int64, got None",
}

Searcher = type[AlphaBetaSearch] | type[MctsSearch]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("evaluations") / "my_eval.py"
    path.write_text(SOURCE)
    return path


@pytest.fixture(params=[AlphaBetaSearch, MctsSearch], ids=["alphabeta", "mcts"])
def searcher(request: pytest.FixtureRequest) -> Searcher:
    searcher_class: Searcher = request.param
    return searcher_class


@pytest.mark.parametrize("name", FAILURES)
def test_evaluation_error_ends_search_and_is_reported(
    file: Path, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    search = AlphaBetaSearch(megabytes=1, evaluation=load(f"{file}:{name}"))
    infos: list[Info[chess.Move]] = []
    with pytest.raises(EvaluationError, match=f"my_eval.py:{name} failed: {FAILURES[name]}"):
        infos.extend(search.search(chess.Board(), Limits(depth=20)))
    assert infos[-1].pv[0] in chess.Board().legal_moves
    if name == "raises_late":
        assert infos[-1].complete
    else:
        with pytest.raises(EvaluationError, match=FAILURES[name]):
            search.evaluate(chess.Board())
    search.set_evaluation(HANDCRAFTED)
    search.clear_stop()
    assert list(search.search(chess.Board(), Limits(depth=3)))[-1].depth == 3
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("threads", [1, 3])
def test_evaluation_error_ends_search_with_any_thread_count(
    file: Path, searcher: Searcher, threads: int
) -> None:
    search = searcher(megabytes=1, threads=threads, evaluation=load(f"{file}:raises_late"))
    for _ in range(2):
        search.new_game()
        search.clear_stop()
        with pytest.raises(EvaluationError, match="too late"):
            list(search.search(chess.Board(), Limits(infinite=True)))


def test_evaluation_error_ends_weak_search(file: Path) -> None:
    search = LimitedStrengthSearch(
        AlphaBetaSearch(evaluation=load(f"{file}:raises")), SkillLevel(5), seed=1
    )
    with pytest.raises(EvaluationError, match="raises failed: ValueError"):
        list(search.search(chess.Board(), Limits(movetime=5)))


def test_failed_evaluation_is_not_cached(file: Path) -> None:
    search = AlphaBetaSearch(megabytes=1, evaluation=load(f"{file}:raises"))
    with pytest.raises(EvaluationError):
        list(search.search(chess.Board(), Limits(depth=5)))
    assert not np.any(search._workers.first.worker["evaluation_cache"])
    assert search._workers.first.worker["failure"] == 0


@pytest.mark.parametrize("name", ["raises", "raises_late"])
def test_evaluation_error_ends_self_play(file: Path, name: str) -> None:
    rules = SelfPlaySettings(nodes=4000, opening_limit=30000)
    with pytest.raises(EvaluationError, match=f"{name} failed: ValueError"):
        SelfPlay(rules, 1, evaluation=load(f"{file}:{name}")).play(0)


@pytest.mark.parametrize(("name", "type_name"), [("none", "none"), ("text", "str")])
def test_non_numeric_evaluation_is_rejected(file: Path, name: str, type_name: str) -> None:
    message = f"{name} cannot be compiled: it must always return a number, .*{type_name}"
    with pytest.raises(EvaluationError, match=message):
        AlphaBetaSearch(megabytes=1, evaluation=load(f"{file}:{name}"))


@pytest.mark.parametrize(
    ("name", "value"), [("great", 29000), ("small", -29000), ("fraction", 7), ("unsigned", -2)]
)
def test_numbers_are_converted_to_clamped_centipawns(file: Path, name: str, value: int) -> None:
    search = AlphaBetaSearch(megabytes=1, evaluation=load(f"{file}:{name}"))
    assert search.evaluate(chess.Board()) == value
    info = list(search.search(chess.Board(), Limits(depth=1)))[-1]
    assert isinstance(info.score, Cp)


def test_same_source_works_under_two_file_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = (
        "from agent.evaluation import evaluator\n@evaluator\ndef f(worker, ply):\n    return 5\n"
    )
    for name in ("first_name", "second_name"):
        (tmp_path / f"{name}.py").write_text(source)
        evaluation = load(f"{tmp_path / name}.py:f")
        assert AlphaBetaSearch(megabytes=1, evaluation=evaluation).evaluate(chess.Board()) == 5
        monkeypatch.delitem(sys.modules, f"kempelen_evaluation_{name}")  # as in a new process


def test_error_names_current_line_after_file_is_edited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = (
        "from agent.evaluation import evaluator\n@evaluator\n"
        "def f(worker, ply):\n    if ply < 1000:\n        raise ValueError('bad')\n    return 0\n"
    )
    for lines in (0, 2):
        (tmp_path / "moving.py").write_text("\n" * lines + source)
        search = AlphaBetaSearch(megabytes=1, evaluation=load(f"{tmp_path / 'moving'}.py:f"))
        with pytest.raises(EvaluationError, match=rf"bad \(moving\.py, line {lines + 5}\)"):
            search.evaluate(chess.Board())
        monkeypatch.delitem(sys.modules, "kempelen_evaluation_moving")  # as in a new process


def test_error_omits_internal_line_compiled_in_another_folder(file: Path) -> None:
    search = AlphaBetaSearch(megabytes=1, evaluation=load(f"{file}:nan"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(user_evaluation, "__file__", "/elsewhere/agent/user_evaluation.py")
        with pytest.raises(EvaluationError, match=r"it returned NaN$"):
            search.evaluate(chess.Board())
