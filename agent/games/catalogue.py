"""All games by name. A module of this package that defines GAME and `evaluate` is a game."""

from collections.abc import Callable
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

import agent.games
from agent.game import Game, Written


def names() -> list[str]:
    """Return the names of all games, in order."""
    modules = (module.name for module in iter_modules(agent.games.__path__))
    return sorted(_name(module) for module in modules if hasattr(_module(module), "GAME"))


def new_game(name: str, **options: Any) -> Written[Any]:
    """Return a game at its start. The options are those of its class.

    Raises ValueError if there is no such game, or for a value that the game cannot have.
    """
    game: Written[Any] = _game_module(name).GAME(**options)
    return game


def evaluation(name: str) -> Callable[[Game[Any]], float]:
    """Return a game's own evaluation: the value of a position for its mover."""
    evaluate: Callable[[Game[Any]], float] = _game_module(name).evaluate
    return evaluate


def _game_module(name: str) -> ModuleType:
    if name not in names():
        raise ValueError(f"there is no game {name!r}; there are {', '.join(names())}")
    return _module(name.replace("-", "_"))


def _module(module: str) -> ModuleType:
    return import_module(f"agent.games.{module}")


def _name(module: str) -> str:
    return module.replace("_", "-")
