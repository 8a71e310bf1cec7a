"""All games by name: those of this package, those that are installed, and any file's.

    othello             a game of this package: a module that defines GAME and `evaluate`
    hexapawn            a game of an installed distribution: an entry point of the group
                        `kempelen.games`, whose value is module:Class
    FILE.py:Class       a class of a file
    module:Class        a class of an importable module

A class of the user's own is a `Written` game; made without arguments it stands at its start. A
function `evaluate` beside it, if there is one, is the game's own evaluation: the value of a
position for its mover, on any scale, since every win outranks it and it every loss.
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

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from agent.games.batch_evaluation import BatchEvaluation

ENTRY_POINTS = "kempelen.games"
# What a class must have to be a game.
REQUIRED_ATTRIBUTES = ("turn", "moves", "play", "undo", "outcome", "key", "text")

GameEvaluation = Callable[[Any], float]


class GameError(ValueError):
    """A game cannot be found, loaded or set up; the message names it and the remedy."""


@dataclass(frozen=True)
class GameType:
    """A kind of game.

    name: as it was asked for. game: its class. evaluate: its own evaluation. adapt: makes an
    evaluation of the game from a function of the user's; adapt_batched: from one that judges
    batches, where these are not `GameBatch`es. solved: the exact value of every
    position for its mover, where it is known. users: it comes from elsewhere than this package.
    """

    name: str
    game_class: type[Any]
    evaluate: GameEvaluation
    adapt: Callable[[Callable[[Any], float]], GameEvaluation]
    adapt_batched: "Callable[[Evaluation], BatchEvaluation] | None" = None
    exact_value: GameEvaluation | None = None
    is_user_defined: bool = False

    def adapt_evaluation(self, evaluation: Evaluation) -> GameEvaluation:
        """Return an evaluation that is loaded as `evaluation` does."""
        if evaluation.jitted is not None:
            raise EvaluationError(
                f"evaluation {evaluation.name} is compiled, for compiled searches; "
                f"here a plain function is needed, without @evaluator"
            )
        if evaluation.python is None:
            return self.evaluate
        if (in_batches := getattr(evaluation.python, "in_batches", None)) is not None:
            learned: GameEvaluation = in_batches()
            return learned
        if evaluation.batch:
            return self.batch_evaluation(evaluation)
        return self.adapt(with_error_reporting(evaluation.name, evaluation.python, require_finite))

    def batch_evaluation(self, evaluation: Evaluation) -> "BatchEvaluation":
        """Return a user's batched evaluation, which Monte Carlo tree search asks for batches."""
        if self.adapt_batched is not None:
            return self.adapt_batched(evaluation)
        from agent.games.game_batch import game_batch_evaluation  # it brings in NumPy

        return game_batch_evaluation(evaluation)

    def with_defaults(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return options that `new` takes, with what the class has for those that are absent."""
        bound = inspect.signature(self.game_class).bind(**options)
        bound.apply_defaults()
        return dict(bound.arguments)

    def new(self, **options: Any) -> NotatedGame[Any]:
        """Return a game at its start. The options are those of its class.

        Raises GameError for an option or a value that the game cannot have.
        """
        known = inspect.signature(self.game_class).parameters
        try:
            inspect.signature(self.game_class).bind(**options)
        except TypeError as error:
            its = ", ".join(known) or "none"
            raise GameError(f"game {self.name}: {error}; its options: {its}") from None
        for name, value in options.items():
            if name in known and isinstance(known[name].default, float) and not _is_number(value):
                raise GameError(f"game {self.name}: {name} is a number, not {value!r}")
        try:
            game: NotatedGame[Any] = self.game_class(**options)
        except Exception as error:
            raise GameError(f"game {self.name}: {_reason(error)}") from error
        if self.is_user_defined:
            try:
                problem = _find_problem(game)
            except Exception as error:
                raise GameError(f"game {self.name}: {user_code.describe(error)}") from error
            if problem is not None:
                raise GameError(f"game {self.name}: {problem}")
        return game


def builtin_names() -> list[str]:
    """Return the names of this package's games, in order."""
    modules = (module.name for module in iter_modules(agent.games.__path__))
    return sorted(module.replace("_", "-") for module in modules if _is_game(module))


def _is_game(module: str) -> bool:
    """Tell whether a module of this package defines a game.

    It is read, since importing it may bring in much: the chess package takes long.
    """
    spec = find_spec(f"{agent.games.__name__}.{module}")
    if spec is None or spec.origin is None:
        return False
    return "\nGAME = " in Path(spec.origin).read_text(encoding="utf-8")


def names() -> list[str]:
    """Return the names of all games but those of files, in order."""
    return sorted({*builtin_names(), *(entry.name for entry in _entry_points())})


def find(spec: str) -> GameType:
    """Return the kind of game that is named so (see the module).

    Raises GameError, naming those there are or what is wrong with the user's code.
    """
    spec = spec.strip()
    module = spec.replace("-", "_")
    if module.isidentifier() and "_" not in spec and _is_game(module):
        return _game_type(spec, _module(module), "GAME")
    for entry in _entry_points():
        if entry.name == spec:
            return _load_game_type(spec, entry.value)
    if ":" in splitdrive(spec)[1]:
        return _load_game_type(spec, spec)
    hint = "" if not user_code.is_file_name(spec) else f"; a class of that file is {spec}:Class"
    raise GameError(f"there is no game {spec!r}; there are {', '.join(names())}{hint}")


def new_game(spec: str, **options: Any) -> NotatedGame[Any]:
    """Return a game at its start. The options are those of its class. Raises GameError."""
    return find(spec).new(**options)


def evaluation(spec: str) -> GameEvaluation:
    """Return a game's own evaluation. Raises GameError if the game is unknown."""
    return find(spec).evaluate


def _entry_points() -> "list[EntryPoint]":
    from importlib.metadata import entry_points  # rarely asked for, and slow to import

    return list(entry_points(group=ENTRY_POINTS))


def _load_game_type(name: str, spec: str) -> GameType:
    try:
        place, attribute = user_code.split_spec(spec, "game")
        kind = _game_type(name, user_code.load_module(place, "game"), attribute)
        return replace(
            kind, evaluate=_guarded_evaluation(kind, f"{place}:evaluate"), is_user_defined=True
        )
    except (user_code.UserCodeError, EvaluationError) as error:
        raise GameError(str(error)) from error


def _guarded_evaluation(kind: GameType, name: str) -> GameEvaluation:
    """Return the evaluation that a user's game has of its own, by this name in messages.

    Raises EvaluationError if it cannot be asked about positions of the game.
    """
    if kind.evaluate is _zero_evaluation:
        return _zero_evaluation
    evaluation = from_function(kind.evaluate, name)
    if evaluation.python is None or evaluation.batch:
        raise EvaluationError(
            f"evaluation {name}: a game's own evaluation takes one position, without decorator; "
            f"call it otherwise, and choose it with --evaluation"
        )
    return with_error_reporting(name, evaluation.python, require_finite)


def _game_type(name: str, module: ModuleType, attribute: str) -> GameType:
    game = getattr(module, attribute, None)
    if not inspect.isclass(game):
        classes = ", ".join(_classes(module)) or "none"
        raise GameError(f"game {name}: there is no class {attribute!r}; there are: {classes}")
    if missing := [needed for needed in REQUIRED_ATTRIBUTES if not hasattr(game, needed)]:
        raise GameError(f"game {name}: {attribute} is no game, it lacks {', '.join(missing)}")
    # A package may lend its class from a module that has the evaluation.
    places = module, sys.modules.get(game.__module__, module)
    evaluations = [place.evaluate for place in places if hasattr(place, "evaluate")]
    evaluate = next(iter(evaluations), _zero_evaluation)
    adapt = getattr(module, "adapt", _identity)
    adapt_batched = getattr(module, "adapt_batched", None)
    return GameType(name, game, evaluate, adapt, adapt_batched, getattr(module, "solved", None))


def _classes(module: ModuleType) -> list[str]:
    own = inspect.getmembers(module, inspect.isclass)
    return [name for name, member in own if member.__module__ == module.__name__]


def _is_number(value: object) -> bool:
    """Tell whether a value can be calculated with."""
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _reason(error: Exception) -> str:
    """Say what a game's own code complained of; where too, if it complained by accident."""
    return str(error) if isinstance(error, ValueError) else user_code.describe(error)


def _find_problem(game: NotatedGame[Any]) -> str | None:
    """Say what every search or protocol would stumble on at the start of a game; None if nothing.

    Raises whatever the game's methods raise.
    """
    outcome, moves = game.outcome(), list(game.moves())
    if game.turn not in (0, 1, CHANCE):
        return f"turn is {game.turn!r}: players are 0, who moves first, and 1 ({CHANCE} is chance)"
    if outcome is None and not moves:
        return "moves() has none though outcome() is None, which says that the game goes on"
    for what, value in (("key()", game.key()), *(("a move", move) for move in moves)):
        try:
            hash(value)
        except TypeError:
            return f"{what} is a {type(value).__name__}: hashable values are needed, as tuples are"
    for move in moves:
        if not isinstance(text := game.text(move), str):
            return f"text() returns a {type(text).__name__}: a str is needed"
    return None


def _zero_evaluation(game: Game[Any]) -> float:
    """Evaluate a position of which nothing is known."""
    return 0


def _identity(function: Callable[[Any], float]) -> GameEvaluation:
    return function


def _module(module: str) -> ModuleType:
    return import_module(f"agent.games.{module}")
