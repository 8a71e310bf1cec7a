"""Algorithms as people write them: a name, and techniques after plus signs.

alpha-beta+table+killers+history
mcts+playouts=500+solver
pvs+successors
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from math import inf
from typing import Any, get_args

from agent.game import Chance, Game
from agent.search.catalogue import algorithm
from agent.search.ending import AS_PLAYED, Ending
from agent.search.expectiminimax import Expectiminimax
from agent.search.ordering import Ordering
from agent.search.search import Search
from agent.search.table import Table

ORDERINGS = (
    "ratings",
    "classes",
    "killers",
    "history",
    "last_turn",
    "successors",
    "preliminary",
)


@dataclass(frozen=True)
class Configuration:
    """An algorithm with its options, to be set up for one game after the other.

    text: as it was written.
    """

    text: str
    kind: type[Search[Any]]
    options: dict[str, Any]

    def plays(self, game: Game[Any]) -> bool:
        """Tell whether the algorithm can search such a game."""
        return not isinstance(game, Chance) or issubclass(self.kind, Expectiminimax)

    def among(self, options: dict[str, Any]) -> dict[str, Any]:
        """Return those of the options that the algorithm has."""
        known = _options(self.kind)
        return {name: value for name, value in options.items() if name in known}

    def new(
        self,
        game: Game[Any],
        evaluate: Callable[[Any], float],
        *,
        scale: float = 1,
        ending: Ending = AS_PLAYED,
        seed: int | None = None,
        node_limit: float = inf,
        kind: type[Search[Any]] | None = None,
    ) -> Search[Any]:
        """Return a search for a game, by a sub-class of the algorithm if one is given.

        scale: what counts as a whole win for Monte Carlo tree search. ending: what finished games
        are worth. Raises ValueError if the algorithm does not fit the game.
        """
        if not self.plays(game):
            raise ValueError(f"{self.text} plays no games of chance; {Expectiminimax.name} does")
        options: dict[str, Any] = {"node_limit": node_limit, "ending": ending}
        known = _parameters(self.kind)
        options |= {"seed": seed} if "seed" in known else {}
        options |= {"scale": scale} if "scale" in known else {}
        ordering: dict[str, Any] = {}
        for name, value in self.options.items():
            if name == "successors":
                ordering[name] = evaluate if value else None
            elif name == "preliminary":
                ordering |= {"successors": evaluate, name: value}
            elif name in ORDERINGS:
                ordering[name] = value
            elif name == "table":
                options[name] = Table(None if value is True else int(value)) if value else None
            else:
                options[name] = value
        if ordering:
            options["ordering"] = Ordering(**ordering)
        return (kind or self.kind)(evaluate, **options)


def read(text: str) -> Configuration:
    """Read an algorithm with its options.

    Raises ValueError, naming what there is, for a name or an option that there is not.
    """
    import yaml

    name, *words = text.strip().split("+")
    kind = algorithm(name)
    known = _options(kind)
    options: dict[str, Any] = {}
    for word in words:
        option, _, value = word.partition("=")
        if option not in known:
            raise ValueError(f"{name} has no option {option!r}; it has {', '.join(known)}")
        options[option] = yaml.safe_load(value) if value else True
        if wanted := _wanted(kind, option, options[option]):
            raise ValueError(f"{text.strip()}: {option} must be {wanted}")
    return Configuration(text.strip(), kind, options)


def _wanted(kind: Callable[..., Any], option: str, value: Any) -> str:
    """Say what a value of an option must be, if it is anything else."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if option == "table":
        is_size = is_number and value == int(value) > 0
        return "" if isinstance(value, bool) or is_size else "a number of entries, or alone"
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


def _options(kind: Callable[..., Any]) -> list[str]:
    return [*ORDERINGS, *(each for each in _parameters(kind) if each not in _GIVEN)]


def _parameters(kind: Callable[..., Any]) -> list[str]:
    return list(signature(kind).parameters)
