"""Check a chess evaluation, either compiled or in plain Python."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.resources import files
from typing import Any

import chess

from agent.chess.evaluation.timing import calls_per_second
from agent.chess.search.alphabeta_search import AlphaBetaSearch
from agent.chess.search.bench import nodes_per_second
from agent.evaluation import Evaluation, require_integer
from agent.games.chess_batch import as_board_evaluation, batch_from_boards
from agent.games.game_batch import evaluate_batch
from agent.kernel.scores import MAX_EVALUATION


def sample_boards() -> list[chess.Board]:
    """Return the bundled sample of legal positions from unfinished games."""
    text = (files("kempelen.training") / "data" / "positions.fen").read_text("utf-8")
    return [chess.Board(fen) for fen in text.splitlines()]


class ChessEvaluationUnderTest:
    """An `EvaluationUnderTest` for chess, which requires the compiled kernel."""

    max_value: float | None = MAX_EVALUATION
    absolute_tolerance = 1.0

    def __init__(self, evaluation: Evaluation) -> None:
        self.name = evaluation.name
        self.compiled = evaluation.python is None
        self.batch = evaluation.batch
        self._evaluation = evaluation
        self._search: AlphaBetaSearch | None = None

    def prepare(self) -> None:
        if self.compiled:
            self._search = AlphaBetaSearch(megabytes=1, evaluation=self._evaluation)

    def positions(self) -> Iterator[tuple[str, chess.Board]]:
        for board in sample_boards():
            yield board.fen(), board

    def evaluate(self, position: chess.Board) -> Any:
        """Return the value exactly as the evaluation function returned it."""
        if self._search is not None:
            return self._search.evaluate(position)
        evaluation = self._evaluation
        assert evaluation.python is not None
        evaluate = as_board_evaluation(evaluation) if evaluation.batch else evaluation.python
        value = evaluate(position.copy(stack=False))
        require_integer(self.name, value)
        return value

    def to_batch_item(self, position: chess.Board) -> chess.Board:
        return position

    def evaluate_batch(self, kept: Sequence[chess.Board]) -> Sequence[float]:
        values, _ = evaluate_batch(self._evaluation, batch_from_boards(kept))
        return [float(value) for value in values]

    def with_colours_swapped(self, position: chess.Board) -> tuple[str, chess.Board]:
        other = position.mirror()
        return other.fen(), other

    def calls_per_second(self, seconds: float) -> float:
        return calls_per_second(self._evaluation, sample_boards(), seconds)

    def nodes_per_second(self, seconds: float) -> tuple[float, float]:
        return nodes_per_second(seconds, self._evaluation), nodes_per_second(seconds)
