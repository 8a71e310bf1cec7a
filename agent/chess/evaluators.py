"""Evaluations as the kernel calls them: C functions int32 evaluate(worker*, int64 ply)."""

import ctypes
from collections.abc import Callable, Iterable
from typing import Any, Protocol

import chess
import numpy as np

from agent.chess.compiled_evaluation import compile_evaluation, take_exception
from agent.chess.handcrafted import handcrafted_function
from agent.chess.records import NO_SQUARE, Position, Worker
from agent.compiled.record import dtype_of, offset_of
from agent.compiled.scores import MAX_EVALUATION
from agent.evaluation import Evaluation, EvaluationError, failure, whole

_C_TYPE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_uint64, ctypes.c_int64)
_POSITIONS = offset_of(Worker, "positions")
_PositionStruct: Any = np.ctypeslib.as_ctypes_type(dtype_of(Position))  # type: ignore[arg-type]
_POSITION_SIZE = dtype_of(Position).itemsize


class Evaluator(Protocol):
    """A C function, and the exception that it met since the last look."""

    address: int

    def take_error(self, workers: Iterable[Worker]) -> EvaluationError | None:
        """Return the exception that stopped the search of these workers, if any, and forget it."""


class CompiledEvaluator:
    """A compiled evaluation; one that raises leaves the exception with its worker."""

    def __init__(self, name: str, function: Any) -> None:
        self._name = name
        self._function = function  # owns the code
        self.address: int = function.address

    def take_error(self, workers: Iterable[Worker]) -> EvaluationError | None:
        """Return what the function raised first, if anything, and forget it."""
        errors = [error for worker in workers if (error := take_exception(worker))]
        return failure(self._name, errors[0]) if errors else None


class PythonEvaluator:
    """A plain Python function of a `chess.Board`, called back from the kernel.

    on_error: called when the function raises, in the searching thread; it must end the search.
    """

    def __init__(
        self, evaluation: Evaluation, chess960: bool, on_error: Callable[[], None]
    ) -> None:
        if evaluation.python is None:
            raise ValueError(f"evaluation {evaluation.name} has no Python function")
        self._name = evaluation.name
        self._function = evaluation.python
        self._chess960 = chess960
        self._on_error = on_error
        self._error: EvaluationError | None = None
        self._callback = _C_TYPE(self._call)  # kept: C holds only its address
        self.address = ctypes.cast(self._callback, ctypes.c_void_p).value or 0

    def take_error(self, workers: Iterable[Worker]) -> EvaluationError | None:
        """Return what the function raised, if anything, and forget it."""
        error, self._error = self._error, None
        return error

    def _call(self, worker: int, ply: int) -> int:
        if self._error is not None:
            return 0
        try:
            value = whole(self._name, self._function(board_at(worker, ply, self._chess960)))
        except BaseException as error:  # noqa: BLE001 (nothing may pass through C)
            if not isinstance(error, EvaluationError):
                error = failure(self._name, error)
            self._error = error
            self._on_error()
            return 0
        return min(max(value, -MAX_EVALUATION), MAX_EVALUATION)


def call(evaluator: Evaluator, worker: int) -> int:
    """Evaluate the root position of the worker at that address."""
    return int(_C_TYPE(evaluator.address)(worker, 0))


def board_at(worker: int, ply: int, chess960: bool = False) -> chess.Board:
    """Make a board of the position at `ply` of the worker at that address."""
    position = _PositionStruct.from_address(worker + _POSITIONS + ply * _POSITION_SIZE)
    board = chess.Board(None, chess960=chess960)
    (
        board.pawns,
        board.knights,
        board.bishops,
        board.rooks,
        board.queens,
        board.kings,
    ) = position.kinds
    white, black = position.sides
    board.occupied_co[chess.WHITE] = white
    board.occupied_co[chess.BLACK] = black
    board.occupied = white | black
    board.turn = position.turn == 0
    board.castling_rights = position.castling
    board.ep_square = None if position.en_passant == NO_SQUARE else position.en_passant
    board.halfmove_clock = position.halfmoves
    board.fullmove_number = position.fullmoves
    return board


def make_evaluator(
    evaluation: Evaluation, chess960: bool, on_error: Callable[[], None]
) -> Evaluator:
    """Make the C function of an evaluation, compiling it if need be.

    Raises EvaluationError if it cannot be compiled.
    """
    if evaluation.python is not None:
        return PythonEvaluator(evaluation, chess960, on_error)
    if evaluation.jitted is None:
        return CompiledEvaluator(evaluation.name, handcrafted_function)
    return CompiledEvaluator(
        evaluation.name, compile_evaluation(evaluation.name, evaluation.jitted)
    )
