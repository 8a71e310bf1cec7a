"""Evaluations by name: loading, compiling, and error messages."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pytest

from agent import evaluation
from agent.chess.search.alphabeta_search import AlphaBetaSearch
from agent.evaluation import HANDCRAFTED, EvaluationError, load
from agent.evaluation_loading import load_game_evaluation
from agent.games import catalogue
from agent.limits import Cp, Limits

KNIGHTS = """
from agent.evaluation import KNIGHT, count, evaluator, position_at
WORTH = 300

@evaluator
def knights(worker, ply):
    position = position_at(worker, ply)
    own, enemy = position.sides[position.turn], position.sides[1 - position.turn]
    knights = position.kinds[KNIGHT]
    return WORTH * (count(knights & own) - count(knights & enemy))

@evaluator
def wrong(worker, ply):
    return position_at(worker, ply).no_such_field

@evaluator
def narrow(worker):
    return 7

def plain(board):
    return 7

def deeper(board, depth, *, width=1):
    return 7

def optional(board, depth=1):
    return 7

def floating(board):
    return 7.5
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "my eval.py"
    path.write_text(KNIGHTS)
    return path


def static(spec: str, fen: str = chess.STARTING_FEN) -> int:
    return AlphaBetaSearch(megabytes=1, evaluation=load(spec)).evaluate(chess.Board(fen))


def test_handcrafted_name_loads_the_built_in_evaluation() -> None:
    assert load("handcrafted") is HANDCRAFTED
    assert load(" Handcrafted ") is HANDCRAFTED


def test_loads_a_python_function_from_a_file(file: Path) -> None:
    assert static(f"{file}:plain") == 7


def test_evaluation_function_may_have_optional_arguments(file: Path) -> None:
    assert static(f"{file}:optional") == 7


def test_rejects_a_chess_evaluation_that_returns_a_float(file: Path) -> None:
    with pytest.raises(EvaluationError, match="must be an integer number of centipawns"):
        static(f"{file}:floating")


def test_loads_a_compiled_evaluator_from_a_file(file: Path) -> None:
    missing_knight = "r1bqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
    assert static(f"{file}:knights", missing_knight) == 300
    search = AlphaBetaSearch(megabytes=1, evaluation=load(f"{file}:knights"))
    info = list(search.search(chess.Board(missing_knight), Limits(depth=4)))[-1]
    assert isinstance(info.score, Cp)


def test_edited_file_is_reloaded(file: Path) -> None:
    missing_knight = "r1bqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
    assert static(f"{file}:knights", missing_knight) == 300
    file.write_text(KNIGHTS.replace("300", "400").replace("return 7", "return 8"))
    assert static(f"{file}:knights", missing_knight) == 400
    assert static(f"{file}:plain") == 8


def test_loads_a_function_from_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "some_module.py").write_text("def ten(board):\n    return 10\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    assert static("some_module:ten") == 10


def test_compiled_evaluation_can_call_handcrafted(tmp_path: Path) -> None:
    path = tmp_path / "more.py"
    path.write_text(
        "from agent.evaluation import evaluator, handcrafted\n"
        "@evaluator\n"
        "def more(worker, ply):\n"
        "    return handcrafted(worker, ply) + 1\n"
    )
    assert static(f"{path}:more") == static("handcrafted") + 1


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("nonsense", "invalid name .expected 'handcrafted', 'nnue:FILE', 'module:function' or"),
        ("no_such_module_here:f", "No module named 'no_such_module_here'"),
        ("missing.py:f", "missing.py does not exist"),
        ("{file}:none", "unknown function 'none' .defined: .*knights.*plain"),
        ("{file}:WORTH", "unknown function 'WORTH'"),
        ("{file}:", "invalid name"),
        ("{file}:narrow", r"wrong arguments .* \(worker, ply\), but takes \(worker\)"),
        ("{file}:deeper", r"wrong arguments .* \(position\), but takes \(board, depth"),
    ],
)
def test_rejects_invalid_evaluation_names(file: Path, spec: str, message: str) -> None:
    with pytest.raises(EvaluationError, match=message):
        load(spec.format(file=file))


@pytest.mark.parametrize("text", ["def broken(:\n", "1 / 0\n", "import no_such_module_here\n"])
def test_rejects_a_file_that_fails_to_load(tmp_path: Path, text: str) -> None:
    path = tmp_path / "broken.py"
    path.write_text(text)
    with pytest.raises(EvaluationError, match=r"broken\.py failed: "):
        load(f"{path}:f")


def test_failed_compilation_keeps_the_previous_evaluation(file: Path) -> None:
    search = AlphaBetaSearch(megabytes=1, evaluation=HANDCRAFTED)
    with pytest.raises(EvaluationError, match=r"wrong cannot be compiled: .*no_such_field"):
        search.set_evaluation(load(f"{file}:wrong"))
    assert search.evaluate(chess.Board()) == static("handcrafted")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("return missing(worker)", "name 'missing' is not defined"),
        ("return 'a' + 1", r"function add>\) found for signature: .*\(slip.py, line 4\)"),
        ("return worker.stop.none", r"Unknown attribute 'none' of type .*\(slip.py, line 4\)"),
    ],
)
def test_compile_errors_are_short_and_name_the_cause(
    tmp_path: Path, line: str, message: str
) -> None:
    file = tmp_path / "slip.py"
    file.write_text(
        f"from agent.evaluation import evaluator\n@evaluator\ndef slip(worker, ply):\n    {line}\n"
    )
    with pytest.raises(EvaluationError, match=message) as caught:
        AlphaBetaSearch(megabytes=1, evaluation=load(f"{file}:slip"))
    assert len(str(caught.value)) < 300


def test_every_lazily_imported_name_exists() -> None:
    for name in evaluation._HELPER_MODULES:
        assert getattr(evaluation, name) is not None
    with pytest.raises(AttributeError, match="no_such_helper"):
        _ = evaluation.no_such_helper


def test_rejects_none_and_sys_exit_from_a_nim_evaluation(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "import sys\ndef nothing(game):\n    pass\ndef leaves(game):\n    sys.exit(3)\n"
    )
    kind = catalogue.find("nim")
    with pytest.raises(EvaluationError, match=r"a value of type NoneType \(must be a number"):
        load_game_evaluation(kind, f"{file}:nothing")(kind.new())
    with pytest.raises(EvaluationError, match=r"leaves failed: SystemExit: 3 \(mine.py, line 5\)"):
        load_game_evaluation(kind, f"{file}:leaves")(kind.new())


@pytest.mark.parametrize("number", [np.float32(0.1), np.int8(7), np.array(3), Fraction(1, 3)])
def test_numpy_numbers_and_fractions_become_floats(number: Any) -> None:
    """Float32 arithmetic in searches would round or overflow."""
    found = evaluation.require_finite("mine", number)
    assert type(found) is float
    assert found == float(number)


def test_error_whose_message_fails_is_still_described() -> None:
    class BadError(Exception):
        def __str__(self) -> str:
            raise ValueError

    assert "BadError: no message available" in str(
        evaluation.evaluation_failure("mine", BadError())
    )
