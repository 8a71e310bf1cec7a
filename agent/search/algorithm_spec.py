"""Algorithms as people write them: a name, and techniques after plus signs.

alpha-beta+table+killers+history
mcts+playouts=500+solver
pvs+successors+swing=0.2

Techniques of `Ordering`: ratings, classes, killers, history, last_turn, successors;
preliminary=PLIES; patterns, those of the game. Of `Beyond`: beyond=PLIES, how much deeper leaves
are searched where the mover is forced or, with swing=VALUE, where the last move changed the
evaluation by so much. Of `LearnedPositions`: killer_memory=FILE, which whoever plays writes;
surprise=VALUE, a part of a win, by how much an outcome must differ from what was predicted. The
other options are the algorithm's own parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from math import inf
from typing import Any, get_args, get_type_hints

from agent.game import ChanceGame, Game, HasPatterns, SupportsQuiescence
from agent.learning.game_learning_adapter import SURPRISE_THRESHOLD
from agent.search.algorithms.alpha_beta import ExtensionRule
from agent.search.algorithms.expectiminimax import Expectiminimax
from agent.search.algorithms.mcts import UCT
from agent.search.catalogue import algorithm
from agent.search.learned_positions import LearnedPositions
from agent.search.move_ordering import Ordering
from agent.search.patterns import Patterns
from agent.search.search import Search
from agent.search.terminal_scoring import DEFAULT_SCORING, TerminalScoring
from agent.search.transposition_table import TranspositionTable

FLAG_OPTIONS = ("ratings", "classes", "killers", "history", "last_turn", "successors", "patterns")
ORDERING_OPTIONS = (*FLAG_OPTIONS, "preliminary")
LEARNING_OPTIONS = ("killer_memory", "surprise")
EXTENSION_OPTIONS = ("beyond", "swing")
# Options that name a file.
FILE_OPTIONS = ("killer_memory", "network")
# By how many plies a leaf is searched further where only `swing` is given.
DEFAULT_EXTENSION_PLIES = 2


@dataclass(frozen=True)
class AlgorithmSpec:
    """An algorithm with its options, to be set up for one game after the other.

    text: as it was written.
    """

    text: str
    search_class: type[Search[Any]]
    options: dict[str, Any]

    def supports(self, game: Game[Any]) -> bool:
        """Tell whether the algorithm can search such a game."""
        return not isinstance(game, ChanceGame) or issubclass(
            self.search_class, (Expectiminimax, UCT)
        )

    def supported_options(self, options: dict[str, Any]) -> dict[str, Any]:
        """Return those of the options that the algorithm has."""
        known = _option_names(self.search_class)
        return {name: value for name, value in options.items() if name in known}

    def new(
        self,
        game: Game[Any],
        evaluate: Callable[[Any], float],
        *,
        scale: float = 1,
        ending: TerminalScoring = DEFAULT_SCORING,
        seed: int | None = None,
        node_limit: float = inf,
        kind: type[Search[Any]] | None = None,
    ) -> Search[Any]:
        """Return a search for a game, by a sub-class of the algorithm if one is given.

        scale: what counts as a whole win for Monte Carlo tree search. ending: what finished games
        are worth. Raises ValueError if the algorithm does not fit the game.
        """
        if not self.supports(game):
            able = Expectiminimax.name, UCT.name
            raise ValueError(f"{self.text} plays no games of chance; {' and '.join(able)} do")
        if self.options.get("continuation") and not isinstance(game, SupportsQuiescence):
            raise ValueError(
                f"{self.text}: {type(game).__name__} has no moves to continue leaves on: "
                "use swing=VALUE"
            )
        known = _field_names(self.search_class)
        given: dict[str, Any] = {
            "node_limit": node_limit,
            "ending": ending,
            "seed": seed,
            "scale": scale,
        }
        options = {name: value for name, value in given.items() if name in known}
        for name, value in self.options.items():
            if name == "table":
                options[name] = (
                    TranspositionTable(None if value is True else int(value)) if value else None
                )
            elif name not in ORDERING_OPTIONS + EXTENSION_OPTIONS + LEARNING_OPTIONS:
                options[name] = value
        if self.options.keys() & set(ORDERING_OPTIONS):
            options["ordering"] = self._ordering(game, evaluate)
        if self.options.keys() & set(EXTENSION_OPTIONS):
            options["beyond"] = self._extension_rule(game)
        if (file := self.options.get("killer_memory")) is not None:
            surprise = self.options.get("surprise", SURPRISE_THRESHOLD)
            options["killer_memory"] = LearnedPositions.from_file(file, game, surprise)
        elif "surprise" in self.options:
            raise ValueError(f"{self.text}: surprise needs killer_memory=FILE")
        return (kind or self.search_class)(evaluate, self.search_class.options(**options))

    def _ordering(self, game: Game[Any], evaluate: Callable[[Any], float]) -> Ordering[Any]:
        wanted = {name: value for name, value in self.options.items() if name in ORDERING_OPTIONS}
        settings: dict[str, Any] = dict(wanted)
        if wanted.get("successors") or "preliminary" in wanted:
            settings["successors"] = evaluate
        else:
            settings.pop("successors", None)
        if settings.pop("patterns", False):
            if not isinstance(game, HasPatterns):
                raise ValueError(f"{self.text}: {type(game).__name__} has no patterns")
            settings["patterns"] = Patterns(game.patterns, turned=not game.upright)
        return Ordering(**settings)

    def _extension_rule(self, game: Game[Any]) -> ExtensionRule:
        swing = self.options.get("swing", inf)
        plies = self.options.get("beyond", DEFAULT_EXTENSION_PLIES)
        if swing < inf:
            return ExtensionRule(plies, swing=swing)
        if not isinstance(game, SupportsQuiescence):
            raise ValueError(
                f"{self.text}: {type(game).__name__} does not say where its mover is forced: "
                "use swing=VALUE"
            )
        return ExtensionRule(plies, selects=lambda position: position.forced())


def parse(text: str) -> AlgorithmSpec:
    """Read an algorithm with its options.

    Raises ValueError, naming what there is, for a name or an option that there is not.
    """
    from agent.io import safe_yaml

    name, *words = text.strip().split("+")
    kind = algorithm(name)
    known = _option_names(kind)
    options: dict[str, Any] = {}
    for word in words:
        option, _, value = word.partition("=")
        if option not in known:
            raise ValueError(f"{name} has no option {option!r}; it has {', '.join(known)}")
        # The name of a file is text, also where YAML would make a number of it.
        is_text = option in FILE_OPTIONS
        try:
            read_value = value if is_text else safe_yaml.load(value)
        except safe_yaml.YamlError as error:
            raise ValueError(f"{text.strip()}: {option} is no YAML value: {error}") from None
        options[option] = read_value if value else True
        if wanted := _expected_value(kind, option, options[option]):
            raise ValueError(f"{text.strip()}: {option} must be {wanted}")
    return AlgorithmSpec(text.strip(), kind, options)


def _expected_value(kind: type[Search[Any]], option: str, value: Any) -> str:
    """Say what a value of an option must be, if it is anything else."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    is_whole = is_number and (isinstance(value, int) or value.is_integer())
    if option == "table":
        is_size = is_whole and value > 0
        return "" if isinstance(value, bool) or is_size else "a number of entries, or alone"
    if option in ("preliminary", "beyond"):
        return "" if is_whole and value > 0 else "a number of plies"
    if option in ("swing", "surprise"):
        return "" if is_number and value > 0 else "a value above 0"
    if option in FILE_OPTIONS:
        return "" if isinstance(value, str) else "the name of a file"
    if option in FLAG_OPTIONS:
        return "" if isinstance(value, bool) else "true, false, or alone"
    declared = get_type_hints(kind.options)[option]
    if choices := get_args(declared):
        return "" if value in choices else "one of " + ", ".join(map(str, choices))
    if declared is bool:
        return "" if isinstance(value, bool) else "true, false, or alone"
    if declared is int:
        return "" if is_whole else "a whole number"
    return "" if is_number else "a number"


# Options that are not written: what they are follows from the game and the limits.
_INTERNAL_OPTIONS = {
    "beyond",
    "bounds",
    "ending",
    "killer_memory",
    "node_limit",
    "observe",
    "ordering",
    "policy",
    "seed",
}


def _option_names(kind: type[Search[Any]]) -> list[str]:
    """Return the names of an algorithm's options, as they may be written."""
    names = _field_names(kind)
    own = [each for each in names if each not in _INTERNAL_OPTIONS]
    return [
        *ORDERING_OPTIONS,
        *LEARNING_OPTIONS,
        *(EXTENSION_OPTIONS if "beyond" in names else ()),
        *own,
    ]


def _field_names(kind: type[Search[Any]]) -> list[str]:
    """Return the names of all options that an algorithm takes."""
    return [each.name for each in fields(kind.options)]
