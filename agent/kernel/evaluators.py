"""Evaluations as kernels call them: C functions int32 evaluate(worker*, int64 ply)."""

import ctypes
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from agent.evaluation_types import EvaluationError, evaluation_failure
from agent.io.user_code import is_keyboard_interrupt
from agent.kernel.user_evaluation import HasFailure, pop_exception

_C_TYPE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_uint64, ctypes.c_int64)


class Evaluator(Protocol):
    """A C function, and the exception that it met since the last look."""

    address: int

    def pop_error(self, workers: Iterable[HasFailure]) -> EvaluationError | None:
        """Return the exception that stopped the search of these workers, if any, and forget it."""


class CompiledEvaluator:
    """A compiled evaluation; one that raises leaves the exception with its worker."""

    def __init__(self, name: str, function: Any) -> None:
        self._name = name
        self._function = function  # owns the code
        self.address: int = function.address

    def pop_error(self, workers: Iterable[HasFailure]) -> EvaluationError | None:
        """Return what the function raised first, if anything, and forget it."""
        errors = [error for worker in workers if (error := pop_exception(worker))]
        return evaluation_failure(self._name, errors[0]) if errors else None


class PythonEvaluator:
    """A plain Python function, called back from the kernel.

    evaluate: gets the worker's address and the ply; returns a score, which must fit into 32 bits.
    on_error: called when the function raises, in the searching thread; it must end the search.
    """

    def __init__(
        self, name: str, evaluate: Callable[[int, int], int], on_error: Callable[[], None]
    ) -> None:
        self._name = name
        self._evaluate = evaluate
        self._on_error = on_error
        self._error: EvaluationError | KeyboardInterrupt | None = None
        self._callback = _C_TYPE(self._call)  # kept: C holds only its address
        self.address = ctypes.cast(self._callback, ctypes.c_void_p).value or 0

    def pop_error(self, workers: Iterable[HasFailure]) -> EvaluationError | None:
        """Return what the function raised, if anything, and forget it.

        Raises KeyboardInterrupt if that is what came in the main thread.
        """
        error, self._error = self._error, None
        if isinstance(error, KeyboardInterrupt):
            raise error
        return error

    def _call(self, worker: int, ply: int) -> int:
        if self._error is not None:
            return 0
        try:
            return self._evaluate(worker, ply)
        except BaseException as error:  # noqa: BLE001 (nothing may pass through C)
            if isinstance(error, EvaluationError) or is_keyboard_interrupt(error):
                self._error = error  # which names the function, or has nothing to do with it
            else:
                self._error = evaluation_failure(self._name, error)
            self._on_error()
            return 0


def evaluate_root(evaluator: Evaluator, worker: int) -> int:
    """Evaluate the root position of the worker at that address."""
    return int(_C_TYPE(evaluator.address)(worker, 0))
