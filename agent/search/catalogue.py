"""Catalogue of search algorithms: the named subclasses of `Search` in `algorithms`, and aliases."""

from importlib import import_module
from inspect import getmembers, isclass
from pkgutil import iter_modules
from typing import Any

import agent.search.algorithms
from agent.io.message import Message
from agent.search.search import Search

ALIASES = {"mcts": "uct"}


def algorithms() -> dict[str, type[Search[Any]]]:
    """Return the classes of all algorithms by name, in alphabetical order."""
    by_name = {}
    for info in iter_modules(agent.search.algorithms.__path__):
        module = import_module(f"agent.search.algorithms.{info.name}")
        for _, member in getmembers(module, isclass):
            if issubclass(member, Search) and "name" in vars(member):
                by_name[member.name] = member
    return dict(sorted(by_name.items()))


def algorithm(name: str) -> type[Search[Any]]:
    by_name = algorithms()
    name = ALIASES.get(name, name)
    if name not in by_name:
        raise ValueError(
            Message("unknown algorithm {!r} (expected one of: {})", name, ", ".join(by_name))
        )
    return by_name[name]
