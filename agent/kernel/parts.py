"""The parts of all kernels: what is loaded, and where it is missing compiled, together.

Each compiled game names its own in a module `parts` of its package, and is found by itself there.
"""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

_AGENT = Path(__file__).parents[1]
_GAMES = [
    import_module(f"agent.{path.parent.name}.parts")
    for path in sorted(_AGENT.glob("*/parts.py"))
    if path != Path(__file__)
]

# Of each part, the modules with entry points, in the order of compilation.
PARTS: dict[str, tuple[str, ...]] = {
    name: modules for game in _GAMES for name, modules in game.PARTS.items()
}
# Modules without an entry point that others call: a second process can compile them meanwhile.
COMPILED_IN_PARALLEL: tuple[str, ...] = tuple(
    module for game in _GAMES for module in game.COMPILED_IN_PARALLEL
)
# Modules that are compiled with their part, and imported where they are asked for.
ON_DEMAND: tuple[str, ...] = tuple(module for game in _GAMES for module in game.ON_DEMAND)
# Of a part, what its compiled code follows from beside the sources.
VARIANTS: dict[str, Callable[[], str]] = {
    name: variant for game in _GAMES for name, variant in game.VARIANTS.items()
}
