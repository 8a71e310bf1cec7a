"""Parse an algorithm and its options from text: the name, then options after plus signs.

    alpha-beta+table+killers+history
    mcts+playouts=500+solver
    pvs+successors+swing=0.2

- Move ordering (`Ordering`): ratings, classes, killers, history, last_turn, successors,
  preliminary=PLIES, patterns (the patterns of the game).
- Extensions (`ExtensionRule`): beyond=PLIES extends forced positions, and swing=VALUE extends
  leaves where the last move changed the evaluation by at least VALUE.
- Learned moves (`LearnedPositions`): killer_memory=FILE, and surprise=VALUE, the minimum prediction
  error for a move to be learned, as a fraction of a win.
- All other options are parameters of the algorithm.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from math import inf
from typing import Any, get_args, get_type_hints

from agent.game import ChanceGame, Game, HasPatterns, SupportsNullMove, SupportsQuiescence
from agent.io.message import Message
from agent.learning.learning_adapter import SURPRISE_THRESHOLD
from agent.search.algorithms.alpha_beta import ExtensionRule
from agent.search.algorithms.expectiminimax import Expectiminimax
from agent.search.algorithms.mcts import UCT
from agent.search.algorithms.null_move import NullMove
from agent.search.catalogue import algorithm
from agent.search.learned_positions import LearnedPositions
from agent.search.move_ordering import Ordering
from agent.search.patterns import Patterns
from agent.search.search import Search, ValueMeaning
from agent.search.terminal_scoring import DEFAULT_SCORING, TerminalScoring
from agent.search.transposition_table import TranspositionTable

FLAG_OPTIONS = ("ratings", "classes", "killers", "history", "last_turn", "successors", "patterns")
ORDERING_OPTIONS = (*FLAG_OPTIONS, "preliminary")
LEARNING_OPTIONS = ("killer_memory", "surprise")
EXTENSION_OPTIONS = ("beyond", "swing")
FILE_OPTIONS = ("killer_memory", "network")
# Extension in plies if `swing` is given without `beyond`.
DEFAULT_EXTENSION_PLIES = 2


@dataclass(frozen=True)
class AlgorithmSpec:
    """An algorithm and its options, parsed from `text`."""

    text: str
    search_class: type[Search[Any]]
    options: dict[str, Any]

    def supports(self, game: Game[Any]) -> bool:
        return not isinstance(game, ChanceGame) or issubclass(
            self.search_class, (Expectiminimax, UCT)
        )

    def lacks_null_moves(self, game: Game[Any]) -> bool:
        """Return whether the algorithm prunes by null moves, which the game does not have."""
        return issubclass(self.search_class, NullMove) and not isinstance(game, SupportsNullMove)

    def value_meaning(self, game: Game[Any]) -> ValueMeaning:
        """Return what the value of a search of the game means."""
        return "exact" if self.lacks_null_moves(game) else self.search_class.meaning

    def supported_options(self, options: dict[str, Any]) -> dict[str, Any]:
        """Return the subset of `options` that the algorithm supports."""
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
    ) -> Search[Any]:
        """Return a search for a game.

        - `scale`: the utility that Monte Carlo tree search counts as a full win.
        - `ending`: the scoring of finished games.

        Raise ValueError if the algorithm cannot search this game or does not support an option.
        """
        if not self.supports(game):
            raise ValueError(
                Message(
                    "{}: games of chance are not supported (use {} or {})",
                    self.text,
                    Expectiminimax.name,
                    UCT.name,
                )
            )
        if self.options.get("continuation") and not isinstance(game, SupportsQuiescence):
            raise ValueError(
                Message(
                    "{}: {} does not support continuation (use swing=VALUE)",
                    self.text,
                    type(game).__name__,
                )
            )
        known = _field_names(self.search_class)
        common: dict[str, Any] = {
            "node_limit": node_limit,
            "ending": ending,
            "seed": seed,
            "scale": scale,
        }
        options = {name: value for name, value in common.items() if name in known}
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
            raise ValueError(Message("{}: surprise requires killer_memory=FILE", self.text))
        return self.search_class(evaluate, self.search_class.options(**options))

    def _ordering(self, game: Game[Any], evaluate: Callable[[Any], float]) -> Ordering[Any]:
        options = {name: value for name, value in self.options.items() if name in ORDERING_OPTIONS}
        settings: dict[str, Any] = dict(options)
        if options.get("successors") or "preliminary" in options:
            settings["successors"] = evaluate
        else:
            settings.pop("successors", None)
        if settings.pop("patterns", False):
            if not isinstance(game, HasPatterns):
                raise ValueError(Message("{}: {} has no patterns", self.text, type(game).__name__))
            settings["patterns"] = Patterns(game.patterns, turned=not game.upright)
        return Ordering(**settings)

    def _extension_rule(self, game: Game[Any]) -> ExtensionRule:
        swing = self.options.get("swing", inf)
        plies = self.options.get("beyond", DEFAULT_EXTENSION_PLIES)
        if swing < inf:
            return ExtensionRule(plies, swing=swing)
        if not isinstance(game, SupportsQuiescence):
            raise ValueError(
                Message(
                    "{}: {} does not define forced positions (use swing=VALUE)",
                    self.text,
                    type(game).__name__,
                )
            )
        return ExtensionRule(plies, selects=lambda position: position.forced())


def parse(text: str) -> AlgorithmSpec:
    """Parse an algorithm, such as "pvs+table+killers". Raise ValueError if the text is invalid."""
    from agent.io import safe_yaml

    name, *words = text.strip().split("+")
    search_class = algorithm(name)
    known = _option_names(search_class)
    options: dict[str, Any] = {}
    for word in words:
        option, _, value = word.partition("=")
        if option not in known:
            raise ValueError(
                Message(
                    "{}: unknown option {!r} (expected one of: {})", name, option, ", ".join(known)
                )
            )
        # A file name is always text, even if YAML would parse it as a number.
        is_text = option in FILE_OPTIONS
        try:
            read_value = value if is_text else safe_yaml.load(value)
        except safe_yaml.YamlError as error:
            raise ValueError(
                Message("{}: invalid value of {}: {}", text.strip(), option, error)
            ) from None
        options[option] = read_value if value else True
        if expected := _expected_value(search_class, option, options[option]):
            raise ValueError(
                Message("{}: option {} must be {}", text.strip(), option, Message(expected))
            )
    return AlgorithmSpec(text.strip(), search_class, options)


def _expected_value(search_class: type[Search[Any]], option: str, value: Any) -> str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    is_integer = is_number and (isinstance(value, int) or value.is_integer())
    if option == "table":
        is_size = is_integer and value > 0
        return "" if isinstance(value, bool) or is_size else "a number of entries, or have no value"
    if option in ("preliminary", "beyond"):
        return "" if is_integer and value > 0 else "a positive number of plies"
    if option in ("swing", "surprise"):
        return "" if is_number and value > 0 else "a value above 0"
    if option in FILE_OPTIONS:
        return "" if isinstance(value, str) else "a file name"
    if option in FLAG_OPTIONS:
        return "" if isinstance(value, bool) else "true or false, or have no value"
    declared = get_type_hints(search_class.options)[option]
    if choices := get_args(declared):
        return "" if value in choices else Message("one of {}", ", ".join(map(str, choices)))
    if declared is bool:
        return "" if isinstance(value, bool) else "true or false, or have no value"
    if declared is int:
        return "" if is_integer else "an integer"
    return "" if is_number else "a number"


# Options that users cannot specify, because they depend on the game and the limits.
_INTERNAL_OPTIONS = {
    "beyond",
    "bounds",
    "ending",
    "killer_memory",
    "node_limit",
    "ordering",
    "policy",
    "seed",
}


def _option_names(search_class: type[Search[Any]]) -> list[str]:
    names = _field_names(search_class)
    parameters = [name for name in names if name not in _INTERNAL_OPTIONS]
    return [
        *ORDERING_OPTIONS,
        *LEARNING_OPTIONS,
        *(EXTENSION_OPTIONS if "beyond" in names else ()),
        *parameters,
    ]


def _field_names(search_class: type[Search[Any]]) -> list[str]:
    return [field.name for field in fields(search_class.options)]
