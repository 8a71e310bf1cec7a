"""Catalogue of built-in, installed and user-defined games.

A game has one of these names:

    othello             a module of this package that defines GAME
    hexapawn            an entry point of the group `kempelen.games`, with the value module:Class
    FILE.py:Class       a class defined in a file
    module:Class        a class defined in an importable module

The class must implement `NotatedGame`, and its constructor must work without arguments. If the
module defines `evaluate(game)`, this function is the game's default evaluation. It returns the
value for the player to move on any scale: wins always outrank evaluations.
"""

import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from math import isfinite
from os.path import splitdrive
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import TYPE_CHECKING, Any

import agent.games
from agent.evaluation_types import (
    Evaluation,
    EvaluationError,
    from_function,
    require_finite,
    with_error_reporting,
)
from agent.game import CHANCE, Game, NotatedGame
from agent.io import user_code
from agent.io.message import Message, MessageError, library_message
from agent.io.strict_json import quote_value

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from agent.games.batch_evaluation import BatchEvaluation

ENTRY_POINTS = "kempelen.games"
REQUIRED_ATTRIBUTES = ("turn", "moves", "play", "undo", "outcome", "key", "text")

GameEvaluation = Callable[[Any], float]


class GameError(MessageError, ValueError):
    """Raised if a game is unknown, fails to load, or has an invalid option."""


@dataclass(frozen=True)
class GameType:
    """A game in the catalogue.

    - `adapt`: a function that converts a user's function to an evaluation for the game.
    - `adapt_batched`: the same for a batched evaluation, or None if that takes a `GameBatch`.
    - `exact_value`: a function that returns the exact value for the player to move, or None.
    - `is_user_defined`: whether the game is not built in.
    """

    name: str
    game_class: type[Any]
    evaluate: GameEvaluation
    adapt: Callable[[Callable[[Any], float]], GameEvaluation]
    adapt_batched: "Callable[[Evaluation], BatchEvaluation] | None" = None
    exact_value: GameEvaluation | None = None
    is_user_defined: bool = False

    def adapt_evaluation(self, evaluation: Evaluation) -> GameEvaluation:
        """Convert a loaded evaluation to a function that searches for this game can call.

        Return the game's own evaluation if `evaluation` has no Python function. Raise
        EvaluationError if it is compiled.
        """
        if evaluation.jitted is not None:
            raise EvaluationError(
                "evaluation {}: compiled evaluations are not supported by this search "
                "(expected a plain function without @evaluator)",
                evaluation.name,
            )
        if evaluation.python is None:
            return self.evaluate
        if (in_batches := getattr(evaluation.python, "in_batches", None)) is not None:
            learned: GameEvaluation = in_batches()
            return learned
        if evaluation.batch:
            return self.batch_evaluation(evaluation)
        return self.adapt(_with_checks(evaluation.name, evaluation.python))

    def batch_evaluation(self, evaluation: Evaluation) -> "BatchEvaluation":
        """Convert a user's batched evaluation to a `BatchEvaluation` for this game."""
        if self.adapt_batched is not None:
            return self.adapt_batched(evaluation)
        from agent.games.game_batch import game_batch_evaluation  # lazy import: loads NumPy

        return game_batch_evaluation(evaluation)

    def with_defaults(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return `options` completed with the game's default values."""
        bound = inspect.signature(self.game_class).bind(**options)
        bound.apply_defaults()
        return dict(bound.arguments)

    def new(self, **options: Any) -> NotatedGame[Any]:
        """Return a new game in its initial position. The options are passed to the game's class.

        Raise GameError if an option is invalid, or if a user-defined game does not work.
        """
        known = inspect.signature(self.game_class).parameters
        try:
            inspect.signature(self.game_class).bind(**options)
        except TypeError as error:
            unknown = next((name for name in options if name not in known), None)
            reason = (
                library_message(error)
                if unknown is None
                else Message("got an unexpected keyword argument {!r}", unknown)
            )
            options_text = ", ".join(known) or Message("none")
            raise GameError("game {}: {} (options: {})", self.name, reason, options_text) from None
        for name, value in options.items():
            if name in known and isinstance(known[name].default, float) and not _is_number(value):
                raise GameError(
                    "game {}: {} must be a number (got {})", self.name, name, quote_value(value)
                )
        try:
            game: NotatedGame[Any] = self.game_class(**options)
        except Exception as error:
            raise GameError("game {}: {}", self.name, _reason(error)) from error
        if self.is_user_defined:
            try:
                problem = _find_problem(game)
            except Exception as error:
                raise GameError("game {}: {}", self.name, user_code.describe(error)) from error
            if problem is not None:
                raise GameError("game {}: {}", self.name, problem)
        return game


def builtin_names() -> list[str]:
    """Return the sorted names of the built-in games."""
    modules = (module.name for module in iter_modules(agent.games.__path__))
    return sorted(module.replace("_", "-") for module in modules if _is_game(module))


def _is_game(module: str) -> bool:
    """Return whether a module in this package defines GAME, without importing the module."""
    spec = find_spec(f"{agent.games.__name__}.{module}")
    if spec is None or spec.origin is None:
        return False
    return "\nGAME = " in Path(spec.origin).read_text(encoding="utf-8")


def names() -> list[str]:
    """Return the sorted names of all built-in and installed games."""
    return sorted({*builtin_names(), *(entry.name for entry in _entry_points())})


def find(spec: str) -> GameType:
    """Return the game named `spec`. Raise GameError if it is unknown or its code is invalid."""
    spec = spec.strip()
    module = spec.replace("-", "_")
    if module.isidentifier() and "_" not in spec and _is_game(module):
        return _game_type(spec, _module(module), "GAME")
    for entry in _entry_points():
        if entry.name == spec:
            return _load_game_type(spec, entry.value)
    if ":" in splitdrive(spec)[1]:
        return _load_game_type(spec, spec)
    known = ", ".join(names())
    if user_code.is_file_name(spec):
        raise GameError(
            "unknown game {!r} (expected one of: {}; for a class of a file write {}:Class)",
            spec,
            known,
            spec,
        )
    raise GameError("unknown game {!r} (expected one of: {})", spec, known)


def new_game(spec: str, **options: Any) -> NotatedGame[Any]:
    """Create the game named `spec` with these options. Raise GameError on failure."""
    return find(spec).new(**options)


def evaluation(spec: str) -> GameEvaluation:
    """Return the default evaluation for a game. Raise GameError if the game is unknown."""
    return find(spec).evaluate


def _entry_points() -> "list[EntryPoint]":
    from importlib.metadata import entry_points  # lazy import: slow to load

    return list(entry_points(group=ENTRY_POINTS))


def _load_game_type(name: str, spec: str) -> GameType:
    try:
        path, attribute = user_code.split_spec(spec, "game")
        game_type = _game_type(name, user_code.load_module(path, "game"), attribute)
        return replace(
            game_type,
            evaluate=_guarded_evaluation(game_type, f"{path}:evaluate"),
            is_user_defined=True,
        )
    except (user_code.UserCodeError, EvaluationError) as error:
        raise GameError(str(error)) from error


def _guarded_evaluation(game_type: GameType, name: str) -> GameEvaluation:
    if game_type.evaluate is _zero_evaluation:
        return _zero_evaluation
    evaluation = from_function(game_type.evaluate, name)
    if evaluation.python is None or evaluation.batch:
        raise EvaluationError(
            "evaluation {}: a game's own evaluation must take one position and have no "
            "decorator (or rename the function and select it with --evaluation)",
            name,
        )
    return _with_checks(name, evaluation.python)


def _with_checks(name: str, function: Callable[[Any], Any]) -> GameEvaluation:
    scale = getattr(function, "outcome_scale", None)
    if scale is not None and not (_is_number(scale) and scale > 0):
        raise EvaluationError(
            "evaluation {}: outcome_scale must be a positive number (got {})",
            name,
            quote_value(scale),
        )
    return with_error_reporting(name, function, require_finite)


def _game_type(name: str, module: ModuleType, attribute: str) -> GameType:
    game = getattr(module, attribute, None)
    if not inspect.isclass(game):
        classes = ", ".join(_classes(module)) or Message("none")
        raise GameError(
            "game {}: unknown class {!r} (expected one of: {})", name, attribute, classes
        )
    if missing := [needed for needed in REQUIRED_ATTRIBUTES if not hasattr(game, needed)]:
        raise GameError(
            "game {}: {} is not a game (missing: {})", name, attribute, ", ".join(missing)
        )
    # A package may re-export a class. The evaluation may be in the module that defines the class.
    modules = module, sys.modules.get(game.__module__, module)
    evaluations = [source.evaluate for source in modules if hasattr(source, "evaluate")]
    evaluate = next(iter(evaluations), _zero_evaluation)
    adapt = getattr(module, "adapt", _identity)
    adapt_batched = getattr(module, "adapt_batched", None)
    return GameType(name, game, evaluate, adapt, adapt_batched, getattr(module, "solved", None))


def _classes(module: ModuleType) -> list[str]:
    own = inspect.getmembers(module, inspect.isclass)
    return [name for name, member in own if member.__module__ == module.__name__]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _reason(error: Exception) -> str:
    return Message(str(error)) if isinstance(error, ValueError) else user_code.describe(error)


def _find_problem(game: NotatedGame[Any]) -> str | None:
    """Return the first violation of the `NotatedGame` interface as text, or None."""
    outcome, moves = game.outcome(), list(game.moves())
    if game.turn not in (0, 1, CHANCE):
        return f"turn must be 0 (first player), 1 or {CHANCE} (chance), not {game.turn!r}"
    if outcome is None and not moves:
        return "moves() returned no moves although outcome() is None (the game is not over)"
    for name, value in (("key()", game.key()), *(("a move", move) for move in moves)):
        try:
            hash(value)
        except TypeError:
            return f"{name} must be hashable, such as a tuple (got {type(value).__name__})"
    for move in moves:
        if not isinstance(text := game.text(move), str):
            return f"text() must return a str (got {type(text).__name__})"
    return None


def _zero_evaluation(game: Game[Any]) -> float:
    return 0


def _identity(function: Callable[[Any], float]) -> GameEvaluation:
    return function


def _module(module: str) -> ModuleType:
    return import_module(f"agent.games.{module}")
