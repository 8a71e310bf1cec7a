"""The parts of the compiled code. A part is a group of modules that are compiled together."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

_AGENT = Path(__file__).parents[1]
_GAMES = [
    import_module(f"agent.{path.parent.name}.parts")
    for path in sorted(_AGENT.glob("*/parts.py"))
    if path != Path(__file__)
]

# The modules with entry points of each part, in the order of compilation.
PARTS: dict[str, tuple[str, ...]] = {
    name: modules for game in _GAMES for name, modules in game.PARTS.items()
}
# Further parts that are compiled only when they are needed.
OPTIONAL_PARTS: dict[str, tuple[str, ...]] = {
    name: modules
    for game in _GAMES
    for name, modules in getattr(game, "OPTIONAL_PARTS", {}).items()
}
# Modules whose entry points are not called by other modules. A child process may compile them.
COMPILED_IN_PARALLEL: tuple[str, ...] = tuple(
    module for game in _GAMES for module in game.COMPILED_IN_PARALLEL
)
# Modules that are compiled with their part, but imported only when needed.
ON_DEMAND: tuple[str, ...] = tuple(module for game in _GAMES for module in game.ON_DEMAND)
# By part, a function that returns a text on which its compiled code depends besides the sources.
VARIANTS: dict[str, Callable[[], str]] = {
    name: variant for game in _GAMES for name, variant in game.VARIANTS.items()
}
