"""Test the evaluation checks: errors found, and timeouts."""

import time
from collections.abc import Callable
from typing import Any

import chess
import pytest

from agent.chess.evaluation.loading import load as load_of_chess
from agent.evaluation import Evaluation, EvaluationError, load
from agent.games import catalogue
from kempelen.training import baselines, evaluation_check
from kempelen.training.chess_evaluation_check import ChessEvaluationUnderTest, sample_boards
from kempelen.training.evaluation_check import (
    EvaluationReport,
    check_evaluation,
    load_with_watchdog,
)
from kempelen.training.game_evaluation_check import (
    MAX_GAMES,
    MAX_POSITIONS,
    GameEvaluationUnderTest,
    algorithm_for,
)
from kempelen.training.watchdog import WatchdogError, run_with_watchdog

COMPILED = """
from agent.evaluation import PAWN, WHITE, count, evaluator, position_at

@evaluator
def white_pawns(worker, ply):
    position = position_at(worker, ply)
    return count(position.kinds[PAWN] & position.sides[WHITE])

@evaluator
def wrong(worker, ply):
    return position_at(worker, ply).no_such_field

@evaluator
def nan(worker, ply):
    infinite = 1e308 * 10
    return infinite - infinite if position_at(worker, ply).turn else 1.0

@evaluator
def great(worker, ply):
    return 1_000_000
"""


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the speed measurements."""
    monkeypatch.setattr(evaluation_check, "CALL_BENCH_SECONDS", 0.01)
    monkeypatch.setattr(evaluation_check, "SEARCH_BENCH_SECONDS", 0.05)


@pytest.fixture
def compiled(tmp_path: Any) -> Callable[[str], EvaluationReport]:
    file = tmp_path / "compiled.py"
    file.write_text(COMPILED)
    return lambda name: check_evaluation(ChessEvaluationUnderTest(load(f"{file}:{name}")))


def plain(function: Callable[[chess.Board], Any]) -> EvaluationReport:
    return check_evaluation(ChessEvaluationUnderTest(Evaluation("mine.py:f", python=function)))


def test_examined_positions_are_legal_and_varied() -> None:
    boards = sample_boards()
    assert len(boards) > 300
    assert all(board.is_valid() and board.outcome() is None for board in boards)
    assert len({board.epd() for board in boards}) == len(boards)
    pieces = {chess.popcount(board.occupied) for board in boards}
    assert pieces >= set(range(3, 33))
    for kind in (
        lambda board: board.is_check(),
        lambda board: board.has_legal_en_passant(),
        lambda board: board.clean_castling_rights(),
        lambda board: any(move.promotion for move in board.legal_moves),
        lambda board: not board.pawns,
        lambda board: board.turn == chess.BLACK,
    ):
        assert sum(map(bool, map(kind, boards))) > 1


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize(
    "spec",
    [
        "handcrafted",
        "kempelen.training.baselines:material",
        "kempelen.training.baselines:plain_material",
    ],
)
def test_shipped_evaluations_pass(spec: str) -> None:
    told: list[int] = []
    report = check_evaluation(ChessEvaluationUnderTest(load(spec)), told.append)
    assert (report.failed, report.failures, report.beyond, report.uneven) == (0, (), 0, 0)
    assert (report.calls, report.pairs) == (2 * len(sample_boards()), len(sample_boards()))
    assert told == list(range(1, report.calls + 1))
    assert report.lowest == -report.highest < 0
    assert report.compiled == ("plain" not in spec)
    assert report.types == ({} if report.compiled else {"int": report.calls})
    assert min(report.calls_a_second, report.nodes_a_second, report.usual_nodes_a_second) > 0


def test_shipped_network_passes() -> None:
    report = check_evaluation(ChessEvaluationUnderTest(load_with_watchdog("nnue", load_of_chess)))
    assert (report.failed, report.uneven, report.compiled) == (0, 0, True)
    assert min(report.calls_a_second, report.nodes_a_second) > 0
    with pytest.raises(EvaluationError, match="only in the compiled chess search"):
        load_with_watchdog("nnue")


def test_compiled_and_plain_material_agree() -> None:
    compiled = ChessEvaluationUnderTest(load("kempelen.training.baselines:material"))
    compiled.prepare()
    for board in sample_boards():
        assert compiled.evaluate(board) == baselines.plain_material(board)
    assert baselines.plain_material(chess.Board("4k3/8/8/8/8/8/8/QR2K3 b - - 0 1")) == -1400
    assert baselines.nothing(None) == 0


def test_failures_are_grouped_with_line_and_position() -> None:
    def fails(board: chess.Board) -> int:
        if len(board.piece_map()) == 32:
            raise KeyError("all")
        return 100 // (len(board.pieces(chess.PAWN, board.turn)) - 8)

    report = plain(fails)
    messages = {failure.message: failure for failure in report.failures}
    assert len(messages) == 2
    (division,) = (message for message in messages if "ZeroDivisionError" in message)
    line = fails.__code__.co_firstlineno + 3
    assert division.endswith(f"(test_evaluation_check.py, line {line})")
    assert messages[division].calls + min(f.calls for f in report.failures) == report.failed
    (start,) = (failure for message, failure in messages.items() if "KeyError: 'all'" in message)
    assert start.position == chess.STARTING_FEN
    assert report.calls_a_second is report.nodes_a_second is None


@pytest.mark.parametrize("value", [1.5, None, "1", float("nan")])
def test_non_integer_value_is_a_failure(value: Any) -> None:
    report = plain(lambda board: value)
    assert report.failed == report.calls
    assert report.lowest is None
    (failure,) = report.failures
    assert f"of type {type(value).__name__} (must be an integer" in failure.message


@pytest.mark.thorough
def test_system_exit_is_a_failure() -> None:
    def leaves(board: chess.Board) -> int:
        raise SystemExit(3)

    assert "SystemExit: 3" in plain(leaves).failures[0].message


def test_value_from_whites_view_is_detected() -> None:
    report = plain(
        lambda board: baselines.plain_material(board) * (1 if board.turn == chess.WHITE else -1)
    )
    assert report.one_sided
    assert 0 < report.uneven < report.pairs
    differences = [abs(pair.value - pair.exchanged) for pair in report.worst]
    assert differences == sorted(differences, reverse=True)
    fen = report.worst[0].position
    assert abs(baselines.plain_material(chess.Board(fen))) == abs(report.worst[0].value)


def test_other_asymmetry_is_not_reported_as_one_sided() -> None:
    report = plain(lambda board: len(board.pieces(chess.PAWN, chess.WHITE)))
    assert report.uneven
    assert not report.one_sided


def test_out_of_range_values_are_counted() -> None:
    report = plain(lambda board: 30_000 if board.is_check() else 28_999)
    assert report.beyond == sum(board.is_check() for board in sample_boards()) * 2 > 0


@pytest.mark.thorough
def test_compiled_evaluations_are_examined(compiled: Callable[[str], EvaluationReport]) -> None:
    report = compiled("white_pawns")
    assert (report.compiled, report.failed, report.lowest, report.highest) == (True, 0, 0, 8)
    assert report.uneven
    assert not report.one_sided
    assert compiled("great").beyond == report.calls
    failing = compiled("nan")
    assert failing.failed == failing.calls // 2
    assert "ValueError: it returned NaN" in failing.failures[0].message
    assert failing.failures[0].position.split()[1] == "b"
    with pytest.raises(EvaluationError, match=r"wrong cannot be compiled: .*no_such_field"):
        compiled("wrong")


def endless(board: chess.Board) -> int:
    while True:
        pass


def test_endless_evaluation_call_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluation_check, "CALL_TIMEOUT", 0.2)
    with pytest.raises(WatchdogError, match=r"mine.py:f on rnbq.*: timed out"):
        plain(endless)


def test_endless_evaluation_file_times_out(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluation_check, "LOAD_TIMEOUT_S", 0.2)
    file = tmp_path / "endless.py"
    file.write_text("while True:\n    pass\n")
    with pytest.raises(WatchdogError, match=r"loading evaluation .*endless\.py:f: timed out"):
        load_with_watchdog(f"{file}:f")


def test_attended_work_returns_result_or_raises() -> None:
    def work(doing: Callable[[str, float], None]) -> str:
        for step in range(10):
            doing(f"step {step}", 20.0)
            time.sleep(0.01)
        return "done"

    assert run_with_watchdog(work) == "done"
    with pytest.raises(ZeroDivisionError):
        run_with_watchdog(lambda doing: 1 / 0)


@pytest.mark.parametrize("name", ["othello", "pig", "connect-four", "nim"])
def test_evaluations_of_other_games_are_examined(name: str) -> None:
    kind = catalogue.find(name)
    algorithm = algorithm_for(kind.new())
    assert algorithm == ("expectiminimax" if name == "pig" else "alpha-beta")
    report = check_evaluation(
        GameEvaluationUnderTest(kind, {}, load("kempelen.training.baselines:nothing"), algorithm)
    )
    assert (report.failed, report.lowest, report.highest, report.pairs) == (0, 0, 0, 0)
    assert 20 < report.calls <= MAX_POSITIONS
    assert min(report.calls_a_second, report.nodes_a_second, report.usual_nodes_a_second) > 0


def test_positions_of_other_games_are_named_by_their_moves() -> None:
    kind = catalogue.find("connect-four")
    examinee = GameEvaluationUnderTest(
        kind, {}, load("kempelen.training.baselines:nothing"), "alpha-beta"
    )
    names = {}
    for name, position in examinee.positions():
        names[name] = position.key()
    assert len(names) == len(set(names.values())) == MAX_POSITIONS < 20 * MAX_GAMES
    assert "the position after no move" in names
    for name, key in names.items():
        game = kind.new()
        for word in name.removeprefix("the position after ").replace("no move", "").split():
            game.play(next(move for move in game.moves() if game.text(move) == word))
        assert game.key() == key


def test_compiled_evaluation_is_rejected_for_other_games() -> None:
    with pytest.raises(EvaluationError, match="compiled evaluations are not supported"):
        GameEvaluationUnderTest(
            catalogue.find("nim"), {}, load("kempelen.training.baselines:material"), "alpha-beta"
        )


@pytest.mark.thorough
def test_batch_values_must_equal_single_values(tmp_path: Any) -> None:
    """Most errors in batch evaluations show in full batches only."""
    file = tmp_path / "mine.py"
    file.write_text(
        "import numpy as np\n"
        "from agent.evaluation import batched\n"
        "def sound(batch):\n    return batch.counts * 1.0\n"
        "def first(batch):\n    return np.ones(1)\n"
        "def centred(batch):\n    return batch.counts - batch.counts.mean()\n"
    )
    kind = catalogue.find("othello")

    def examined(name: str) -> tuple[EvaluationReport, EvaluationReport]:
        mine = load(f"{file}:{name}")
        return check_evaluation(ChessEvaluationUnderTest(mine)), check_evaluation(
            GameEvaluationUnderTest(kind, {}, mine, "alpha-beta")
        )

    assert [report.failed for report in examined("sound")] == [0, 0]
    for report in examined("first"):
        assert report.failed > 0
        assert report.failures[0].position == "64 positions at once"
        assert "values have shape (1,) (expected (64,))" in report.failures[0].message
    for report in examined("centred"):
        assert report.failed > 0
        assert "different value in a batch" in report.failures[0].message
        assert " alone, " in report.failures[0].position
