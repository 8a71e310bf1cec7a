"""The copies of the kernel modules for the variants of chess.

The kernel has one source for all variants. The modules that depend on `agent.chess.board.rules` are
imported a second time for a variant, as modules of the package `agent.chess_VARIANT`, from the same
files: `agent.chess_atomic.search.alphabeta` is the alpha-beta search of atomic chess. Within these
modules, `import` statements for such modules refer to the same variant. Importing this module
imports neither Numba nor `chess`.
"""

from __future__ import annotations

import builtins
import importlib.util
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from agent.games.variants import STANDARD, VARIANTS

if TYPE_CHECKING:
    from importlib.abc import Loader
else:
    Loader = object  # importlib.abc is slow to load, and only its interface is needed

_PACKAGE = "agent.chess"
_RULES = "agent.chess.board.rules"
_FOLDER = Path(__file__).parent


def variant_module(variant: str, name: str) -> Any:
    """Return the module `name` of the package `agent.chess` that is compiled for `variant`."""
    return import_module(module_name(variant, f"{_PACKAGE}.{name}"))


def module_name(variant: str, name: str) -> str:
    """Return the name of the module that takes the place of the module `name` in `variant`."""
    if variant == STANDARD or name not in _variant_modules():
        return name
    return own_name(variant, name)


def own_name(variant: str, name: str) -> str:
    """Return the name in a variant other than chess of a module that depends on the rules."""
    return f"{_PACKAGE}_{variant}{name.removeprefix(_PACKAGE)}"


@cache
def _variant_modules() -> frozenset[str]:
    """Return the names of the modules that depend on the rules, and of their packages."""
    from agent.kernel.source_digest import dependents  # lazy import: slow to load

    modules = dependents(_FOLDER, _PACKAGE, _RULES)
    packages = {name.rpartition(".")[0] for name in modules}
    return frozenset({_PACKAGE, *packages, *modules})


class _VariantFinder:
    """Finds the modules of variants."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None, /
    ) -> ModuleSpec | None:
        package, _, rest = fullname.removeprefix(f"{_PACKAGE}_").partition(".")
        if not fullname.startswith(f"{_PACKAGE}_") or package not in VARIANTS[1:]:
            return None
        original = importlib.util.find_spec(f"{_PACKAGE}.{rest}" if rest else _PACKAGE)
        if original is None:
            return None
        is_package = original.submodule_search_locations is not None
        loader = _VariantLoader(package, original)
        return ModuleSpec(fullname, loader, origin=original.origin, is_package=is_package)


class _VariantLoader(Loader):
    """Executes the code of a module of standard chess as a module of a variant."""

    def __init__(self, variant: str, original: ModuleSpec) -> None:
        self._variant = variant
        self._original = original

    def create_module(self, spec: ModuleSpec) -> None:
        """Let the import system create the module."""

    def exec_module(self, module: ModuleType) -> None:
        loader = self._original.loader
        assert isinstance(loader, SourceFileLoader)
        code = loader.get_code(self._original.name)
        assert code is not None
        module.__dict__["__builtins__"] = vars(builtins) | {"__import__": self._import}
        exec(code, module.__dict__)

    def _import(
        self,
        name: str,
        globals: Mapping[str, object] | None = None,  # noqa: A002 - the names of `__import__`
        locals: Mapping[str, object] | None = None,  # noqa: A002
        fromlist: Sequence[str] = (),
        level: int = 0,
    ) -> ModuleType:
        name = module_name(self._variant, name)
        return builtins.__import__(name, globals, locals, fromlist, level)


sys.meta_path.append(_VariantFinder())
