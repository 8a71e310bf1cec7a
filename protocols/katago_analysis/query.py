"""Parse queries, which contain a game of Go and the positions to analyse."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from agent.games.go import COLUMNS, Go, Size, format_size
from agent.games.go_rules import HANDICAP_BONUSES, Ruleset, handicap_bonus
from agent.games.stones import PASS, shape
from agent.go.parts import MAX_BOARD_SIZE
from agent.io.message import Message
from agent.limits import MoveRestriction
from protocols.katago_analysis.fields import (
    PAIRS_MESSAGE,
    FieldReader,
    QueryError,
    read_player,
    shortened,
)
from protocols.rulesets import RulesError, read_ruleset

# Limits the memory of a query: every position of the game is kept during the analysis.
MAX_MOVES = 2000
MAX_KOMI = 150.0
MAX_VISITS = 1 << 50
MAX_SECONDS = 1e6
MAX_PRIORITY = 1 << 62
DEFAULT_PV_LENGTH = 15  # moves in a variation, without the first move
MAX_WARNINGS = 32  # per query
MIN_BOARD_SIZE = 2  # minimum edge length of a board
UNUSED_FIELD_MESSAGE = "Unexpected or unused field, do you have a typo?"
IGNORED_FIELD_MESSAGE = "Not supported by this engine, ignored"
# KataGo fields that have no effect here.
_IGNORED_NUMBERS = ("rootFpuReductionMax", "rootPolicyTemperature")
_IGNORED_FLAGS = ("includeOwnershipStdev", "includeMovesOwnershipStdev", "includeNoResultValue")
# Settings that tune KataGo's search, with their maximum. KaTrain sends some with every query.
_IGNORED_SETTINGS = {
    "wideRootNoise": 5,
    "analysisWideRootNoise": 5,
    "rootNumSymmetriesToSample": 8,
    "numSearchThreads": 4096,
}
PERSPECTIVES = {"BLACK": 0, "B": 0, "WHITE": 1, "W": 1, "SIDETOMOVE": None}
_SECONDS_MESSAGE = "Must be number of seconds from 0.001 to 1000000.0"
_RESTRICTION_MESSAGE = "Must be a list of dicts with subfields 'player', 'moves', 'untilDepth'"

Placement = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Query:
    """A game of Go with the positions to analyse. Players are 0 (Black) and 1 (White).

    - `rules`: the rules of the game, without their komi and compensation.
    - `komi`: White's points, including the compensation for a handicap.
    - `stones`, `moves`: pairs of a player and a vertex. Stones are set up before the first move.
    - `turns`: pairs of a number of moves played and a priority. Higher priorities come first.
    - `perspective`: the player whose win rate is reported, or None for the side to move.
    - `pv_length`: the maximum length of a variation, without its first move.
    - `first_report_after`: seconds until the first report during the search, or None.
    - `report_every`: seconds between later reports, or None.
    - `conservative_pass`: whether passes before the analysed position do not count.
    """

    id: str
    size: Size
    rules: Ruleset
    komi: float
    stones: tuple[Placement, ...]
    moves: tuple[Placement, ...]
    first_player: int
    turns: tuple[Placement, ...]
    visits: int
    seconds: float | None
    perspective: int | None
    pv_length: int
    ownership: bool
    policy: bool
    first_report_after: float | None
    report_every: float | None
    restrictions: tuple[MoveRestriction[int], ...]
    moves_ownership: bool = False
    pv_visits: bool = False
    conservative_pass: bool = True

    @property
    def deep_restrictions(self) -> tuple[MoveRestriction[int], ...]:
        """The move restrictions that also apply below the root."""
        return tuple(restriction for restriction in self.restrictions if restriction.plies > 1)

    @property
    def restriction_field(self) -> str:
        return "allowMoves" if self.restrictions[0].allowed else "avoidMoves"

    def start(self) -> Go:
        """Return the game before the first move. Raise `QueryError` if the stones are illegal."""
        game = Go(format_size(*self.size), self.komi)
        game.rules, game.capture_dead_stones = self.rules, self.rules.all_stones_live
        for player in (0, 1):
            vertices = [vertex for placed, vertex in self.stones if placed == player]
            try:
                game.set_up(player, vertices)
            except ValueError as error:
                raise QueryError(Message("Illegal stones: {}", error), "initialStones") from None
        game.set_turn(self.first_player)
        return game

    def play(self, game: Go, first: int, last: int) -> None:
        """Play the moves from number `first` up to, but not including, number `last`.

        Raise `QueryError` if a move is illegal. The ko rule is ignored.
        """
        for number, (player, move) in enumerate(self.moves[first:last], first):
            if not game.is_legal(player, move, tolerant=True):
                raise QueryError(Message("Illegal move {}: {}", number, game.text(move)), "moves")
            game.play_as(player, move)

    def game(self, turn: int) -> Go:
        """Return the game after `turn` moves, `reopened` for analysis."""
        game = self.start()
        self.play(game, 0, turn)
        return self.reopened(game)

    def reopened(self, game: Go) -> Go:
        """Return the game, or a copy in which the passes so far do not count.

        Without `conservative_pass`, only a finished game is copied.
        """
        if not (game.passes if self.conservative_pass else game.is_over()):
            return game
        game = deepcopy(game)
        game.set_turn(game.turn)
        return game

    def root_moves(self, game: Go) -> tuple[int, ...] | None:
        """Return the moves to search, or None if no restriction applies to the side to move."""
        restrictions = [
            restriction for restriction in self.restrictions if restriction.player == game.turn
        ]
        if not restrictions:
            return None
        legal = game.moves()
        if restrictions[0].allowed:
            return tuple(move for move in legal if move in restrictions[0].moves)
        avoided = frozenset[int]().union(*(restriction.moves for restriction in restrictions))
        candidate_moves = tuple(move for move in game.candidate_moves() if move not in avoided)
        return candidate_moves or tuple(move for move in legal if move not in avoided)


@dataclass(frozen=True, slots=True)
class QueryDefaults:
    visits: int = 500
    seconds: float | None = None
    perspective: int | None = 0
    conservative_pass: bool = True


DEFAULTS = QueryDefaults()


def read_query(
    name: str, fields: FieldReader, defaults: QueryDefaults
) -> tuple[Query, list[tuple[str, str]]]:
    """Parse a query. Return it with warnings, which are pairs of field name and message.

    Raise `QueryError` if the query is invalid.
    """
    fields.get("id")
    fields.get("action")  # Like KataGo, ignore an action that is not a string.
    warnings: list[tuple[str, str]] = []
    size = _size(fields)
    stones = _stones(fields, size)
    moves = _moves(fields, size)
    first = _first(fields, stones, moves)
    turns = _turns(fields, len(moves))
    rules = _rules(fields)
    komi = _komi(fields, rules) + handicap_bonus(
        rules.handicap_bonus_rule, _count_handicap_stones(stones, moves)
    )
    settings = _read_override_settings(fields, defaults, warnings)
    visits = settings.visits
    if "maxVisits" in fields:
        visits = fields.integer("maxVisits", 1, MAX_VISITS, "Must be an integer from 1 to 2^50")
    pv_length = DEFAULT_PV_LENGTH
    if "analysisPVLen" in fields:
        pv_length = fields.integer("analysisPVLen", 1, 1000, "Must be an integer from 1 to 1000")
    first_report_after, report_every = _read_report_times(fields)
    _warn_of_ignored_fields(fields, warnings)
    query = Query(
        id=name,
        size=size,
        rules=rules,
        komi=komi,
        stones=tuple(_interned_placement(player, vertex) for vertex, player in stones.items()),
        moves=moves,
        first_player=first,
        turns=turns,
        visits=visits,
        seconds=settings.seconds,
        perspective=settings.perspective,
        pv_length=pv_length,
        ownership=fields.boolean("includeOwnership"),
        policy=fields.boolean("includePolicy"),
        first_report_after=first_report_after,
        report_every=report_every,
        restrictions=_restrictions(fields, size),
        moves_ownership=fields.boolean("includeMovesOwnership"),
        pv_visits=fields.boolean("includePVVisits"),
        conservative_pass=settings.conservative_pass,
    )
    warnings += [(field, UNUSED_FIELD_MESSAGE) for field in fields.unknown()]
    query.game(len(moves))
    return query, warnings[:MAX_WARNINGS]


def read_vertex(text: object, size: Size) -> int | None:
    """Parse a point or pass in GTP notation, or "(column,row)" counted from the upper left corner.

    Return None if the text is invalid.
    """
    width, height = size
    word = text.strip().upper() if isinstance(text, str) else ""
    if word == "PASS":
        return PASS
    if match := re.fullmatch(r"\(([0-9]{1,3}), *([0-9]{1,3})\)", word):
        column, row = int(match[1]), height - 1 - int(match[2])
    elif match := re.fullmatch(r"([A-Z])([0-9]{1,3})", word):
        column, row = COLUMNS.find(match[1]), int(match[2]) - 1
    else:
        return None
    on_board = 0 <= column < width and 0 <= row < height
    return shape(width, height).vertex(column, row) if on_board else None


def read_perspective(value: object) -> int | None:
    """Return the player whose win rate is reported, or None for the side to move."""
    word = value.strip().upper() if isinstance(value, str) else ""
    if word not in PERSPECTIVES:
        raise QueryError(
            f"reportAnalysisWinratesAs: invalid value {shortened(value)} "
            "(expected BLACK, WHITE or SIDETOMOVE)"
        )
    return PERSPECTIVES[word]


@cache
def _interned_placement(player: int, vertex: int) -> Placement:
    return player, vertex


def _size(fields: FieldReader) -> Size:
    message = f"Must provide an integer from {MIN_BOARD_SIZE} to {MAX_BOARD_SIZE}"
    width = fields.integer("boardXSize", MIN_BOARD_SIZE, MAX_BOARD_SIZE, message)
    height = fields.integer("boardYSize", MIN_BOARD_SIZE, MAX_BOARD_SIZE, message)
    return width, height


def _read_placements(
    fields: FieldReader, field: str, size: Size, passes: bool = False
) -> Iterable[Placement]:
    if field not in fields:
        return
    pairs = fields.get(field)
    if not isinstance(pairs, list):
        raise QueryError(PAIRS_MESSAGE, field)
    for pair in pairs:
        if not isinstance(pair, list) or [type(value) for value in pair] != [str, str]:
            raise QueryError(PAIRS_MESSAGE, field)
        player, vertex = read_player(pair[0]), read_vertex(pair[1], size)
        if player is None:
            raise QueryError(Message("Could not parse player: {}", shortened(pair[0])), field)
        if vertex is None or (vertex == PASS and not passes):
            raise QueryError(
                Message("Could not parse board location: {}", shortened(pair[1])), field
            )
        yield _interned_placement(player, vertex)


def _stones(fields: FieldReader, size: Size) -> dict[int, int]:
    """Return the player of each initial stone, by vertex."""
    stones: dict[int, int] = {}
    for player, vertex in _read_placements(fields, "initialStones", size):
        if vertex in stones:
            point = Go(format_size(*size)).text(vertex)
            raise QueryError(
                Message("Overlapping stones: more than one on {}", point), "initialStones"
            )
        stones[vertex] = player
    return stones


def _moves(fields: FieldReader, size: Size) -> tuple[Placement, ...]:
    if "moves" not in fields:
        raise QueryError("Must specify an array of [player,location] pairs", "moves")
    moves = tuple(_read_placements(fields, "moves", size, passes=True))
    if len(moves) > MAX_MOVES:
        raise QueryError(Message("Too many moves: {} (maximum {})", len(moves), MAX_MOVES), "moves")
    return moves


def _first(fields: FieldReader, stones: dict[int, int], moves: tuple[Placement, ...]) -> int:
    """Return the player who begins. The default depends on the first move and the handicap."""
    if "initialPlayer" in fields:
        return fields.player("initialPlayer")
    if moves:
        return moves[0][0]
    return 1 if _count_handicap_stones(stones, moves) else 0


def _count_handicap_stones(stones: dict[int, int], moves: tuple[Placement, ...]) -> int:
    """Return the number of Black's stones before White's first move, or 0 without a handicap.

    A single stone is not a handicap, and neither is a setup that contains white stones.
    """
    if 1 in stones.values():
        return 0
    count = len(stones)
    played = 0
    for player, move in moves:
        if player == 1 or move == PASS:
            break
        played += 1
    count += played if played > 1 else 0
    return count if count > 1 else 0


def _turns(fields: FieldReader, last: int) -> tuple[Placement, ...]:
    priority = 0
    turns = [last]
    if "analyzeTurns" in fields:
        message = "Must specify an array of integers indicating turns to analyze"
        turns = fields.integers("analyzeTurns", message)
        for turn in turns:
            if not 0 <= turn <= last:
                raise QueryError(f"Invalid turn number: {shortened(turn)}", "analyzeTurns")
        if not turns:  # KataGo would not answer such a query.
            raise QueryError("Must specify at least one turn", "analyzeTurns")
    if "priority" in fields:
        if "priorities" in fields:
            raise QueryError("Cannot specify both priority and priorities", "priority")
        message = "Must be a number between -2^62 and 2^62"
        priority = fields.integer("priority", -MAX_PRIORITY, MAX_PRIORITY, message)
    priorities = [priority] * len(turns)
    if "priorities" in fields:
        message = "Must specify an array of integers indicating priorities"
        priorities = fields.integers("priorities", message)
        if "analyzeTurns" not in fields:
            raise QueryError("Can only specify when also specifying analyzeTurns", "priorities")
        if len(priorities) != len(turns):
            raise QueryError("Must be of matching length to analyzeTurns", "priorities")
        for value in priorities:
            if abs(value) > MAX_PRIORITY:
                raise QueryError(f"Invalid priority: {shortened(value)}", "priorities")
    return tuple(sorted(dict(zip(turns, priorities, strict=True)).items()))


def _rules(fields: FieldReader) -> Ruleset:
    value = fields.get("rules")
    if not isinstance(value, str | dict):
        raise QueryError(
            'Must specify rules string, such as "chinese" or "tromp-taylor", or a JSON object '
            "with detailed rules parameters.",
            "rules",
        )
    try:
        rules = read_ruleset(value)
    except RulesError as error:
        raise QueryError(Message("Could not parse rules: {}", error), "rules") from None
    if "whiteHandicapBonus" in fields:
        handicap_bonus_rule = fields.get("whiteHandicapBonus")
        if handicap_bonus_rule not in HANDICAP_BONUSES:
            raise QueryError(f"Must be one of {', '.join(HANDICAP_BONUSES)}", "whiteHandicapBonus")
        rules = replace(rules, handicap_bonus_rule=handicap_bonus_rule)
    return rules


def _komi(fields: FieldReader, rules: Ruleset) -> float:
    message = "Must be a integer or half-integer from -150.0 to 150.0"
    if "komi" not in fields:
        komi, field = rules.default_komi, "rules"
    else:
        komi, field = fields.real("komi", -MAX_KOMI, MAX_KOMI, message), "komi"
    if not is_valid_komi(komi):
        raise QueryError(message, field)
    return komi


def is_valid_komi(komi: float) -> bool:
    """Return whether `komi` is an integer or half-integer of at most MAX_KOMI in absolute value."""
    return abs(komi) <= MAX_KOMI and 2 * komi == int(2 * komi)


def _read_override_settings(
    fields: FieldReader, defaults: QueryDefaults, warnings: list[tuple[str, str]]
) -> QueryDefaults:
    field = "overrideSettings"
    if field not in fields:
        return defaults
    settings = fields.get(field)
    if not isinstance(settings, dict):
        raise QueryError("Must be an object", field)
    try:
        overridden, unknown = read_settings(settings, defaults)
    except QueryError as error:
        raise QueryError(f"Could not set settings: {error}", field) from None
    if unknown:
        warnings.append((field, shortened(f"Unknown config params: {','.join(unknown)}")))
    return overridden


def read_settings(
    settings: dict[str, Any], defaults: QueryDefaults
) -> tuple[QueryDefaults, list[str]]:
    """Return `defaults` updated with KataGo's settings, and the names of unknown settings.

    Raise `QueryError` if a value is invalid.
    """
    unknown = []
    for name, value in settings.items():
        if name == "maxVisits":
            defaults = replace(defaults, visits=int(_number(name, value, 1, MAX_VISITS)))
        elif name == "maxTime":
            seconds = min(_number(name, value, 0, 1e20), MAX_SECONDS)
            defaults = replace(defaults, seconds=seconds)
        elif name == "reportAnalysisWinratesAs":
            defaults = replace(defaults, perspective=read_perspective(value))
        elif name == "conservativePass":
            defaults = replace(defaults, conservative_pass=_boolean(name, value))
        elif name in _IGNORED_SETTINGS:
            _number(name, value, 0, _IGNORED_SETTINGS[name])
        else:
            unknown.append(name)
    return defaults, unknown


def _boolean(name: str, value: object) -> bool:
    word = value.strip().lower() if isinstance(value, str) else json.dumps(value)
    if word not in ("true", "false"):
        raise QueryError(f"{name}: invalid value {shortened(value)} (expected true or false)")
    return word == "true"


def _number(name: str, value: object, minimum: float, maximum: float) -> float:
    try:
        number = float(value) if isinstance(value, str | int | float) else minimum - 1
    except (ValueError, OverflowError):
        number = minimum - 1
    if isinstance(value, bool) or not minimum <= number <= maximum:
        raise QueryError(
            f"{name}: invalid value {shortened(value)} "
            f"(expected a number from {minimum:g} to {maximum:g})"
        )
    return number


def _read_report_times(fields: FieldReader) -> tuple[float | None, float | None]:
    every = first = None
    if "reportDuringSearchEvery" in fields:
        first = every = fields.real("reportDuringSearchEvery", 0.001, MAX_SECONDS, _SECONDS_MESSAGE)
    if "firstReportDuringSearchAfter" in fields:
        first = fields.real("firstReportDuringSearchAfter", 0.001, MAX_SECONDS, _SECONDS_MESSAGE)
    return first, every


def _warn_of_ignored_fields(fields: FieldReader, warnings: list[tuple[str, str]]) -> None:
    for name in _IGNORED_NUMBERS:
        if name in fields:
            fields.real(name, 0.0, 100.0, "Must be a number from 0.0 to 100.0")
            warnings.append((name, IGNORED_FIELD_MESSAGE))
    warnings += [(name, IGNORED_FIELD_MESSAGE) for name in _IGNORED_FLAGS if fields.boolean(name)]


def _restrictions(fields: FieldReader, size: Size) -> tuple[MoveRestriction[int], ...]:
    present = [field for field in ("allowMoves", "avoidMoves") if field in fields]
    if not present:
        return ()
    if len(present) == 2:
        raise QueryError("Cannot specify both allowMoves and avoidMoves", "allowMoves")
    (field,) = present
    entries = fields.get(field)
    if not isinstance(entries, list):
        raise QueryError(_RESTRICTION_MESSAGE, field)
    allowed = field == "allowMoves"
    if allowed and len(entries) > 1:
        raise QueryError("Currently allowMoves only allows one entry", field)
    restrictions = []
    for entry in entries:
        if not isinstance(entry, dict) or not {"player", "moves", "untilDepth"} <= entry.keys():
            raise QueryError(_RESTRICTION_MESSAGE, field)
        parts = FieldReader(entry)
        player = parts.player("player")
        moves = frozenset(_vertices(parts.get("moves"), size))
        depth = parts.integer("untilDepth", 1, 1_000_000_000, "Must be a positive integer")
        restrictions.append(MoveRestriction(player, moves, allowed, depth))
    return tuple(restrictions)


def _vertices(values: object, size: Size) -> Iterable[int]:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise QueryError("Must be an array of GTP board vertices", "moves")
    for value in values:
        vertex = read_vertex(value, size)
        if vertex is None:
            raise QueryError(
                Message("Could not parse board location: {}", shortened(value)), "moves"
            )
        yield vertex
