"""Evaluations as C functions `int32 evaluate(worker*, int64 ply)` for compiled searches."""

import ctypes
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from agent.evaluation_types import EvaluationError, evaluation_failure
from agent.io.user_code import is_keyboard_interrupt
from agent.kernel.user_evaluation import HasFailure, pop_exception

_C_TYPE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_uint64, ctypes.c_int64)


class Evaluator(Protocol):
    """An evaluation as a C function at `address`. It stores exceptions instead of raising them."""

    address: int

    def pop_error(self, workers: Iterable[HasFailure]) -> EvaluationError | None:
        """Return and clear the exception that stopped one of `workers`, or None."""


class CompiledEvaluator:
    """A compiled evaluation, which stores exceptions in the worker."""

    def __init__(self, name: str, function: Any) -> None:
        self._name = name
        self._function = function  # owns the code
        self.address: int = function.address

    def pop_error(self, workers: Iterable[HasFailure]) -> EvaluationError | None:
        errors = [error for worker in workers if (error := pop_exception(worker))]
        return evaluation_failure(self._name, errors[0]) if errors else None


class PythonEvaluator:
    """A Python evaluation, which compiled searches call through a C callback.

    `evaluate` takes the address of the worker record and the ply, and returns an int32 score.
    `on_error` is called in the search thread after an exception in `evaluate`, and must stop the
    search.
    """

    def __init__(
        self, name: str, evaluate: Callable[[int, int], int], on_error: Callable[[], None]
    ) -> None:
        self._name = name
        self._evaluate = evaluate
        self._on_error = on_error
        self._error: EvaluationError | KeyboardInterrupt | None = None
        self._callback = _C_TYPE(self._call)  # keeps the object alive: C holds only its address
        self.address = ctypes.cast(self._callback, ctypes.c_void_p).value or 0

    def pop_error(self, workers: Iterable[HasFailure]) -> EvaluationError | None:
        """Return and clear the stored exception, or None. Raise a stored `KeyboardInterrupt`."""
        error, self._error = self._error, None
        if isinstance(error, KeyboardInterrupt):
            raise error
        return error

    def _call(self, worker: int, ply: int) -> int:
        if self._error is not None:
            return 0
        try:
            return self._evaluate(worker, ply)
        except BaseException as error:  # noqa: BLE001 (exceptions must not propagate through C)
            if isinstance(error, EvaluationError) or is_keyboard_interrupt(error):
                self._error = error
            else:
                self._error = evaluation_failure(self._name, error)
            self._on_error()
            return 0


def evaluate_root(evaluator: Evaluator, worker: int) -> int:
    """Return the evaluation of the root position. `worker` is the address of the worker record."""
    return int(_C_TYPE(evaluator.address)(worker, 0))
