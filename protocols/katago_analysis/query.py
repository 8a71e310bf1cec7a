"""A query: the record of a game of Go, which of its positions to analyse, and how.

Source: KataGo's 'Parallel Analysis Engine' (docs/Analysis_Engine.md), which has the fields.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from agent.games.go import COLUMNS, MAX_SIZE, Go, Size, format_size
from agent.games.stones import EMPTY, PASS, shape
from agent.limits import MoveRestriction
from protocols.katago_analysis.fields import (
    PAIRS_MESSAGE,
    Fields,
    QueryError,
    read_player,
    shortened,
)
from protocols.rulesets import (
    HANDICAP_BONUSES,
    SUPPORTED_RULES_TEXT,
    Ruleset,
    handicap_bonus,
    read_ruleset,
)

# A longer record is refused: each of its positions is kept while one of them is analysed.
MAX_MOVES = 2000
MAX_KOMI = 150.0
MAX_VISITS = 1 << 50
MAX_SECONDS = 1e6
MAX_PRIORITY = 1 << 62
# Moves after the first one of a variation.
DEFAULT_PV_LENGTH = 15
# More warnings of one query are of no use.
MAX_WARNINGS = 32
MIN_BOARD_SIZE = 2  # edge of a board
UNUSED_FIELD_MESSAGE = "Unexpected or unused field, do you have a typo?"
IGNORED_FIELD_MESSAGE = "Not known to this engine, ignored"
# What KataGo knows, and searches here do not.
_IGNORED_NUMBERS = ("rootFpuReductionMax", "rootPolicyTemperature")
_IGNORED_FLAGS = ("includeOwnershipStdev", "includeMovesOwnershipStdev", "includeNoResultValue")
PERSPECTIVES = {"BLACK": 0, "B": 0, "WHITE": 1, "W": 1, "SIDETOMOVE": None}
_SECONDS_MESSAGE = "Must be number of seconds from 0.001 to 1000000.0"
_RESTRICTION_MESSAGE = "Must be a list of dicts with subfields 'player', 'moves', 'untilDepth'"

Placement = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Query:
    """Positions of one game to be analysed.

    size: of the board. stones: set up before the first move, moves: played since, each a player and
    a vertex. first: who is to move at the beginning. komi: with what White gets for a handicap.
    turns: the numbers of moves after which to analyse, with priorities, the highest first. visits,
    seconds: the most for each. viewer: the player whose winning is reported; None for whoever is to
    move. pv_length: the most moves after the first one of a variation. ownership, policy,
    moves_ownership, pv_visits: what to tell beside, as KataGo's `include...` ask for. first_report_after,
    report_every: seconds until a report during the search, and between them; none if they are None.
    """

    id: str
    size: Size
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

    @property
    def deep_restrictions(self) -> tuple[MoveRestriction[int], ...]:
        """The restrictions that hold below the first move."""
        return tuple(each for each in self.restrictions if each.plies > 1)

    @property
    def restriction_field(self) -> str:
        """The field that the restrictions come from."""
        return "allowMoves" if self.restrictions[0].allowed else "avoidMoves"

    def game(self, turn: int) -> Go:
        """Return the game after so many moves, with its mover to move though it may be over.

        Raises QueryError for a move that is illegal; one that repeats an earlier position is not,
        since the rules of the game may have allowed it.
        """
        game = Go(format_size(*self.size), self.komi)
        for player in (0, 1):
            vertices = [vertex for placed, vertex in self.stones if placed == player]
            try:
                game.set_up(player, vertices)
            except ValueError as error:
                raise QueryError(f"Illegal stones: {error}", "initialStones") from None
        game.set_turn(self.first_player)
        for number, (player, move) in enumerate(self.moves[:turn]):
            if not _is_playable(game, player, move):
                raise QueryError(f"Illegal move {number}: {game.text(move)}", "moves")
            game.play_as(player, move)
        if game.is_over():
            game.set_turn(game.turn)
        return game

    def root_moves(self, game: Go) -> tuple[int, ...] | None:
        """Return the moves that the mover may begin with; None if all, () if none."""
        mine = [each for each in self.restrictions if each.player == game.turn]
        if not mine:
            return None
        legal = game.moves()
        if mine[0].allowed:
            return tuple(move for move in legal if move in mine[0].moves)
        avoided = frozenset[int]().union(*(each.moves for each in mine))
        candidate_moves = tuple(move for move in game.candidate_moves() if move not in avoided)
        return candidate_moves or tuple(move for move in legal if move not in avoided)


@dataclass(frozen=True, slots=True)
class QueryDefaults:
    """What holds where a query does not say: as in `Query`."""

    visits: int = 500
    seconds: float | None = None
    perspective: int | None = 0


DEFAULTS = QueryDefaults()


def read_query(
    name: str, fields: Fields, defaults: QueryDefaults
) -> tuple[Query, list[tuple[str, str]]]:
    """Return a query with this id, and warnings: a field and what to know of it.

    Raises QueryError for what is wrong.
    """
    fields.get("id")
    fields.get("action")  # one that is no text is an unused field to KataGo, too
    warnings: list[tuple[str, str]] = []
    size = _size(fields)
    stones = {vertex: player for player, vertex in _read_placements(fields, "initialStones", size)}
    moves = _moves(fields, size)
    first = _first(fields, stones, moves)
    turns = _turns(fields, len(moves))
    rules = _rules(fields, warnings)
    komi = _komi(fields, rules) + handicap_bonus(
        rules.handicap_bonus_rule, _count_handicap_stones(stones, moves)
    )
    visits, seconds, perspective = _read_override_settings(fields, defaults, warnings)
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
        komi=komi,
        stones=tuple(_interned_placement(player, vertex) for vertex, player in stones.items()),
        moves=moves,
        first_player=first,
        turns=turns,
        visits=visits,
        seconds=seconds,
        perspective=perspective,
        pv_length=pv_length,
        ownership=fields.boolean("includeOwnership"),
        policy=fields.boolean("includePolicy"),
        first_report_after=first_report_after,
        report_every=report_every,
        restrictions=_restrictions(fields, size),
        moves_ownership=fields.boolean("includeMovesOwnership"),
        pv_visits=fields.boolean("includePVVisits"),
    )
    warnings += [(field, UNUSED_FIELD_MESSAGE) for field in fields.unknown()]
    query.game(len(moves))
    return query, warnings[:MAX_WARNINGS]


def read_vertex(text: object, size: Size) -> int | None:
    """Return the vertex that is written as in GTP or "(column,row from above)", or PASS.

    None if it is not on a board of that size.
    """
    width, height = size
    word = text.strip().upper() if isinstance(text, str) else ""
    if word == "PASS":
        return PASS
    if found := re.fullmatch(r"\(([0-9]{1,3}), *([0-9]{1,3})\)", word):
        column, row = int(found[1]), height - 1 - int(found[2])
    elif found := re.fullmatch(r"([A-Z])([0-9]{1,3})", word):
        column, row = COLUMNS.find(found[1]), int(found[2]) - 1
    else:
        return None
    on_board = 0 <= column < width and 0 <= row < height
    return shape(width, height).vertex(column, row) if on_board else None


def read_perspective(value: object) -> int | None:
    """Return whose winning is to be reported: a player, or None for whoever is to move.

    Raises QueryError if it cannot be read.
    """
    word = value.strip().upper() if isinstance(value, str) else ""
    if word not in PERSPECTIVES:
        raise QueryError(
            f"reportAnalysisWinratesAs is BLACK, WHITE or SIDETOMOVE, not {shortened(value)}"
        )
    return PERSPECTIVES[word]


def _is_playable(game: Go, player: int, move: int) -> bool:
    """Tell whether a record may go on so: any move but on a stone, suicide or a ko at once."""
    if move == PASS:
        return True
    stones = game.stones
    if stones.board[move] != EMPTY or stones.is_suicide(move, player + 1):
        return False
    return move != stones.ko or player != game.turn


@cache
def _interned_placement(player: int, vertex: int) -> Placement:
    """Return a player and a vertex: one and the same pair, since many queries wait at once."""
    return player, vertex


def _size(fields: Fields) -> Size:
    message = f"Must provide an integer from {MIN_BOARD_SIZE} to {MAX_SIZE}"
    width = fields.integer("boardXSize", MIN_BOARD_SIZE, MAX_SIZE, message)
    height = fields.integer("boardYSize", MIN_BOARD_SIZE, MAX_SIZE, message)
    return width, height


def _read_placements(
    fields: Fields, field: str, size: Size, passes: bool = False
) -> Iterable[Placement]:
    """Generate the stones of a field, if it is given."""
    if field not in fields:
        return
    pairs = fields.get(field)
    if not isinstance(pairs, list):
        raise QueryError(PAIRS_MESSAGE, field)
    for pair in pairs:
        if not isinstance(pair, list) or [type(each) for each in pair] != [str, str]:
            raise QueryError(PAIRS_MESSAGE, field)
        player, vertex = read_player(pair[0]), read_vertex(pair[1], size)
        if player is None:
            raise QueryError(f"Could not parse player: {shortened(pair[0])}", field)
        if vertex is None or (vertex == PASS and not passes):
            raise QueryError(f"Could not parse board location: {shortened(pair[1])}", field)
        yield _interned_placement(player, vertex)


def _moves(fields: Fields, size: Size) -> tuple[Placement, ...]:
    if "moves" not in fields:
        raise QueryError("Must specify an array of [player,location] pairs", "moves")
    moves = tuple(_read_placements(fields, "moves", size, passes=True))
    if len(moves) > MAX_MOVES:
        raise QueryError(
            f"A record of {len(moves)} moves is too long; at most {MAX_MOVES}", "moves"
        )
    return moves


def _first(fields: Fields, stones: dict[int, int], moves: tuple[Placement, ...]) -> int:
    """Return who begins: as it is said, as the record says, or White after a handicap."""
    if "initialPlayer" in fields:
        return fields.player("initialPlayer")
    if moves:
        return moves[0][0]
    return 1 if _count_handicap_stones(stones, moves) else 0


def _count_handicap_stones(stones: dict[int, int], moves: tuple[Placement, ...]) -> int:
    """Return the number of handicap stones: set up, or Black's moves before White's first.

    A single one is none, nor are any where White has stones set up.
    """
    if 1 in stones.values():
        return 0
    number = len(stones)
    played = 0
    for player, move in moves:
        if player == 1 or move == PASS:
            break
        played += 1
    number += played if played > 1 else 0
    return number if number > 1 else 0


def _turns(fields: Fields, last: int) -> tuple[Placement, ...]:
    """Return which positions to analyse, each once, with their priorities."""
    priority = 0
    turns = [last]
    if "analyzeTurns" in fields:
        message = "Must specify an array of integers indicating turns to analyze"
        turns = fields.integers("analyzeTurns", message)
        for turn in turns:
            if not 0 <= turn <= last:
                raise QueryError(f"Invalid turn number: {shortened(turn)}", "analyzeTurns")
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
        for each in priorities:
            if abs(each) > MAX_PRIORITY:
                raise QueryError(f"Invalid priority: {shortened(each)}", "priorities")
    return tuple(sorted(dict(zip(turns, priorities, strict=True)).items()))


def _rules(fields: Fields, warnings: list[tuple[str, str]]) -> Ruleset:
    value = fields.get("rules")
    if not isinstance(value, str | dict):
        raise QueryError(
            'Must specify rules string, such as "chinese" or "tromp-taylor", or a JSON object '
            "with detailed rules parameters.",
            "rules",
        )
    rules = read_ruleset(value)
    if rules is None:
        raise QueryError(f"Could not parse rules: {shortened(value)}", "rules")
    if not rules.is_supported:
        warnings.append(
            (
                "rules",
                f"Rules {shortened(value)} not supported, using {SUPPORTED_RULES_TEXT} instead",
            )
        )
    if "whiteHandicapBonus" in fields:
        handicap_bonus_rule = fields.get("whiteHandicapBonus")
        if handicap_bonus_rule not in HANDICAP_BONUSES:
            raise QueryError(f"Must be one of {', '.join(HANDICAP_BONUSES)}", "whiteHandicapBonus")
        rules = replace(rules, handicap_bonus_rule=handicap_bonus_rule)
    return rules


def _komi(fields: Fields, rules: Ruleset) -> float:
    message = "Must be a integer or half-integer from -150.0 to 150.0"
    if "komi" not in fields:
        komi, field = rules.default_komi, "rules"
    else:
        komi, field = fields.real("komi", -MAX_KOMI, MAX_KOMI, message), "komi"
    if not is_valid_komi(komi):
        raise QueryError(message, field)
    return komi


def is_valid_komi(komi: float) -> bool:
    """Tell whether a komi is one that queries may have: whole or half points."""
    return abs(komi) <= MAX_KOMI and 2 * komi == int(2 * komi)


def _read_override_settings(
    fields: Fields, defaults: QueryDefaults, warnings: list[tuple[str, str]]
) -> tuple[int, float | None, int | None]:
    """Return visits, seconds and the viewer, as settings of this query's own say."""
    field = "overrideSettings"
    if field not in fields:
        return defaults.visits, defaults.seconds, defaults.perspective
    settings = fields.get(field)
    if not isinstance(settings, dict):
        raise QueryError("Must be an object", field)
    try:
        visits, seconds, perspective, unknown = read_settings(settings, defaults)
    except QueryError as error:
        raise QueryError(f"Could not set settings: {error}", field) from None
    if unknown:
        warnings.append((field, shortened(f"Unknown config params: {','.join(unknown)}")))
    return visits, seconds, perspective


def read_settings(
    settings: dict[str, Any], defaults: QueryDefaults
) -> tuple[int, float | None, int | None, list[str]]:
    """Return visits, seconds and the viewer as KataGo's settings say, and the settings not known.

    Raises QueryError for a value that cannot be. Numbers may be written as text.
    """
    visits, seconds, perspective = defaults.visits, defaults.seconds, defaults.perspective
    unknown = []
    for name, value in settings.items():
        if name == "maxVisits":
            visits = int(_number(name, value, 1, MAX_VISITS))
        elif name == "maxTime":
            seconds = min(_number(name, value, 0, 1e20), MAX_SECONDS)
        elif name == "reportAnalysisWinratesAs":
            perspective = read_perspective(value)
        else:
            unknown.append(name)
    return visits, seconds, perspective, unknown


def _number(name: str, value: object, minimum: float, maximum: float) -> float:
    try:
        number = float(value) if isinstance(value, str | int | float) else minimum - 1
    except (ValueError, OverflowError):
        number = minimum - 1
    if isinstance(value, bool) or not minimum <= number <= maximum:
        raise QueryError(
            f"{name} is a number from {minimum:g} to {maximum:g}, not {shortened(value)}"
        )
    return number


def _read_report_times(fields: Fields) -> tuple[float | None, float | None]:
    every = first = None
    if "reportDuringSearchEvery" in fields:
        first = every = fields.real("reportDuringSearchEvery", 0.001, MAX_SECONDS, _SECONDS_MESSAGE)
    if "firstReportDuringSearchAfter" in fields:
        first = fields.real("firstReportDuringSearchAfter", 0.001, MAX_SECONDS, _SECONDS_MESSAGE)
    return first, every


def _warn_of_ignored_fields(fields: Fields, warnings: list[tuple[str, str]]) -> None:
    """Read what KataGo knows and this engine does not; warn of what changes nothing here."""
    for name in _IGNORED_NUMBERS:
        if name in fields:
            fields.real(name, 0.0, 100.0, "Must be a number from 0.0 to 100.0")
            warnings.append((name, IGNORED_FIELD_MESSAGE))
    warnings += [(name, IGNORED_FIELD_MESSAGE) for name in _IGNORED_FLAGS if fields.boolean(name)]


def _restrictions(fields: Fields, size: Size) -> tuple[MoveRestriction[int], ...]:
    given = [field for field in ("allowMoves", "avoidMoves") if field in fields]
    if not given:
        return ()
    if len(given) == 2:
        raise QueryError("Cannot specify both allowMoves and avoidMoves", "allowMoves")
    (field,) = given
    entries = fields.get(field)
    if not isinstance(entries, list):
        raise QueryError(_RESTRICTION_MESSAGE, field)
    allowed = field == "allowMoves"
    if allowed and len(entries) > 1:
        raise QueryError("Currently allowMoves only allows one entry", field)
    found = []
    for entry in entries:
        if not isinstance(entry, dict) or not {"player", "moves", "untilDepth"} <= entry.keys():
            raise QueryError(_RESTRICTION_MESSAGE, field)
        parts = Fields(entry)
        player = parts.player("player")
        moves = frozenset(_vertices(parts.get("moves"), size))
        depth = parts.integer("untilDepth", 1, 1_000_000_000, "Must be a positive integer")
        found.append(MoveRestriction(player, moves, allowed, depth))
    return tuple(found)


def _vertices(values: object, size: Size) -> Iterable[int]:
    if not isinstance(values, list) or not all(isinstance(each, str) for each in values):
        raise QueryError("Must be an array of GTP board vertices", "moves")
    for each in values:
        vertex = read_vertex(each, size)
        if vertex is None:
            raise QueryError(f"Could not parse board location: {shortened(each)}", "moves")
        yield vertex
