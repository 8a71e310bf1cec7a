"""An evaluation of chess, to be examined: the kernel's compiled one, or a plain function."""

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
    """Return the legal positions of every kind that the package ships, none of a finished game."""
    text = (files("kempelen.training") / "data" / "positions.fen").read_text("utf-8")
    return [chess.Board(fen) for fen in text.splitlines()]


class ChessEvaluationUnderTest:
    """Implements `Examinee`. Needs the kernel."""

    max_value: float | None = MAX_EVALUATION
    absolute_tolerance = 1.0

    def __init__(self, evaluation: Evaluation) -> None:
        self.name = evaluation.name
        self.compiled = evaluation.python is None
        self.batch = evaluation.batch
        self._evaluation = evaluation
        self._search: AlphaBetaSearch | None = None

    def prepare(self) -> None:
        """Compile it. Raises EvaluationError."""
        if self.compiled:
            self._search = AlphaBetaSearch(megabytes=1, evaluation=self._evaluation)

    def positions(self) -> Iterator[tuple[str, chess.Board]]:
        """Yield the positions, each under its FEN."""
        for board in sample_boards():
            yield board.fen(), board

    def evaluate(self, position: chess.Board) -> Any:
        """Return the value for the side to move, as the function returns it where it is plain."""
        if self._search is not None:
            return self._search.evaluate(position)
        evaluation = self._evaluation
        assert evaluation.python is not None
        evaluate = as_board_evaluation(evaluation) if evaluation.batch else evaluation.python
        value = evaluate(position.copy(stack=False))
        require_integer(self.name, value)
        return value

    def to_batch_item(self, position: chess.Board) -> chess.Board:
        """Return the position."""
        return position

    def evaluate_batch(self, kept: Sequence[chess.Board]) -> Sequence[float]:
        """Return the values for the sides to move."""
        values, _ = evaluate_batch(self._evaluation, batch_from_boards(kept))
        return [float(value) for value in values]

    def with_colours_swapped(self, position: chess.Board) -> tuple[str, chess.Board]:
        """Return the position with the colours exchanged: upside down, the other to move."""
        other = position.mirror()
        return other.fen(), other

    def calls_per_second(self, seconds: float) -> float:
        """Return how often the kernel can call it."""
        return calls_per_second(self._evaluation, sample_boards(), seconds)

    def nodes_per_second(self, seconds: float) -> tuple[float, float]:
        """Return the speed of alpha-beta with it, and with the default one."""
        return nodes_per_second(seconds, self._evaluation), nodes_per_second(seconds)
