"""What is played: a form of a page, checked, so that nothing else of it need be doubted.

A Setup is kept with its game as JSON, and read again when the server begins anew.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from inspect import signature
from typing import Any

import chess

from agent.chess.engine.levels import MAX_ELO, MIN_ELO
from agent.chess.engine.settings import SEARCHES
from agent.chess.evaluation.loading import DEFAULT
from agent.evaluation import HANDCRAFTED, NETWORK
from agent.games import catalogue
from agent.games.catalogue import GameError, GameType
from agent.games.go import Go, format_size, parse_size
from agent.search.catalogue import algorithms
from kempelen.web.site_context import SiteResources

CHESS = "chess"
GO = "go"
# Trees are for the lab, where they are drawn.
_EXCLUDED_GAMES = ("tree", "random-tree", "plain-chess")
# The options of games that a visitor may choose, and between what; a board without bounds would
# fill the memory.
BOUNDS: dict[str, tuple[int, int]] = {
    "size": (2, 19),
    "width": (4, 12),
    "height": (4, 12),
    "counters": (3, 40),
    "target": (10, 200),
}
# Levels of chess by name, weakest first, and their Elo; the last plays as well as it can.
LEVELS: dict[str, int | None] = {
    "beginner": MIN_ELO,
    "casual": 1600,
    "club": 1850,
    "strong": 2100,
    "expert": 2350,
    "full": None,
}
RULES = ("chinese", "japanese", "tromp-taylor", "aga", "new-zealand")
MAX_CLOCK_S = 6 * 3600.0
MAX_MOVE_SECONDS = 60.0  # of one move
MAX_HANDICAP = 9


class SetupError(ValueError):
    """What was asked for cannot be played; says why."""


@dataclass(frozen=True, slots=True)
class GameSetup:
    """One game before its first move.

    game: as the catalogue finds it; options: of its class. side: the visitor's number as a player,
    0 for who moves first. opponent: "" for our own, or an engine's name. level: of chess, Elo, None
    for full strength. algorithm: "" for what suits the game best. evaluation: by the name it is
    offered under, "" for the usual one. seconds: of each of the opponent's moves, where no clock
    runs. base, increment: of the clock, in seconds; no base, no clock. fen, chess960: of chess.
    handicap, rules: of Go.
    """

    game: str = CHESS
    options: Mapping[str, Any] = field(default_factory=dict)
    side: int = 0
    opponent: str = ""
    level: int | None = None
    algorithm: str = ""
    evaluation: str = ""
    seconds: float = 1.0
    base: float | None = None
    increment: float = 0.0
    fen: str = ""
    chess960: bool = False
    handicap: int = 0
    rules: str = "chinese"
    seed: int = 0

    @property
    def opponent_name(self) -> str:
        """Return what the opponent is called in records."""
        words = ["Kempelen"] if not self.opponent else [self.opponent]
        if self.level is not None:
            words.append(str(self.level))
        if self.algorithm:
            words.append(self.algorithm)
        if self.evaluation not in ("", builtin_evaluations(self.game)[0]):
            words.append(f"({self.evaluation})")
        return " ".join(words)


def builtin_evaluations(game: str) -> tuple[str, ...]:
    """Return our own evaluations of a game by their names, the usual one first."""
    if game != CHESS:
        return (HANDCRAFTED.name,)
    return tuple(dict.fromkeys((DEFAULT, NETWORK, HANDCRAFTED.name)))


def playable_games(offers: SiteResources) -> list[str]:
    """Return the names of all games that may be played."""
    return [name for name in catalogue.names() if name not in _EXCLUDED_GAMES] + list(offers.games)


@cache
def find_game_type(game: str) -> GameType:
    """Return a game's kind. Raises GameError."""
    return catalogue.find(game)


def is_go(game: str) -> bool:
    """Tell whether a game is Go, with all that is played around it."""
    return game == GO and issubclass(find_game_type(game).game_class, Go)


def form_choices(offers: SiteResources) -> dict[str, Any]:
    """Return what a visitor may choose from, for the page's form."""
    names_of_games = playable_games(offers)
    names = [name for name in algorithms() if name not in ("and-or",)]
    return {
        "games": {name: _game_options(name) for name in names_of_games},
        "levels": LEVELS,
        "elo": [MIN_ELO, MAX_ELO],
        "searches": list(SEARCHES),
        "algorithms": names,
        "builtin_evaluations": {name: builtin_evaluations(name) for name in names_of_games},
        "evaluations": list(offers.evaluations),
        "engines": {name: text.split()[0] for name, text in offers.engines.items()},
        "rules": list(RULES),
        "handicap": MAX_HANDICAP,
    }


def _game_options(game: str) -> dict[str, Any]:
    """Return the options of a game with their usual values and bounds."""
    found: dict[str, Any] = {}
    if game == CHESS:
        return found
    for name, parameter in signature(find_game_type(game).game_class).parameters.items():
        default = parameter.default
        if isinstance(default, bool):
            found[name] = {"usual": default}
        elif name in BOUNDS and isinstance(default, int):
            found[name] = {"usual": default, "bounds": BOUNDS[name]}
            if name == "size" and is_go(game):
                found[name]["two_sides"] = True  # WIDTHxHEIGHT too
        elif name == "komi":
            found[name] = {"usual": default, "bounds": [-100, 100]}
    return found


def parse_setup(form: Mapping[str, Any], offers: SiteResources) -> GameSetup:
    """Return what a page's form asks for. Raises SetupError."""
    reader = _Form(form)
    game = reader.choice("game", playable_games(offers), CHESS)
    side = reader.choice("side", ("first", "second", "random"), "first")
    own = builtin_evaluations(game)
    searches = SEARCHES if game == CHESS else tuple(algorithms())
    base = reader.number("base", 1.0, MAX_CLOCK_S, None)
    seed = random.SystemRandom().randrange(1 << 31)
    setup = GameSetup(
        game=game,
        options=_read_options(reader, game),
        side=seed % 2 if side == "random" else int(side == "second"),
        opponent=reader.choice("opponent", ("", *_engines_for(game, offers)), ""),
        algorithm=reader.choice("algorithm", ("", *searches), ""),
        evaluation=reader.choice("evaluation", (*own, *offers.evaluations), own[0]),
        seconds=reader.number("seconds", 0.02, MAX_MOVE_SECONDS, 1.0) or 1.0,
        base=base,
        increment=reader.number("increment", 0.0, 60.0, 0.0) or 0.0,
        seed=seed,
    )
    if game == CHESS:
        level = reader.number("level", MIN_ELO, MAX_ELO, None)
        return dataclasses.replace(
            setup,
            level=None if level is None or setup.opponent else int(level),
            **_read_position(reader),
        )
    if is_go(game):
        setup = dataclasses.replace(
            setup,
            handicap=int(reader.number("handicap", 0, MAX_HANDICAP, 0) or 0),
            rules=reader.choice("rules", RULES, RULES[0]),
        )
    try:
        find_game_type(game).new(**setup.options)
    except GameError as error:
        raise SetupError(str(error)) from None
    return setup


def _read_position(reader: _Form) -> dict[str, Any]:
    """Return from where chess is played. Raises SetupError."""
    chess960 = reader.flag("chess960")
    text = reader.text("fen", 120).strip()
    if not text:
        board = chess.Board.from_chess960_pos(random.SystemRandom().randrange(960))
        return {"fen": board.fen(), "chess960": True} if chess960 else {}
    try:
        board = chess.Board(text, chess960=chess960)
    except ValueError as error:
        raise SetupError(f"position: {error}") from None
    if not board.is_valid():
        raise SetupError("position: it cannot come up in a game")
    if board.is_game_over():
        raise SetupError("position: the game is over in it")
    return {"fen": board.fen(), "chess960": chess960}


def _engines_for(game: str, offers: SiteResources) -> Iterable[str]:
    """Return the engines that play a game: of GTP those play Go, of the others chess."""
    for name, text in offers.engines.items():
        if (game == CHESS and not text.startswith("gtp ")) or (
            is_go(game) and text.startswith("gtp ")
        ):
            yield name


def _read_options(reader: _Form, game: str) -> dict[str, Any]:
    known, given = _game_options(game), reader.form.get("options", {})
    if not isinstance(given, Mapping):
        raise SetupError("options: an object is expected")
    inner = _Form(given)
    options: dict[str, Any] = {}
    for name in given:
        if name not in known:
            raise SetupError(f"options: {game} has none to choose called {str(name)[:40]!r}")
        default = known[name]["usual"]
        if isinstance(default, bool):
            options[name] = inner.flag(name)
            continue
        low, high = known[name]["bounds"]
        if "two_sides" in known[name]:
            options[name] = inner.board_size(name, low, high, default)
        else:
            value = inner.number(name, low, high, default)
            options[name] = int(value or 0) if isinstance(default, int) else value
    return options


class _Form:
    """Fields that a page has sent, of which nothing is certain."""

    def __init__(self, form: Mapping[str, Any]) -> None:
        self.form = form

    def choice(self, name: str, allowed: Iterable[str], default: str) -> str:
        value, known = self.form.get(name, default), tuple(allowed)
        if not isinstance(value, str) or value not in known:
            raise SetupError(f"{name}: one of {', '.join(filter(None, known))} is expected")
        return value

    def number(self, name: str, low: float, high: float, default: float | None) -> float | None:
        value = self.form.get(name, default)
        if value is None:
            return default
        good = isinstance(value, int | float) and not isinstance(value, bool)
        if not good or not low <= value <= high:  # as no number is that is not finite
            raise SetupError(f"{name}: a number from {low:g} to {high:g} is expected")
        return float(value)

    def board_size(self, name: str, low: int, high: int, default: int) -> int | str:
        value = self.form.get(name)
        try:
            edges = parse_size(default if value is None else value)
        except ValueError:
            edges = None
        if edges is None or not all(low <= edge <= high for edge in edges):
            raise SetupError(
                f"{name}: a number from {low} to {high} is expected, or WIDTHxHEIGHT such as 9x13"
            )
        return format_size(*edges)

    def flag(self, name: str) -> bool:
        value = self.form.get(name, False)
        if not isinstance(value, bool):
            raise SetupError(f"{name}: true or false is expected")
        return value

    def text(self, name: str, max_length: int) -> str:
        value = self.form.get(name, "")
        if not isinstance(value, str) or len(value) > max_length:
            raise SetupError(f"{name}: a text of at most {max_length} characters is expected")
        return value
