"""Games of Go from SGF, judged move by move, and written as SGF with what was found."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.games.go import COLUMNS, MAX_SIZE
from agent.io.sanitize import sanitize_line, sanitize_name
from kempelen.console.settings_codec import SettingsError
from kempelen.match.config.time_control import TimeControl
from kempelen.match.review.analysis_file import AnalysisFile
from kempelen.match.review.move_annotation import (
    GameReview,
    MoveQuality,
    PositionEval,
    ReviewedMove,
    first_player_view,
    format_eval,
    move_loss,
    move_stats,
    quality_of_loss,
    with_hindsight,
)
from protocols.gtp.sgf import (
    Record,
    SgfError,
    parse_trees,
    read_point,
    read_trees,
    record_from_tree,
    set_move,
)
from protocols.katago_analysis.protocol import AnalysisEngine, Settings
from protocols.katago_analysis.query import MAX_KOMI, MAX_VISITS, MIN_BOARD_SIZE, is_valid_komi
from protocols.rulesets import find_ruleset, read_sgf_rules

PLAYERS = "BW"
DEFAULT_RULES = "chinese"
# Moves of the better line that are written into a game.
MAX_VARIATION_LENGTH = 10
# Seconds that searches have to end in after they are given up.
CLOSE_TIMEOUT = 5.0


@dataclass(frozen=True, slots=True)
class ParsedGoGame:
    """A game as it is searched. query: what the analysis engine is asked, without the turns.

    tree: sgfmill's. moves: the player and the vertex, as people write it.
    """

    tree: Any
    number: int
    record: Record
    query: dict[str, Any]
    moves: tuple[tuple[int, str], ...]

    def position(self, ply: int) -> str:
        """Return the position after so many moves, with all that a search of it depends on."""
        return json.dumps({**self.query, "moves": self.query["moves"][:ply]})

    def mover(self, ply: int) -> int:
        """Return who is to move after so many moves, as the record has it."""
        if ply < len(self.moves):
            return self.moves[ply][0]
        return 1 - self.moves[-1][0] if self.moves else self.record.first


def read_sgf(path: Path) -> list[ParsedGoGame]:
    """Return the games of a file; SettingsError names the game that cannot be read."""
    try:
        trees = read_trees(path)
    except SgfError as error:
        raise SettingsError(f"cannot read {path}: {error}") from None
    return _parse_games(trees, str(path))


def parse_sgf(text: str, where: str) -> list[ParsedGoGame]:
    """Return the games of an SGF, whose letters are known; where: what errors call it."""
    try:
        trees = parse_trees(text.encode(), encoding="UTF-8")
    except SgfError as error:
        raise SettingsError(f"{where}: {error}") from None
    return _parse_games(trees, where)


def _parse_games(trees: Sequence[Any], where: str) -> list[ParsedGoGame]:
    scores = []
    for number, tree in enumerate(trees, 1):
        try:
            scores.append(_parse_game(tree, number))
        except SgfError as error:
            raise SettingsError(f"{where}: game {number}: {sanitize_line(str(error))}") from None
    if not any(score.moves for score in scores):
        raise SettingsError(f"{where}: there is no game of Go with a move in it")
    return scores


def _parse_game(tree: Any, number: int) -> ParsedGoGame:
    record = record_from_tree(tree)
    width, height = record.size
    if not all(MIN_BOARD_SIZE <= edge <= MAX_SIZE for edge in record.size):
        raise SgfError(
            f"boards of {MIN_BOARD_SIZE} to {MAX_SIZE} columns and rows are analysed, not {width}x{height}"
        )
    komi = record.komi
    if komi is not None and not is_valid_komi(komi):
        raise SgfError(
            f"a komi of {komi:g}: whole and half points from -{MAX_KOMI:g} to {MAX_KOMI:g} are "
            "analysed"
        )
    moves = tuple((player, _vertex(point)) for player, point in record.moves)
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
        "moves": [[PLAYERS[player], vertex] for player, vertex in moves],
    }
    if komi is not None:
        query["komi"] = komi
    return ParsedGoGame(tree, number, record, query, moves)


def _rules(said: str) -> str | dict[str, Any]:
    """Return as what a query has the rules of a record: by their name if they have one."""
    name = said.lower()
    if find_ruleset(name):
        return name
    rules = read_sgf_rules(said)
    return DEFAULT_RULES if rules is None else rules.to_json_object()


def _vertex(point: tuple[int, int] | None) -> str:
    return "pass" if point is None else f"{COLUMNS[point[0]]}{point[1] + 1}"


def game_property(tree: Any, name: str) -> str:
    """Return a property of the game's, or nothing where it has none that can be read.

    tree: sgfmill's, None of a game that is from no file.
    """
    if tree is None:
        return ""
    root = tree.get_root()
    with suppress(ValueError, LookupError):
        if root.has_property(name):
            return str(root.get(name))
    return ""


async def analyse_go(
    scores: Sequence[ParsedGoGame],
    settings: Settings,
    limits: TimeControl,
    known: AnalysisFile,
    *,
    report: Callable[[int], None] = lambda done: None,
) -> None:
    """Have every position of the games that is not known searched, and tell `known`.

    report: is told how many are known. SettingsError for a game that Go's rules do not allow.
    """
    loop = asyncio.get_running_loop()
    answers: asyncio.Queue[str] = asyncio.Queue()

    def send(line: str) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits for it
            loop.call_soon_threadsafe(answers.put_nowait, line)

    engine = AnalysisEngine("", send, lambda text: None, settings)
    done = 0
    try:
        for score in scores:
            missing = [
                ply
                for ply in range(len(score.moves) + 1)
                if known.get(known.key(score.position(ply))) is None
            ]
            done += len(score.moves) + 1 - len(missing)
            report(done)
            if not missing:
                continue
            line = json.dumps(_query(score, limits, missing))
            said = await asyncio.to_thread(_handle_query, engine, line)
            waiting = len(missing)
            while waiting:
                text = said.pop(0) if said else await answers.get()
                answer = json.loads(text)
                if "error" in answer:
                    raise SettingsError(f"game {score.number}: {sanitize_line(answer['error'])}")
                if "warning" in answer:
                    continue
                ply = answer["turnNumber"]
                known.add(
                    known.key(score.position(ply)), _eval_from_answer(answer, score.mover(ply))
                )
                waiting -= 1
                done += 1
                report(done)
    finally:
        await asyncio.shield(asyncio.to_thread(engine.close, CLOSE_TIMEOUT))


def _handle_query(engine: AnalysisEngine, line: str) -> list[str]:
    return list(engine.handle_line(line))


def _query(score: ParsedGoGame, limits: TimeControl, plies: list[int]) -> dict[str, Any]:
    overridden: dict[str, Any] = {"reportAnalysisWinratesAs": "BLACK"}
    if limits.movetime is not None:
        overridden["maxTime"] = limits.movetime
    return {
        **score.query,
        "id": str(score.number),
        "analyzeTurns": plies,
        "includeOwnership": True,
        "maxVisits": limits.nodes or MAX_VISITS,
        "overrideSettings": overridden,
    }


def _eval_from_answer(answer: dict[str, Any], mover: int) -> PositionEval:
    """Return what the engine has said, seen by whoever is to move in the record."""
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


def review_go(score: ParsedGoGame, known: AnalysisFile) -> GameReview:
    """Return a game as far as it has been judged."""
    plies = range(len(score.moves) + 1)
    said = with_hindsight(
        [known.get(known.key(score.position(ply))) for ply in plies],
        [vertex for _, vertex in score.moves],
        [score.mover(ply) for ply in plies],
    )
    moves = []
    for ply, (player, vertex) in enumerate(score.moves):
        before, after = said[ply], said[ply + 1]
        loss = None
        if before is not None and after is not None:
            loss = move_loss(before, after, vertex, same_mover=score.mover(ply + 1) == player)
        moves.append(
            ReviewedMove(
                ply=ply + 1,
                number=ply + 1,
                player=player,
                move=vertex,
                best=before.line[0] if before and before.line else "",
                line=before.line if before else (),
                loss=loss,
                grade=quality_of_loss(loss),
                **first_player_view(after, score.mover(ply + 1)),  # type: ignore[arg-type]
            )
        )
    return GameReview(
        game="go",
        number=score.number,
        event=sanitize_line(game_property(score.tree, "EV")),
        first=sanitize_name(game_property(score.tree, "PB")) or "?",
        second=sanitize_name(game_property(score.tree, "PW")) or "?",
        result=sanitize_name(game_property(score.tree, "RE")) or "?",
        start=first_player_view(said[0], score.mover(0)).get("expected"),
        moves=tuple(moves),
        tallies=move_stats(moves),
    )


def annotated_sgf(score: ParsedGoGame, known: AnalysisFile, annotator: str) -> str:
    """Return a game with every evaluation, and with the better line where a move was bad.

    V: the lead in points, from Black's side; DO, BM[1] and BM[2]: inaccuracies, mistakes and
    blunders. Comments and variations of the game stay.
    """
    review = review_go(score, known)
    root = score.tree.get_root()
    if review.moves:
        root.set_raw("AN", annotator.encode("ascii", "replace"))
    nodes = [node for node in score.tree.get_main_sequence() if node.get_move()[0] is not None]
    for node, move in zip(nodes, review.moves, strict=False):
        if move.expected is None:
            continue
        if move.lead is not None:
            node.set_raw("V", f"{move.lead:.2f}".encode())
        node.add_comment_text(_comment(move))
        for name in ("BM", "DO", "TE", "IT"):
            if node.has_property(name) and move.loss is not None:
                node.unset(name)
        if move.grade is not MoveQuality.GOOD:
            name, value = MARKS[move.grade]
            node.set_raw(name, value)
            if node.parent is not None:
                _add_line(node.parent, move)
    text: str = score.tree.serialise().decode(root.get_encoding(), "replace")
    return text


MARKS = {
    MoveQuality.INACCURACY: ("DO", b""),
    MoveQuality.MISTAKE: ("BM", b"1"),
    MoveQuality.BLUNDER: ("BM", b"2"),
}


def _comment(move: ReviewedMove) -> str:
    words = [f"Black {100 * (move.expected or 0):.1f} %"]
    if score := format_eval(move):
        words.append(score)
    if move.grade is not MoveQuality.GOOD:
        words.append(f"{move.grade}: gives away {100 * (move.loss or 0):.1f} %; {move.best}")
    return ", ".join(words)


def _add_line(node: Any, move: ReviewedMove) -> None:
    players = itertools.cycle((move.player, 1 - move.player))
    for vertex, player in zip(move.line[:MAX_VARIATION_LENGTH], players, strict=False):
        node = node.new_child()
        set_move(node, player, read_point(vertex))


def go_search_key(settings: Settings, limits: TimeControl) -> str:
    """Return all that an assessment depends on beside its position."""
    return f"go {settings.search_settings} {limits}"
