"""All search algorithms by name. A sub-class of Search in this package that has a name is one.

Monte Carlo tree search, `mcts`, means UCT.
"""

from importlib import import_module
from inspect import getmembers, isclass
from pkgutil import iter_modules
from typing import Any

import agent.search.algorithms
from agent.search.search import Search

ALIASES = {"mcts": "uct"}


def algorithms() -> dict[str, type[Search[Any]]]:
    """Return every algorithm by its name, in the order of the names."""
    found = {}
    for info in iter_modules(agent.search.algorithms.__path__):
        module = import_module(f"agent.search.algorithms.{info.name}")
        for _, member in getmembers(module, isclass):
            if issubclass(member, Search) and "name" in vars(member):
                found[member.name] = member
    return dict(sorted(found.items()))


def algorithm(name: str) -> type[Search[Any]]:
    """Return the algorithm of that name; ValueError, naming those there are, if there is none."""
    found = algorithms()
    name = ALIASES.get(name, name)
    if name not in found:
        raise ValueError(f"there is no algorithm {name!r}; there are {', '.join(found)}")
    return found[name]
