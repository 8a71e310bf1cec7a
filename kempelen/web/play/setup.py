"""The setup of a new game, validated from the page's form and saved with the game."""

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
from agent.games.fen import board_from_fen, is_playable
from agent.games.go import Go, format_size, parse_size
from agent.games.position_text import MAX_LENGTH, options_for, supports_setup
from agent.games.variants import STANDARD, VARIANTS, ChessRules, parse_variant
from agent.io.message import Message, MessageError, library_message
from agent.search.catalogue import algorithms
from agent.search.limited_strength import GAME_LEVELS
from kempelen.web.site_context import SiteResources
from protocols.gtp.sgf import SgfError, SgfGame, parse_trees, read_main_section

CHESS = "chess"
GO = "go"
# Tree games are for the lab, which draws trees.
_EXCLUDED_GAMES = ("tree", "random-tree", "plain-chess")
# The game options that visitors may set, with their limits. A huge board would use too much memory.
BOUNDS: dict[str, tuple[int, int]] = {
    "size": (2, 19),
    "width": (4, 12),
    "height": (4, 12),
    "counters": (3, 40),
    "target": (10, 200),
}
# Levels by name, from weakest to strongest: the Elo in chess, and an index of GAME_LEVELS in other
# games. None means full strength.
LEVELS: dict[str, int | None] = {
    "novice": MIN_ELO,
    "beginner": 1000,
    "casual": 1400,
    "club": 1800,
    "strong": 2100,
    "expert": 2400,
    "full": None,
}
LEVELS_OF_GAMES: dict[str, int | None] = {
    **{name: index for index, name in enumerate(LEVELS) if index < len(GAME_LEVELS)},
    "full": None,
}
RULES = ("chinese", "japanese", "tromp-taylor", "aga", "new-zealand")
MAX_CLOCK_S = 6 * 3600.0
MAX_MOVE_SECONDS = 60.0
MAX_HANDICAP = 9
MAX_FEN_LENGTH = 120
MAX_SGF_LENGTH = 4000


class SetupError(MessageError, ValueError):
    """The form is invalid. The message is shown to the visitor."""


@dataclass(frozen=True, slots=True)
class GameSetup:
    """A visitor's choices for a new game.

    - `game`, `options`: the game's name in the catalogue and its constructor arguments.
    - `side`: the visitor's player number. Player 0 moves first.
    - `opponent`: the name of the external engine, or "" for the built-in engine.
    - `level`: the opponent's Elo rating in chess, or an index of GAME_LEVELS in other games. None
      means full strength.
    - `algorithm`, `evaluation`: names, or "" for the defaults.
    - `seconds`: the opponent's time per move in a game without clocks.
    - `fen`, `sgf`: the position at the start of a game of chess or Go, or "" for the usual one. In
      other games, `options` contains it.
    - `base`, `increment`: the clock in seconds. Without clocks, `base` is None.
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
    variant: str = STANDARD
    handicap: int = 0
    sgf: str = ""
    rules: str = "chinese"
    seed: int = 0

    @property
    def chess_rules(self) -> ChessRules:
        return ChessRules(self.variant, self.chess960)

    @property
    def level_name(self) -> str:
        """The level's name in a game other than chess, or ""."""
        names = {level: name for name, level in LEVELS_OF_GAMES.items() if level is not None}
        return "" if self.game == CHESS or self.level is None else names.get(self.level, "")

    @property
    def opponent_name(self) -> str:
        """The opponent's name in game records."""
        words = ["Kempelen"] if not self.opponent else [self.opponent]
        if self.level is not None:
            words.append(str(self.level) if self.game == CHESS else self.level_name)
        if self.algorithm:
            words.append(self.algorithm)
        if self.evaluation not in ("", builtin_evaluations(self.game)[0]):
            words.append(f"({self.evaluation})")
        return " ".join(words)


def builtin_evaluations(game: str) -> tuple[str, ...]:
    """Return the names of a game's built-in evaluations, beginning with the default."""
    if game != CHESS:
        return (HANDCRAFTED.name,)
    return tuple(dict.fromkeys((DEFAULT, NETWORK, HANDCRAFTED.name)))


def playable_games(offers: SiteResources) -> list[str]:
    return [name for name in _catalogue_names() if name not in _EXCLUDED_GAMES] + list(offers.games)


@cache
def _catalogue_names() -> list[str]:
    return catalogue.names()


@cache
def find_game_type(game: str) -> GameType:
    """Return the type of a game. Raise GameError if the game is unknown."""
    return catalogue.find(game)


def find_setup_game(game: str, offers: SiteResources) -> GameType | None:
    """Return the type of a game that can begin at any position, or None for other games.

    Chess and Go have positions of their own.
    """
    if game not in playable_games(offers):
        return None
    game_type = find_game_type(game)
    return game_type if supports_setup(game_type) else None


def is_go(game: str) -> bool:
    """Return whether a game is the built-in Go, which supports rules and handicap."""
    return game == GO and issubclass(find_game_type(game).game_class, Go)


def form_choices(offers: SiteResources) -> dict[str, Any]:
    """Return, in JSON form, all choices that the form offers."""
    game_names = playable_games(offers)
    names = [name for name in algorithms() if name not in ("and-or",)]
    return {
        "games": {name: _game_options(name) for name in game_names},
        "levels": LEVELS,
        "levels_of_games": LEVELS_OF_GAMES,
        "elo": [MIN_ELO, MAX_ELO],
        "searches": list(SEARCHES),
        "variants": list(VARIANTS),
        "algorithms": names,
        "own_evaluations": {name: builtin_evaluations(name) for name in game_names},
        "evaluations": list(offers.evaluations),
        "engines": {name: text.split()[0] for name, text in offers.engines.items()},
        "rules": list(RULES),
        "handicap": MAX_HANDICAP,
        "with_position": [name for name in game_names if find_setup_game(name, offers)],
    }


def _game_options(game: str) -> dict[str, Any]:
    options: dict[str, Any] = {}
    if game == CHESS:
        return options
    for name, parameter in signature(find_game_type(game).game_class).parameters.items():
        default = parameter.default
        if isinstance(default, bool):
            options[name] = {"usual": default}
        elif name in BOUNDS and isinstance(default, int):
            options[name] = {"usual": default, "bounds": BOUNDS[name]}
            if name == "size" and is_go(game):
                options[name]["two_sides"] = True  # WIDTHxHEIGHT is also allowed
        elif name == "komi":
            options[name] = {"usual": default, "bounds": [-100, 100]}
    return options


def parse_setup(form: Mapping[str, Any], offers: SiteResources) -> GameSetup:
    """Parse the page's form. Raise SetupError if the form is invalid."""
    reader = _Form(form)
    game = reader.choice("game", playable_games(offers), CHESS)
    side = reader.choice("side", ("first", "second", "random"), "first")
    builtin = builtin_evaluations(game)
    searches = SEARCHES if game == CHESS else tuple(algorithms())
    base = reader.number("base", 1.0, MAX_CLOCK_S, None)
    seed = random.SystemRandom().randrange(1 << 31)
    setup = GameSetup(
        game=game,
        options=_read_options(reader, game),
        side=seed % 2 if side == "random" else int(side == "second"),
        opponent=reader.choice("opponent", ("", *_engines_for(game, offers)), ""),
        algorithm=reader.choice("algorithm", ("", *searches), ""),
        evaluation=reader.choice("evaluation", (*builtin, *offers.evaluations), builtin[0]),
        seconds=reader.number("seconds", 0.02, MAX_MOVE_SECONDS, 1.0) or 1.0,
        base=base,
        increment=reader.number("increment", 0.0, 60.0, 0.0) or 0.0,
        seed=seed,
    )
    lowest, highest = (MIN_ELO, MAX_ELO) if game == CHESS else (0, len(GAME_LEVELS) - 1)
    level = reader.number("level", lowest, highest, None)
    level = None if level is None or setup.opponent else int(level)
    setup = dataclasses.replace(setup, level=level)
    if game == CHESS:
        return dataclasses.replace(setup, **_read_position(reader))
    if is_go(game):
        sgf = reader.text("sgf", MAX_SGF_LENGTH).strip()
        handicap = 0 if sgf else int(reader.number("handicap", 0, MAX_HANDICAP, 0) or 0)
        if sgf:
            size = format_size(*read_go_position(sgf).size)
            setup = dataclasses.replace(setup, options={**setup.options, "size": size})
        setup = dataclasses.replace(
            setup,
            handicap=handicap,
            sgf=sgf,
            rules=reader.choice("rules", RULES, RULES[0]),
        )
    if (text := reader.text("position", MAX_LENGTH).strip()) and find_setup_game(game, offers):
        setup = dataclasses.replace(setup, options={**setup.options, **_read_board(game, text)})
    try:
        position = find_game_type(game).new(**setup.options)
    except GameError as error:
        raise SetupError(str(error)) from None
    if text and position.outcome() is not None:
        raise SetupError("position: the game is already over")
    return setup


def _read_board(game: str, text: str) -> dict[str, Any]:
    """Return the options of a board game that begins at a position, which defines the size."""
    game_type = find_game_type(game)
    try:
        options = options_for(game_type, text)
    except ValueError as error:
        raise SetupError(str(error)) from None
    sizes = {name: value for name, value in options.items() if name in BOUNDS}
    _read_options(_Form({"options": sizes}), game)  # checks the bounds
    return options


def _read_position(reader: _Form) -> dict[str, Any]:
    chess960 = reader.flag("chess960")
    try:
        variant = parse_variant(str(reader.form.get("variant", STANDARD)))
    except ValueError as error:
        raise SetupError(str(error)) from None
    rules = {"chess960": chess960, "variant": variant}
    if chess960 and variant != STANDARD:
        raise SetupError("chess960: only in chess")
    text = reader.text("fen", MAX_FEN_LENGTH).strip()
    if not text:
        board = chess.Board.from_chess960_pos(random.SystemRandom().randrange(960))
        return {**rules, "fen": board.fen()} if chess960 else rules
    try:
        board = board_from_fen(text, ChessRules(variant, chess960))
    except ValueError as error:
        raise SetupError("position: {}", library_message(error)) from None
    if not is_playable(board):
        raise SetupError("position: illegal position")
    if board.is_game_over():
        raise SetupError("position: the game is already over")
    return {**rules, "fen": board.fen()}


def read_go_position(sgf: str) -> SgfGame:
    """Return a position of Go, which has no moves. Raise SetupError if the SGF text is invalid."""
    try:
        record = read_main_section(parse_trees(sgf)[0])
    except SgfError as error:
        raise SetupError("position: {}", library_message(error)) from None
    low, high = BOUNDS["size"]
    if not all(low <= edge <= high for edge in record.size):
        raise SetupError("position: the board must have {} to {} columns and rows", low, high)
    if record.moves:
        raise SetupError("position: must not contain moves")
    return record


def _engines_for(game: str, offers: SiteResources) -> Iterable[str]:
    for name, text in offers.engines.items():
        if (game == CHESS and not text.startswith("gtp ")) or (
            is_go(game) and text.startswith("gtp ")
        ):
            yield name


def _read_options(reader: _Form, game: str) -> dict[str, Any]:
    known, form = _game_options(game), reader.form.get("options", {})
    if not isinstance(form, Mapping):
        raise SetupError("options: must be an object")
    inner = _Form(form)
    options: dict[str, Any] = {}
    for name in form:
        if name not in known:
            raise SetupError("options: {} has no option {!r}", game, str(name)[:40])
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
    """Reads and validates the fields of an untrusted form."""

    def __init__(self, form: Mapping[str, Any]) -> None:
        self.form = form

    def choice(self, name: str, allowed: Iterable[str], default: str) -> str:
        value, known = self.form.get(name, default), tuple(allowed)
        if not isinstance(value, str) or value not in known:
            expected = ", ".join(filter(None, known))
            raise SetupError("{}: invalid value (expected one of: {})", Message(name), expected)
        return value

    def number(self, name: str, low: float, high: float, default: float | None) -> float | None:
        value = self.form.get(name, default)
        if value is None:
            return default
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not low <= value <= high:  # also excludes NaN and infinity
            raise SetupError("{}: must be a number from {:g} to {:g}", Message(name), low, high)
        return float(value)

    def board_size(self, name: str, low: int, high: int, default: int) -> int | str:
        value = self.form.get(name)
        try:
            edges = parse_size(default if value is None else value)
        except ValueError:
            edges = None
        if edges is None or not all(low <= edge <= high for edge in edges):
            raise SetupError(
                "{}: must be a number from {} to {}, or WIDTHxHEIGHT such as 9x13",
                Message(name),
                low,
                high,
            )
        return format_size(*edges)

    def flag(self, name: str) -> bool:
        value = self.form.get(name, False)
        if not isinstance(value, bool):
            raise SetupError("{}: must be true or false", Message(name))
        return value

    def text(self, name: str, max_length: int) -> str:
        value = self.form.get(name, "")
        if not isinstance(value, str) or len(value) > max_length:
            raise SetupError("{}: must be text of at most {} characters", Message(name), max_length)
        return value
