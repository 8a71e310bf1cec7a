"""Evaluations as searches use them; `agent.evaluation` describes them to those who write one."""

import operator
import os
from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar

from agent.io import user_code

# Of a `chess.Board`, in centipawns; of any other game, of the game, on any scale; or of a batch.
PlainFunction = Callable[[Any], Any]

Number = TypeVar("Number", int, float)

# More would wait longer for each other than any network gains by them.
MAX_BATCH_SIZE = 4096
DEFAULT_BATCH_SIZE = 64


class EvaluationError(Exception):
    """An evaluation cannot be loaded, or has failed; the message names it and the remedy."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """One evaluation: a plain Python function, one to compile, a network, or the built-in one.

    network: what the game's own loader has read of it. batch: how many positions the plain
    function judges at once at most; 0 if it takes one position, and no batch.
    """

    name: str
    python: PlainFunction | None = None
    jitted: Callable[[Any, Any], Any] | None = None
    network: Any = None
    batch: int = 0

    @property
    def is_function(self) -> bool:
        """Whether it is a function in Python, which runs as it is or compiled."""
        return self.python is not None or self.jitted is not None


class JittedEvaluator:
    """What `@evaluator` makes of a function: a mark that it is to be compiled."""

    def __init__(self, function: Callable[[Any, Any], Any]) -> None:
        self.function = function
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__


def evaluator(function: Callable[[Any, Any], Any]) -> JittedEvaluator:
    """Mark `function(worker, ply)` to be compiled into the search kernel."""
    return JittedEvaluator(function)


class BatchedEvaluator:
    """What `@batched` makes of a function: a mark that it judges many positions at once."""

    def __init__(self, function: PlainFunction, size: int) -> None:
        self.function = function
        self.size = size
        self.__name__ = getattr(function, "__name__", type(function).__name__)  # an object's class
        self.__doc__ = function.__doc__

    def __call__(self, batch: Any) -> Any:
        """Call the function, as its author may wish to."""
        return self.function(batch)


def batched(size: int = DEFAULT_BATCH_SIZE) -> Callable[[PlainFunction], BatchedEvaluator]:
    """Mark `function(batch)` to be asked about up to `size` positions at once."""
    if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= MAX_BATCH_SIZE:
        raise ValueError(
            f"a batch has 1 to {MAX_BATCH_SIZE} positions, not {size!r}: "
            f"write @batched(size={DEFAULT_BATCH_SIZE})"
        )
    return lambda function: BatchedEvaluator(function, size)


HANDCRAFTED = Evaluation("handcrafted")
NETWORK = "nnue"
LEARNED = "learned"
SHIPPED_NETWORK = Path(__file__).with_name("chess") / "shipped.nnue"


def from_function(function: Any, name: str) -> Evaluation:
    """Return the evaluation that a function of the user's is; name: what errors call it.

    Raises EvaluationError if it takes other arguments than it gets.
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
    """Raise EvaluationError for a spec that cannot be right, without running any code of it."""
    built_in = is_built_in(spec) or network_file(spec) is not None
    if not built_in and learned_file(spec) is None:
        place, _ = split_spec(spec)
        try:
            user_code.check_readable(place, "evaluation")
        except user_code.UserCodeError as error:
            raise EvaluationError(str(error)) from None


def network_file(spec: str) -> str | None:
    """Return the file of the network that a spec names, None if it names something else."""
    kind, colon, file = spec.strip().partition(":")
    if kind.lower() != NETWORK:
        return None
    return os.path.expanduser(file) if colon else str(SHIPPED_NETWORK)


def learned_file(spec: str) -> str | None:
    """Return the file of what was learned that a spec names, None if it names something else."""
    kind, colon, file = spec.strip().partition(":")
    return os.path.expanduser(file) if colon and kind.lower() == LEARNED else None


def evaluation_digest(spec: str, folder: str = "") -> str:
    """Hash the file of the evaluation that a spec names; "" if there is none to be read.

    folder: where a file's path begins, if not in the working directory.
    """
    from hashlib import sha256  # not at start-up, which it would lengthen

    file: str | Path | None = network_file(spec) or learned_file(spec)
    if file is None and (place := spec.rpartition(":")[0].strip()):
        file = user_code.source_file(place)
    try:
        if file is None or not (path := Path(folder, file)).is_file():
            return ""
        return sha256(path.read_bytes()).hexdigest()[:16]
    except OSError:
        return ""


def _require_call(spec: str, function: Callable[..., Any], *arguments: str) -> None:
    """Raise EvaluationError unless a function can be called with so many arguments."""
    from inspect import signature  # not at start-up, which it would lengthen

    try:
        own = signature(function)
    except (TypeError, ValueError):  # what is written in C may not tell
        return
    try:
        own.bind(*arguments)
    except TypeError as error:
        called = ", ".join(arguments)
        raise EvaluationError(
            f"evaluation {spec} takes other arguments: it is called with ({called}), and takes "
            f"{own}: {error}"
        ) from None


def _is_batch_function(function: Callable[..., Any]) -> bool:
    """Tell whether a function says by its argument's name that it judges many positions."""
    from inspect import signature

    try:
        return next(iter(signature(function).parameters), "") == "batch"
    except (TypeError, ValueError):
        return False


def is_built_in(spec: str) -> bool:
    return spec.strip().lower() in ("handcrafted", "")


def split_spec(spec: str) -> tuple[str, str]:
    try:
        return user_code.split_spec(spec, "evaluation")
    except user_code.UserCodeError:
        raise EvaluationError(
            f"evaluation {spec!r} is not 'handcrafted', 'nnue:FILE', 'module:function' or "
            "'FILE.py:function' (nor, of a game that was learned, 'learned:FILE')"
        ) from None


def with_error_reporting(
    name: str, function: PlainFunction, check: Callable[[str, Any], Number]
) -> Callable[[Any], Number]:
    """Make a user's function report by its name what it raises, and values that `check` refuses."""

    def evaluate(position: Any) -> Number:
        try:
            return check(name, function(position))
        except EvaluationError:
            raise
        except (Exception, SystemExit) as error:
            raise evaluation_failure(name, error) from error

    return evaluate


def evaluation_failure(name: str, error: BaseException) -> EvaluationError:
    """Make the error that reports an exception in a running evaluation."""
    return EvaluationError(f"evaluation {name} failed: {user_code.describe(error)}")


def require_integer(name: str, value: Any) -> int:
    """Return what an evaluation of chess returned; EvaluationError if it is no whole number."""
    try:
        return operator.index(value)
    except TypeError:
        raise EvaluationError(
            f"evaluation {name} returned a value of the type {type(value).__name__}: a whole "
            "number of centipawns is needed, such as round(value)"
        ) from None


def require_finite(name: str, value: float) -> float:
    """Return what an evaluation returned; EvaluationError if it is infinite or not a number.

    A number of NumPy's or another library's becomes one of Python's: searches calculate with it.
    """
    try:
        is_finite = isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        is_finite = True
    except TypeError:
        raise EvaluationError(
            f"evaluation {name} failed: TypeError: it returned a value of the type "
            f"{type(value).__name__}: a number is needed"
        ) from None
    if not is_finite:
        raise EvaluationError(
            f"evaluation {name} returned {value}: a finite number is needed "
            "(wins and losses outrank every evaluation by themselves)"
        )
    return value if isinstance(value, int | float) else float(value)
