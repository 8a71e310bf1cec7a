"""Catalogue of search algorithms: the named subclasses of `Search` in `algorithms`, and aliases."""

from importlib import import_module
from inspect import getmembers, isclass
from pkgutil import iter_modules
from typing import Any

import agent.search.algorithms
from agent.io.message import Message
from agent.search.search import Search

ALIASES = {"mcts": "uct"}
# Names that are easily confused, and what tells them apart.
REMARKS = {
    "alpha-beta": "values for the player to move (negamax); may lie outside the window (fail-soft)",
    "alpha-beta-hard": "values for MAX as in the notes; never outside the window (fail-hard)",
    "alphazero": "Monte Carlo tree search with PUCT: priors and values of a network",
    "and-or": "win or loss only; solves each position once, and gives a strategy",
    "bns": "finds the best move and a bound on its value; without low= and high=, guesses 0 first",
    "dual-star": "DUAL* with an open list",
    "dual-star-mtd": "DUAL* by null windows and a memory",
    "mcts": "another name of uct",
    "minimax-two-valued": "win or loss only; plain minimax on the whole tree",
    "mtd-f": "null windows and a memory, from the guess first_guess= (default: 0)",
    "negascout-1": "searches again from the value found, but not near the leaves",
    "negascout-2": "searches again with the original alpha",
    "pvs": "searches again from the value found, at all depths",
    "sss-star": "SSS* with Stockman's open list",
    "sss-star-mtd": "SSS* by null windows and a memory: on trees the same leaves in order",
    "ucb1": "Monte Carlo without a tree: UCB1 among the moves at the root",
    "uct": "Monte Carlo tree search with UCB1 at every node",
}


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
