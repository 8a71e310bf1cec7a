"""Review the Go games in an SGF file and write annotated SGF."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.games.go import COLUMNS, Size
from agent.go.parts import MAX_BOARD_SIZE
from agent.io.read_report import ReadReport
from agent.io.sanitize import sanitize_line, sanitize_name
from kempelen.console.settings_codec import SettingsError
from kempelen.match.config.time_control import TimeControl
from kempelen.match.review.analysis_file import AnalysisFile
from kempelen.match.review.move_annotation import (
    MoveQuality,
    PositionEval,
    ReviewedMove,
    describe_move,
    human_annotator,
)
from kempelen.match.review.parsed_game import (
    CLOSE_TIMEOUT,
    MAX_VARIATION_LENGTH,
    ParsedGame,
    verification_limits,
)
from protocols.gtp.sgf import (
    SgfError,
    SgfGame,
    main_moves,
    parse_trees,
    read_main_section,
    read_point,
    read_trees,
    set_move,
)
from protocols.gtp.sgf_tree import Node, serialise
from protocols.katago_analysis.fields import FieldReader, QueryError
from protocols.katago_analysis.protocol import AnalysisEngine, Settings
from protocols.katago_analysis.query import (
    DEFAULTS,
    MAX_KOMI,
    MAX_MOVES,
    MAX_VISITS,
    MIN_BOARD_SIZE,
    is_valid_komi,
    read_query,
)
from protocols.rulesets import find_ruleset, read_sgf_rules

PLAYERS = "BW"
DEFAULT_RULES = "chinese"
MARKS = {
    MoveQuality.INACCURACY: ("DO", ""),
    MoveQuality.MISTAKE: ("BM", "1"),
    MoveQuality.BLUNDER: ("BM", "2"),
}
# Properties of move quality. A review replaces those of earlier reviews.
QUALITY_PROPERTIES = ("BM", "DO", "TE", "IT")


@dataclass(frozen=True)
class ParsedGoGame(ParsedGame):
    """A parsed Go game, with its tree, if any, and a KataGo analysis query for the whole game.

    If stones are set up after a move, the game is the longest section without such a change.
    """

    tree: Node | None
    number: int
    record: SgfGame
    query: dict[str, Any]
    moves: tuple[str, ...]

    game = "go"
    suffix = ".sgf"
    unit = "visits"

    def keys(self, known: AnalysisFile) -> list[str]:
        start = {name: value for name, value in self.query.items() if name != "moves"}
        return known.keys(json.dumps(start), map(" ".join, self.query["moves"]))

    def mover(self, ply: int) -> int:
        played = self.record.moves
        if ply < len(played):
            return played[ply][0]
        return 1 - played[-1][0] if played else self.record.first

    def titles(self) -> dict[str, str]:
        return {
            "event": sanitize_line(self.root_property("EV")),
            "first": sanitize_name(self.root_property("PB")) or "?",
            "second": sanitize_name(self.root_property("PW")) or "?",
            "result": sanitize_name(self.root_property("RE")) or "?",
        }

    def root_property(self, name: str) -> str:
        """Return a property of the first node, or "" if it is missing."""
        return self.tree.get(name) if self.tree else ""

    def annotated(self, known: AnalysisFile, annotator: str) -> str:
        """Return the game in SGF.

        V is the lead of Black in points. DO, BM[1] and BM[2] mark inaccuracies, mistakes and
        blunders.
        """
        assert self.tree is not None
        review = self.review(known)
        nodes = main_moves(self.tree)[self.record.start :]
        has_marks = any(node.properties.keys() & set(QUALITY_PROPERTIES) for node in nodes)
        author = human_annotator(self.root_property("AN"), has_marks)
        if review.moves:
            self.tree.set("AN", f"{author}; {annotator}" if author else annotator)
        for node, move in zip(nodes, review.moves, strict=False):
            if move.expected is None:
                continue
            if move.lead is not None:
                node.set("V", f"{move.lead:z.2f}")
            node.add_comment(describe_move(move))
            marks = [name for name in QUALITY_PROPERTIES if name in node.properties]
            if not author and move.loss is not None:
                for name in marks:
                    del node.properties[name]
                marks = []
            if move.grade is not MoveQuality.GOOD:
                name, value = MARKS[move.grade]
                if not marks:
                    node.set(name, value)
                if node.parent is not None:
                    _add_line(node.parent, move, self.record.size)
        return self.text()

    def text(self) -> str:
        """Return the game in SGF, for a file in UTF-8."""
        assert self.tree is not None
        return serialise(self.tree)


def read_sgf(path: Path, report: ReadReport | None = None) -> list[ParsedGoGame]:
    """Read an SGF file. Raise SettingsError if it contains no game that can be analysed."""
    try:
        trees = read_trees(path)
    except SgfError as error:
        raise SettingsError("{}: {}", path, error) from None
    return _parse_games(trees, str(path), MAX_MOVES, report)


def parse_sgf(
    text: str,
    where: str,
    max_moves: int = MAX_MOVES,
    report: ReadReport | None = None,
    *,
    require_moves: bool = True,
) -> list[ParsedGoGame]:
    """Return the games in an SGF text. Games with more than `max_moves` moves are skipped.

    Raise SettingsError, with the prefix `where`, if there is no game, or no game with moves.
    """
    try:
        trees = parse_trees(text)
    except SgfError as error:
        raise SettingsError("{}: {}", where, error) from None
    return _parse_games(trees, where, max_moves, report, require_moves)


def _parse_games(
    trees: Sequence[Node],
    where: str,
    max_moves: int,
    report: ReadReport | None,
    require_moves: bool = True,
) -> list[ParsedGoGame]:
    report = report or ReadReport()
    games = []
    for number, tree in enumerate(trees, 1):
        try:
            games.append(_parse_game(tree, number, max_moves))
        except (SgfError, QueryError) as error:
            report.skip(number, error)
    report.used = len(games)
    if not games or (require_moves and not any(game.moves for game in games)):
        if report.skipped:
            raise SettingsError("{}: {}", where, sanitize_line(report.reasons()))
        raise SettingsError("{}: no game of Go with moves found", where)
    return games


def _parse_game(tree: Node, number: int, max_moves: int) -> ParsedGoGame:
    record = read_main_section(tree)
    if len(record.moves) > max_moves:
        raise SgfError("game too long (at most {} moves)", max_moves)
    width, height = record.size
    if not all(MIN_BOARD_SIZE <= edge <= MAX_BOARD_SIZE for edge in record.size):
        raise SgfError(
            "unsupported board size {}x{} (must be {} to {} columns and rows)",
            *(width, height, MIN_BOARD_SIZE, MAX_BOARD_SIZE),
        )
    komi = record.komi
    if komi is not None and not is_valid_komi(komi):
        raise SgfError(
            "unsupported komi {:g} (must be integer or half-integer, from -{:g} to {:g})",
            *(komi, MAX_KOMI, MAX_KOMI),
        )
    moves = tuple(_vertex(point) for _, point in record.moves)
    query: dict[str, Any] = {
        "boardXSize": width,
        "boardYSize": height,
        "rules": _rules(record.rules),
        "initialStones": [
            [PLAYERS[player], _vertex(point)]
            for player, points in enumerate(record.stones)
            for point in points
        ],
        "initialPlayer": PLAYERS[record.first],
        "moves": [[PLAYERS[player], _vertex(point)] for player, point in record.moves],
    }
    if komi is not None:
        query["komi"] = komi
    read_query("game", FieldReader(dict(query)), DEFAULTS)  # refuses illegal moves
    return ParsedGoGame(tree, number, record, query, moves)


def _rules(text: str) -> str | dict[str, Any]:
    name = text.lower()
    if find_ruleset(name):
        return name
    rules = read_sgf_rules(text)
    return DEFAULT_RULES if rules is None else rules.to_json_object()


def _vertex(point: tuple[int, int] | None) -> str:
    return "pass" if point is None else f"{COLUMNS[point[0]]}{point[1] + 1}"


async def analyse_go(
    games: Sequence[ParsedGoGame],
    settings: Settings,
    limits: TimeControl,
    known: AnalysisFile,
    *,
    since: int = 0,
    report: Callable[[int], None] = lambda done: None,
) -> None:
    """Search all positions that are not in `known`, and add the evaluations to `known`.

    Positions before the ply `since` are left out. Mistakes and blunders are then verified. `report`
    is called with the number of finished positions. Raise SettingsError if a game contains an
    illegal move.
    """
    loop = asyncio.get_running_loop()
    answers: asyncio.Queue[str] = asyncio.Queue()

    def send(line: str) -> None:
        with suppress(RuntimeError):  # the event loop may already be closed
            loop.call_soon_threadsafe(answers.put_nowait, line)

    engine = AnalysisEngine("", send, lambda text: None, settings)
    done = 0

    async def search(game: ParsedGoGame, keys: dict[int, str], limits: TimeControl) -> None:
        nonlocal done
        line = json.dumps(_query(game, limits, list(keys)))
        responses = await asyncio.to_thread(_handle_query, engine, line)
        waiting = len(keys)
        while waiting:
            text = responses.pop(0) if responses else await answers.get()
            answer = json.loads(text)
            if "error" in answer:
                raise SettingsError("game {}: {}", game.number, sanitize_line(answer["error"]))
            if "warning" in answer:
                continue
            ply = answer["turnNumber"]
            known.add(keys[ply], _eval_from_answer(answer, game.mover(ply)))
            waiting -= 1
            if keys is missing:
                done += 1
                report(done)

    try:
        for game in games:
            missing = game.missing(known, since)
            done += len(game.plies) - len(missing)
            report(done)
            if missing:
                await search(game, missing, limits)
            verified: set[str] = set()
            while doubtful := await asyncio.to_thread(game.doubtful, known, limits, verified):
                await search(game, doubtful, verification_limits(limits))
                verified.update(doubtful.values())
    finally:
        await asyncio.shield(asyncio.to_thread(engine.close, CLOSE_TIMEOUT))


def _handle_query(engine: AnalysisEngine, line: str) -> list[str]:
    return list(engine.handle_line(line))


def _query(game: ParsedGoGame, limits: TimeControl, plies: list[int]) -> dict[str, Any]:
    overrides: dict[str, Any] = {"reportAnalysisWinratesAs": "BLACK"}
    if limits.movetime is not None:
        overrides["maxTime"] = limits.movetime
    return {
        **game.query,
        "id": str(game.number),
        "analyzeTurns": plies,
        "includeOwnership": True,
        "maxVisits": min(limits.nodes or MAX_VISITS, MAX_VISITS),
        "overrideSettings": overrides,
    }


def _eval_from_answer(answer: dict[str, Any], mover: int) -> PositionEval:
    """Return the evaluation in an answer, from the point of view of the player to move."""
    if answer.get("noResults") or not answer["moveInfos"]:
        return PositionEval(0.5)
    root = answer["rootInfo"]
    lead = root.get("scoreLead")
    return PositionEval(
        expected=root["winrate"] if mover == 0 else 1 - root["winrate"],
        lead=None if lead is None else round(lead if mover == 0 else -lead, 2),
        line=tuple(answer["moveInfos"][0]["pv"][: MAX_VARIATION_LENGTH + 1]),
        nodes=root["visits"],
        owners=tuple(round(owner, 2) for owner in answer.get("ownership", ())),
    )


def _add_line(node: Node, move: ReviewedMove, size: Size) -> None:
    players = itertools.cycle((move.player, 1 - move.player))
    for vertex, player in zip(move.line[:MAX_VARIATION_LENGTH], players, strict=False):
        node = Node(node)
        set_move(node, player, read_point(vertex), size)
