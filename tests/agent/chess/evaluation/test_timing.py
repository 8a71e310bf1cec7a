"""Speed measurement of evaluations and searches: its duration, and reported errors."""

import time

import chess
import pytest

from agent.chess.evaluation.timing import calls_per_second
from agent.chess.search.bench import POSITIONS, nodes_per_second
from agent.evaluation import HANDCRAFTED, Evaluation, EvaluationError

BOARDS = [chess.Board(), chess.Board("8/8/4kpp1/3p1b2/p6P/2B5/6P1/6K1 b - - 2 47")]


def test_evaluation_speed_counts_calls_over_all_boards() -> None:
    seen: list[chess.Color] = []

    def evaluate(board: chess.Board) -> int:
        time.sleep(0.001)
        seen.append(board.turn)
        return 0

    began = time.perf_counter()
    speed = calls_per_second(Evaluation("mine", python=evaluate), BOARDS, 0.05)
    took = time.perf_counter() - began
    assert took >= 0.05
    assert len(seen) / took <= speed <= len(seen) / 0.05
    assert {*seen} == {chess.WHITE, chess.BLACK}
    assert speed < 1000 < calls_per_second(HANDCRAFTED, BOARDS, 0.02)


def test_speed_tests_raise_evaluation_errors() -> None:
    failing = Evaluation("mine", python=lambda board: 1 // 0)
    with pytest.raises(EvaluationError, match="mine failed: ZeroDivisionError"):
        calls_per_second(failing, BOARDS, 1.0)
    with pytest.raises(EvaluationError, match="mine failed: ZeroDivisionError"):
        nodes_per_second(1.0, failing)


def test_node_speed_searches_every_position() -> None:
    roots = set()

    def evaluate(board: chess.Board) -> int:
        roots.add(board.fullmove_number)
        return 0

    began = time.perf_counter()
    slow = nodes_per_second(0.3, Evaluation("mine", python=evaluate))
    assert time.perf_counter() - began >= 0.3
    assert {chess.Board(fen).fullmove_number for fen in POSITIONS} <= roots
    assert 0 < slow < nodes_per_second(0.3)
