"""Types and checks for evaluations. The user documentation is in `agent.evaluation`."""

import operator
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar

from agent.io import user_code
from agent.io.message import Message, MessageError, library_message

# Takes a `chess.Board` (value in centipawns), another game object (any scale), or a batch.
PlainFunction = Callable[[Any], Any]

Number = TypeVar("Number", int, float)

# Collecting a larger batch takes more time than the network saves.
MAX_BATCH_SIZE = 4096
DEFAULT_BATCH_SIZE = 64


class EvaluationError(MessageError):
    """Raised if an evaluation fails or fails to load. The message is meant for the user."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """An evaluation: a Python function, a function to compile, a network, or the built-in one.

    `network` contains the data returned by the game's network loader. `batch` is the maximum batch
    size of the Python function, or 0 if the function takes a single position.
    """

    name: str
    python: PlainFunction | None = None
    jitted: Callable[[Any, Any], Any] | None = None
    network: Any = None
    batch: int = 0

    @property
    def is_function(self) -> bool:
        """Whether the evaluation is a user's function."""
        return self.python is not None or self.jitted is not None


class JittedEvaluator:
    """A function decorated with `@evaluator`."""

    def __init__(self, function: Callable[[Any, Any], Any]) -> None:
        self.function = function
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__


def evaluator(function: Callable[[Any, Any], Any]) -> JittedEvaluator:
    """Mark `function(worker, ply)` for compilation into the search."""
    return JittedEvaluator(function)


class BatchedEvaluator:
    """A function decorated with `@batched`."""

    def __init__(self, function: PlainFunction, size: int) -> None:
        self.function = function
        self.size = size
        # a callable object may have no __name__
        self.__name__ = getattr(function, "__name__", type(function).__name__)
        self.__doc__ = function.__doc__

    def __call__(self, batch: Any) -> Any:
        """Call the decorated function."""
        return self.function(batch)


def batched(size: int = DEFAULT_BATCH_SIZE) -> Callable[[PlainFunction], BatchedEvaluator]:
    """Return a decorator for a function that evaluates up to `size` positions per call.

    Raise ValueError unless `size` is an integer from 1 to MAX_BATCH_SIZE.
    """
    if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= MAX_BATCH_SIZE:
        raise ValueError(
            Message(
                "@batched: invalid size {!r} (must be 1 to {}, for example @batched(size={}))",
                *(size, MAX_BATCH_SIZE, DEFAULT_BATCH_SIZE),
            )
        )
    return lambda function: BatchedEvaluator(function, size)


HANDCRAFTED = Evaluation("handcrafted")
NETWORK = "nnue"
LEARNED = "learned"
SHIPPED_NETWORK = Path(__file__).with_name("chess") / "shipped.nnue"


def from_function(function: Any, name: str) -> Evaluation:
    """Return an evaluation that calls a user's function. Error messages contain `name`.

    Raise EvaluationError if the function has the wrong parameters.
    """
    if isinstance(function, JittedEvaluator):
        _require_call(name, function.function, "worker", "ply")
        return Evaluation(name, jitted=function.function)
    if isinstance(function, BatchedEvaluator):
        _require_call(name, function.function, "batch")
        return Evaluation(name, python=function.function, batch=function.size)
    _require_call(name, function, "position")
    return Evaluation(
        name, python=function, batch=DEFAULT_BATCH_SIZE if _is_batch_function(function) else 0
    )


def check(spec: str) -> None:
    """Raise EvaluationError if `spec` is invalid or its .py file is unreadable. Run no code."""
    built_in = is_built_in(spec) or network_file(spec) is not None
    if not built_in and learned_file(spec) is None:
        location, _ = split_spec(spec)
        try:
            user_code.check_readable(location, "evaluation")
        except user_code.UserCodeError as error:
            raise EvaluationError(str(error)) from None


def network_file(spec: str) -> str | None:
    """Return the file named in `nnue` or `nnue:FILE`, or None if `spec` has another form."""
    kind, colon, file = spec.strip().partition(":")
    if kind.lower() != NETWORK:
        return None
    return os.path.expanduser(file) if colon else str(SHIPPED_NETWORK)


def learned_file(spec: str) -> str | None:
    """Return the file named in `learned:FILE`, or None if `spec` has another form."""
    kind, colon, file = spec.strip().partition(":")
    return os.path.expanduser(file) if colon and kind.lower() == LEARNED else None


def evaluation_digest(spec: str, folder: str = "") -> str:
    """Return a hash of the contents of the file that `spec` names, or "" if it is unreadable.

    A relative path is relative to `folder`.
    """
    from hashlib import sha256  # lazy import: slow to load

    file: str | Path | None = network_file(spec) or learned_file(spec)
    if file is None and (location := spec.rpartition(":")[0].strip()):
        file = user_code.source_file(location)
    try:
        if file is None or not (path := Path(folder, file)).is_file():
            return ""
        return sha256(path.read_bytes()).hexdigest()[:16]
    except OSError:
        return ""


def _require_call(spec: str, function: Callable[..., Any], *arguments: str) -> None:
    from inspect import signature  # lazy import: slow to load

    try:
        parameters = signature(function)
    except (TypeError, ValueError):  # functions written in C may have no signature
        return
    try:
        parameters.bind(*arguments)
    except TypeError as error:
        called = ", ".join(arguments)
        raise EvaluationError(
            "evaluation {}: wrong arguments (called with ({}), but takes {}: {})",
            spec,
            called,
            parameters,
            library_message(error),
        ) from None


def _is_batch_function(function: Callable[..., Any]) -> bool:
    from inspect import signature

    try:
        return next(iter(signature(function).parameters), "") == "batch"
    except (TypeError, ValueError):
        return False


def is_built_in(spec: str) -> bool:
    """Return whether `spec` is "handcrafted" or empty, ignoring case."""
    return spec.strip().lower() in ("handcrafted", "")


def split_spec(spec: str) -> tuple[str, str]:
    """Split `location:name` into its two parts. Raise EvaluationError if `spec` is invalid."""
    try:
        return user_code.split_spec(spec, "evaluation")
    except user_code.UserCodeError:
        raise EvaluationError(
            "evaluation {!r}: invalid name (expected 'handcrafted', 'nnue:FILE', "
            "'module:function' or 'FILE.py:function'; for a learned game also "
            "'learned:FILE')",
            spec,
        ) from None


def with_error_reporting(
    name: str, function: PlainFunction, check: Callable[[str, Any], Number]
) -> Callable[[Any], Number]:
    """Wrap a user's function so that it raises only EvaluationErrors, which mention `name`.

    `check(name, value)` must return the value of the function as a number or raise EvaluationError.
    """

    @wraps(function)
    def evaluate(position: Any) -> Number:
        try:
            return check(name, function(position))
        except EvaluationError:
            raise
        except (Exception, SystemExit) as error:
            raise evaluation_failure(name, error) from error

    return evaluate


def evaluation_failure(name: str, error: BaseException) -> EvaluationError:
    """Return an EvaluationError that describes an exception raised by an evaluation."""
    return EvaluationError("evaluation {} failed: {}", name, user_code.describe(error))


def require_integer(name: str, value: Any) -> int:
    """Return `value` as an int. Raise EvaluationError if it is not an integer."""
    try:
        return operator.index(value)
    except TypeError:
        raise EvaluationError(
            "evaluation {} returned a value of type {} (must be an integer number of "
            "centipawns, such as round(value))",
            name,
            type(value).__name__,
        ) from None


def require_finite(name: str, value: float) -> float:
    """Return `value` as an int or float. Raise EvaluationError unless it is a finite number."""
    try:
        is_finite = isfinite(value)
    except OverflowError:  # an int too large for a float
        is_finite = True
    except TypeError:
        raise EvaluationError(
            "evaluation {} failed: TypeError: returned a value of type {} (must be a number)",
            name,
            type(value).__name__,
        ) from None
    if not is_finite:
        raise EvaluationError(
            "evaluation {} returned {} (must be finite; wins and losses always outrank "
            "evaluations)",
            name,
            value,
        )
    return value if isinstance(value, int | float) else float(value)
