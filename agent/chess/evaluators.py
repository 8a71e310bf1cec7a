"""Evaluations as the kernel calls them: C functions int32 evaluate(worker*, int64 ply)."""

import ctypes
import hashlib
import operator
from collections.abc import Callable
from types import CodeType
from typing import Any, Protocol

import chess
import numpy as np

from agent.chess.handcrafted import EVALUATOR_SIGNATURE, handcrafted_function
from agent.chess.records import MAX_EVALUATION, NO_SQUARE, position_dtype, worker_at, worker_dtype
from agent.evaluation import Evaluation, EvaluationError, failure
from agent.kernel import c_function, kernel

_C_TYPE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_uint64, ctypes.c_int64)
_POSITIONS = worker_dtype.fields["positions"][1]  # type: ignore[index]
_PositionStruct: Any = np.ctypeslib.as_ctypes_type(position_dtype)  # type: ignore[arg-type]
_POSITION_SIZE = position_dtype.itemsize


class Evaluator(Protocol):
    """A C function, and the exception that it met since the last look."""

    address: int

    def take_error(self) -> EvaluationError | None:
        """Return the exception that stopped the search, if any, and forget it."""


class CompiledEvaluator:
    """A compiled evaluation; it cannot fail."""

    def __init__(self, function: Any) -> None:
        self._function = function  # owns the code
        self.address: int = function.address

    def take_error(self) -> EvaluationError | None:
        """Return None."""
        return None


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

    def take_error(self) -> EvaluationError | None:
        """Return what the function raised, if anything, and forget it."""
        error, self._error = self._error, None
        return error

    def _call(self, worker: int, ply: int) -> int:
        if self._error is not None:
            return 0
        try:
            value = operator.index(self._function(board_at(worker, ply, self._chess960)))
        except BaseException as error:  # noqa: BLE001 (nothing may pass through C)
            self._error = failure(self._name, error)
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
        return CompiledEvaluator(handcrafted_function)
    return CompiledEvaluator(_compile(evaluation.name, evaluation.jitted))


def _compile(name: str, function: Callable[[Any, Any], Any]) -> Any:
    inner = kernel(function)

    def at_address(address: Any, ply: Any) -> Any:
        return inner(worker_at(address), ply)

    digest = hashlib.sha256()
    _digest(function, digest, set())
    try:
        cached_as = f"evaluator-{digest.hexdigest()[:24]}"
        return c_function(EVALUATOR_SIGNATURE, at_address, cached_as, foreign=True)
    except Exception as error:  # Numba's own, and whatever slips through its typing
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise EvaluationError(f"evaluation {name} cannot be compiled: {reason}") from error


def _digest(value: Any, digest: Any, seen: set[int]) -> None:
    """Hash a function with all that it refers to, so that an edit anywhere names other code."""
    function = getattr(value, "py_func", value)  # a jitted function's source
    if id(function) in seen:
        return
    seen.add(id(function))
    code = getattr(function, "__code__", None)
    if isinstance(code, CodeType):
        digest.update(code.co_code)
        for constant in code.co_consts:
            digest.update(repr(constant).encode() if not isinstance(constant, CodeType) else b"")
        scope = getattr(function, "__globals__", {})
        for name in code.co_names:
            digest.update(name.encode())
            if name in scope:
                _digest(scope[name], digest, seen)
        for cell in getattr(function, "__closure__", None) or ():
            _digest(cell.cell_contents, digest, seen)
    elif isinstance(value, np.ndarray):
        digest.update(value.tobytes())
    elif isinstance(value, (int, float, tuple, str, bool, np.generic)):
        digest.update(repr(value).encode())
