"""Algorithms as they are written on the command line: a name, and techniques after plus signs.

alpha-beta+table+killers+history
uct+playouts=500+solver
pvs+successors
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from math import inf
from typing import Any, get_args

from agent.search.catalogue import algorithm, algorithms
from agent.search.expectiminimax import Expectiminimax
from agent.search.ordering import Ordering
from agent.search.search import Search
from agent.search.table import Table
from kempelen.lab.subject import Subject

ORDERINGS = (
    "ratings",
    "classes",
    "killers",
    "history",
    "last_turn",
    "successors",
    "preliminary",
)
ALL = "all"


@dataclass(frozen=True)
class Algorithm:
    """An algorithm with its options, to be set up for one game after the other."""

    text: str
    kind: type[Search[Any]]
    options: dict[str, Any]

    def new(
        self,
        subject: Subject,
        *,
        seed: int = 0,
        node_limit: float = inf,
        kind: type[Search[Any]] | None = None,
    ) -> Search[Any]:
        """Return a search of the subject's game, by a sub-class of the algorithm if one is given.

        Raises ValueError if the algorithm does not fit the game.
        """
        if subject.is_chance and not issubclass(self.kind, Expectiminimax):
            raise ValueError(
                f"{subject.name} is a game of chance; {self.text} is not for these: "
                f"use {Expectiminimax.name}"
            )
        options: dict[str, Any] = {"node_limit": node_limit}
        known = _parameters(self.kind)
        options |= {"seed": seed} if "seed" in known else {}
        options |= {"scale": subject.scale} if "scale" in known else {}
        ordering: dict[str, Any] = {}
        for name, value in self.options.items():
            if name in ("successors", "preliminary"):
                ordering["successors"] = subject.evaluate
                if name == "preliminary":
                    ordering[name] = value
            elif name in ORDERINGS:
                ordering[name] = value
            elif name == "table":
                options[name] = Table(None if value is True else value)
            else:
                options[name] = value
        if ordering:
            options["ordering"] = Ordering(**ordering)
        return (kind or self.kind)(subject.evaluate, **options)


def configure(parser: ArgumentParser, *, several: bool) -> None:
    """Declare the argument that names algorithms: several by commas, or one."""
    parser.add_argument(
        "--algorithm",
        default=ALL if several else "alpha-beta",
        metavar="A[,B...]" if several else "A",
        help=f"default: {ALL}" if several else "default: alpha-beta",
    )


def read(text: str, subject: Subject) -> list[Algorithm]:
    """Read names by commas; `all` is every algorithm that fits the game.

    Raises ValueError, naming what there is, for a name or an option that there is not.
    """
    if text.strip() != ALL:
        return [read_one(each) for each in text.split(",")]
    return [
        Algorithm(name, kind, {})
        for name, kind in algorithms().items()
        if not subject.is_chance or issubclass(kind, Expectiminimax)
    ]


def read_one(text: str) -> Algorithm:
    """Read one algorithm with its options."""
    import yaml

    name, *words = text.strip().split("+")
    kind = algorithm(name)
    known = [*ORDERINGS, *(each for each in _parameters(kind) if each not in _GIVEN)]
    options: dict[str, Any] = {}
    for word in words:
        option, _, value = word.partition("=")
        if option not in known:
            raise ValueError(f"{name} has no option {option!r}; it has {', '.join(known)}")
        options[option] = yaml.safe_load(value) if value else True
        if wanted := _wanted(kind, option, options[option]):
            raise ValueError(f"{text.strip()}: {option} must be {wanted}")
    return Algorithm(text.strip(), kind, options)


def _wanted(kind: Callable[..., Any], option: str, value: Any) -> str:
    """Say what a value of an option must be, if it is anything else."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if option == "table":
        is_size = is_number and value == int(value) > 0
        return "" if value is True or is_size else "a number of entries, or alone"
    if option == "preliminary":
        return "" if is_number else "a number of plies"
    if option in ORDERINGS:
        return "" if isinstance(value, bool) else "true, false, or alone"
    parameter = signature(kind).parameters[option]
    if choices := get_args(parameter.annotation):
        return "" if value in choices else "one of " + ", ".join(map(str, choices))
    if isinstance(parameter.default, bool):
        return "" if isinstance(value, bool) else "true, false, or alone"
    if parameter.annotation is int:
        return "" if is_number and value == int(value) else "a whole number"
    return "" if is_number else "a number"


# Parameters that are not options: what they are follows from the game and the limits.
_GIVEN = {
    "beyond",
    "bounds",
    "ending",
    "evaluate",
    "node_limit",
    "observe",
    "ordering",
    "policy",
    "seed",
}


def _parameters(kind: Callable[..., Any]) -> list[str]:
    return list(signature(kind).parameters)
