"""The evaluation a user names: the hand-made one, a network, or a function of their own.

    handcrafted          the built-in evaluation: each game's own, in chess the hand-made one
    nnue                 the network that ships, of chess (agent.chess.evaluations): its default
    nnue:FILE            any other network
    module:function      a function of an importable module
    FILE.py:function     a function of a file
    learned:FILE         what `kempelen lab learn` has learned of a game, in that game

A plain function takes a `chess.Board` (position and rights, no history) and returns
centipawns for the side to move. A function decorated with `@evaluator` is compiled into the kernel:

    from agent.evaluation import KNIGHT, count, evaluator, position_at

    @evaluator
    def knights(worker, ply):
        position = position_at(worker, ply)
        own, enemy = position.sides[position.turn], position.sides[1 - position.turn]
        knights = position.kinds[KNIGHT]
        return 300 * (count(knights & own) - count(knights & enemy))

It may read the fields of the position (see `Position` in agent.chess.records: kinds, sides,
board, turn, checkers, pinned, castling, en_passant) and call the helpers that this
module lends: `position_at`, `king_square`, `count`, `first_square`, `bit`, `has`, the attack
functions, `game_phase` and `handcrafted`. Bitboards are uint64, so constants that meet them are
wrapped: `U64(1)`. An index into a row of the position counts from its front, never from its end;
one beyond either end raises IndexError. It must not write. It returns a number, whose fraction is
dropped; NaN and infinity end the search with a message, as every exception does. Values beyond
29,000 centipawns count as that, in plain functions too, which return whole numbers.

A function decorated with `@batched` judges many positions at once, as networks do best:

    from agent.evaluation import batched

    @batched(size=64)
    def evaluate(batch):
        return values              # or (values, priors)

A function whose first argument is called `batch` is one too, of 64 positions. `batch` has up to
`size` positions, as NumPy arrays: in chess a `ChessBatch`, in Go a `GoBatch`
(agent.games.chess_batch, agent.games.go_batch), in every other game a `GameBatch`
(agent.games.batches). `values` is an array of one number for each of them, for whoever is to move
there: centipawns in chess, any scale elsewhere. `priors`, of the shape (len(batch), batch.width),
has a number from 0 for each legal move, in the order of `batch.moves`: how promising it is beside
the others, whatever their sum; what stands beyond a position's moves does not count. Monte Carlo
tree search asks for whole batches; every other search asks for one position at a time.

In another compiled game, as `agent.connect_four`, a plain function takes the plain game and a
compiled one reads that game's records (`from agent.connect_four.records import position_at`); both
return a number on any scale.

What an evaluation finds is remembered by position: the clocks, or anything else beside pieces,
turn, castling rights and en passant, should not matter to it. This module imports neither Numba nor
NumPy by itself.
"""

import importlib
import operator
import os
from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from agent.border import user_code

# Of a `chess.Board`, in centipawns; of any other game, of the game, on any scale; or of a batch.
PlainFunction = Callable[[Any], Any]

Number = TypeVar("Number", int, float)

# More would wait longer for each other than any network gains by them.
MAX_BATCH_SIZE = 4096
DEFAULT_BATCH_SIZE = 64

# What a compiled evaluator may use, and where it lives.
_HELPERS = {
    "agent.chess.records": (
        "WHITE BLACK PAWN KNIGHT BISHOP ROOK QUEEN KING EMPTY NO_SQUARE position_at"
    ),
    "agent.compiled.native": "U64 count first_square last_square",
    "agent.chess.attacks": (
        "bit has attackers is_attacked king_square pawn_attacks piece_attacks"
        " bishop_attacks rook_attacks between line"
    ),
    "agent.chess.geometry": "knight_attacks king_attacks",
    "agent.chess.handcrafted": "game_phase handcrafted",
}
_HELPER_MODULES = {name: module for module, names in _HELPERS.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """Lend the kernel's helpers to a user's evaluator, without importing them before."""
    if name in _HELPER_MODULES:
        return getattr(importlib.import_module(_HELPER_MODULES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


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


def load(spec: str) -> Evaluation:
    """Find the evaluation that `spec` names (see the module), reading its file anew.

    Raises EvaluationError with a message that names what is wrong.
    """
    spec = spec.strip()
    if _is_built_in(spec):
        return HANDCRAFTED
    if network_file(spec) is not None:
        raise EvaluationError(
            f"evaluation {spec}: networks evaluate the compiled chess search alone"
        )
    if (file := learned_file(spec)) is not None:
        # It brings in NumPy, and belongs to the games.
        return Evaluation(spec, python=importlib.import_module("agent.games.learned").load(file))
    place, name = _split_spec(spec)
    try:
        module = user_code.load_module(place, "evaluation")
    except user_code.UserCodeError as error:
        raise EvaluationError(str(error)) from error
    function = getattr(module, name, None)
    if not callable(function) and not isinstance(function, JittedEvaluator):
        known = ", ".join(_functions(module)) or "none"
        raise EvaluationError(f"{place} has no function {name!r}; it has: {known}")
    return from_function(function, spec)


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
    return Evaluation(name, python=function, batch=DEFAULT_BATCH_SIZE if _is_batch_function(function) else 0)


def check(spec: str) -> None:
    """Raise EvaluationError for a spec that cannot be right, without running any code of it."""
    built_in = _is_built_in(spec) or network_file(spec) is not None
    if not built_in and learned_file(spec) is None:
        place, _ = _split_spec(spec)
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


def _is_built_in(spec: str) -> bool:
    return spec.strip().lower() in ("handcrafted", "")


def _split_spec(spec: str) -> tuple[str, str]:
    try:
        return user_code.split_spec(spec, "evaluation")
    except user_code.UserCodeError:
        raise EvaluationError(
            f"evaluation {spec!r} is not 'handcrafted', 'nnue:FILE', 'module:function' or "
            "'FILE.py:function' (nor, of a game that was learned, 'learned:FILE')"
        ) from None


def _functions(module: ModuleType) -> list[str]:
    """List the functions that a module defines, not those it imports."""
    return [
        name
        for name, value in vars(module).items()
        if isinstance(value, JittedEvaluator | BatchedEvaluator)
        or (callable(value) and getattr(value, "__module__", None) == module.__name__)
    ]


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
