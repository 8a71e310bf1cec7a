"""Review the chess games in a PGN file and write annotated PGN."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import chess
import chess.engine
import chess.pgn

from agent.games.variants import STANDARD, VARIANTS, ChessRules, variant_of
from agent.io.read_errors import convert_read_errors
from agent.io.read_report import ReadReport
from agent.io.sanitize import sanitize_line
from agent.limits import Mate
from kempelen.console.settings_codec import SettingsError
from kempelen.console.terminal import read_lines
from kempelen.match.config.engine_settings import EngineSettings
from kempelen.match.config.time_control import TimeControl
from kempelen.match.records.game_record import escape_tag_value, unescape_tag_value
from kempelen.match.review.analysis_file import AnalysisFile
from kempelen.match.review.move_annotation import (
    MoveQuality,
    PositionEval,
    eval_from_score,
    human_annotator,
)
from kempelen.match.review.parsed_game import (
    MAX_VARIATION_LENGTH,
    ParsedGame,
    verification_limits,
)
from kempelen.match.suites.epd_suite import EngineRunner
from openings.pgn import PgnGame, read_games, text_lines
from protocols.client.process import EngineError
from protocols.client.uci import SearchRequest
from protocols.session_context import STANDALONE, SessionContext
from protocols.tasks import cancel_all
from protocols.uci.position import MAX_GAME_PLIES

MAX_FILE_SIZE = 256 << 20
NAGS = {
    MoveQuality.INACCURACY: chess.pgn.NAG_DUBIOUS_MOVE,
    MoveQuality.MISTAKE: chess.pgn.NAG_MISTAKE,
    MoveQuality.BLUNDER: chess.pgn.NAG_BLUNDER,
}
# Numeric annotation glyphs (NAGs) of move quality. A review replaces those of earlier reviews.
QUALITY_NAGS = frozenset(range(chess.pgn.NAG_GOOD_MOVE, chess.pgn.NAG_DUBIOUS_MOVE + 1))


@dataclass(frozen=True)
class ParsedChessGame(ParsedGame):
    """A parsed game of chess or a variant. `start` is a FEN, or None for the usual position.

    `moves` are in UCI notation, with castling moves in the notation of chess or Chess960.
    """

    pgn: chess.pgn.Game
    number: int
    start: str | None
    rules: ChessRules
    moves: tuple[str, ...]

    game = "chess"
    suffix = ".pgn"
    unit = "nodes"

    def keys(self, known: AnalysisFile) -> list[str]:
        rules = self.rules
        variant = "" if rules.variant == STANDARD else f" {rules.variant}"
        return known.keys(f"{self.start} {rules.chess960}{variant}", self.moves)

    def mover(self, ply: int) -> int:
        return (int(not self.pgn.turn()) + ply) % 2

    def titles(self) -> dict[str, str]:
        headers = self.pgn.headers
        return {
            "event": unescape_tag_value(headers.get("Event", "?")),
            "first": unescape_tag_value(headers.get("White", "?")),
            "second": unescape_tag_value(headers.get("Black", "?")),
            "result": sanitize_line(headers.get("Result", "*")),
        }

    def notation(
        self, lines: Sequence[Sequence[str]]
    ) -> Iterator[tuple[int, str, tuple[str, ...]]]:
        board = self.pgn.board()
        for text, line in zip(self.moves, lines, strict=True):
            move, number, better = board.parse_uci(text), board.fullmove_number, _san(board, line)
            yield number, board.san_and_push(move), better

    def annotated(self, known: AnalysisFile, annotator: str) -> str:
        pgn, review, evals = self.pgn, self.review(known), self.evals(known)
        nodes = list(pgn.mainline())
        has_marks = any(node.nags & QUALITY_NAGS for node in nodes)
        author = human_annotator(pgn.headers.get("Annotator", ""), has_marks)
        if review.moves:
            names = escape_tag_value(annotator)
            pgn.headers["Annotator"] = f"{author}; {names}" if author else names
        board = pgn.board()  # node.board() and node.turn() would replay the game for every move
        for ply, (node, move) in enumerate(zip(nodes, review.moves, strict=True)):
            before, after = evals[ply], evals[ply + 1]
            if after is not None:
                node.set_eval(_pov(after, not board.turn), after.depth or None)
            if move.loss is not None and before is not None:
                if not author:
                    node.nags -= QUALITY_NAGS
                if move.grade in NAGS:
                    if not node.nags & QUALITY_NAGS:
                        node.nags.add(NAGS[move.grade])
                    _add_line(node.parent, board.copy(stack=False), before.line)
            board.push(node.move)
        return self.text()

    def text(self) -> str:
        """Return the game in PGN."""
        return self.pgn.accept(chess.pgn.StringExporter(columns=100)) + "\n\n"


def read_pgn(path: Path, report: ReadReport | None = None) -> list[ParsedChessGame]:
    """Read a PGN file. Raise SettingsError if it contains no game that can be analysed."""
    with convert_read_errors(path, SettingsError):
        return _parse_games(read_lines(path, MAX_FILE_SIZE), str(path), report=report)


def parse_pgn(
    text: str,
    where: str,
    limit: int | None = None,
    max_plies: int = MAX_GAME_PLIES,
    report: ReadReport | None = None,
    *,
    require_moves: bool = True,
) -> list[ParsedChessGame]:
    """Return the games in a PGN text, at most `limit`. Games over `max_plies` plies are skipped.

    Raise SettingsError, with the prefix `where`, if there is no game, or no game with moves.
    """
    return _parse_games(text_lines(text), where, limit, max_plies, report, require_moves)


def _parse_games(
    lines: Iterable[str],
    where: str,
    limit: int | None = None,
    max_plies: int = MAX_GAME_PLIES,
    report: ReadReport | None = None,
    require_moves: bool = True,
) -> list[ParsedChessGame]:
    report = report or ReadReport()
    found = report.select(read_games(lines), lambda game: _parse_game(game, max_plies))
    games = list(islice(found, limit))
    if not games or (require_moves and not any(parsed.moves for parsed in games)):
        if report.skipped:
            raise SettingsError("{}: {}", where, report.reasons())
        raise SettingsError("{}: no chess game with moves found", where)
    return games


def _parse_game(game: PgnGame, max_plies: int) -> ParsedChessGame:
    parsed = game.parse(max_plies, VARIANTS)
    board = parsed.board()
    moves = tuple(move.uci() for move in parsed.mainline_moves())
    is_usual = board.fen() == type(board).starting_fen and not board.chess960
    start = None if is_usual else board.fen()
    rules = ChessRules(variant_of(board), board.chess960)
    return ParsedChessGame(parsed, game.number, start, rules, moves)


async def analyse_chess(
    games: Sequence[ParsedChessGame],
    engine: EngineSettings,
    limits: TimeControl,
    known: AnalysisFile,
    *,
    concurrency: int = 1,
    since: int = 0,
    report: Callable[[int], None] = lambda done: None,
    session_context: SessionContext = STANDALONE,
) -> None:
    """Search all positions that are not in `known`, and add the evaluations to `known`.

    Positions before the ply `since` are left out. Mistakes and blunders are then verified. Each
    search starts with an empty hash table, so node limits give reproducible results. `report` is
    called with the number of finished positions. Raise SettingsError if the engine fails twice at
    the same position.
    """
    analysis = _ChessAnalysis(games, engine, known, concurrency, session_context)
    missing = []
    for game in games:
        missing.append(game.missing(known, since))
        await asyncio.sleep(0)  # a signal may end the run while a long file is prepared
    done = sum(len(game.plies) for game in games) - sum(map(len, missing))
    report(done)

    def count_position() -> None:
        nonlocal done
        done += 1
        report(done)

    await analysis.search(missing, limits, count_position)
    verified: set[str] = set()
    while True:
        doubtful = [
            await asyncio.to_thread(game.doubtful, known, limits, verified) for game in games
        ]
        if not any(doubtful):
            return
        await analysis.search(doubtful, verification_limits(limits))
        verified.update(*(plies.values() for plies in doubtful))


@dataclass(frozen=True)
class _ChessAnalysis:
    """Searches positions of games with several engine processes at a time."""

    games: Sequence[ParsedChessGame]
    engine: EngineSettings
    known: AnalysisFile
    concurrency: int
    session_context: SessionContext

    async def search(
        self,
        plies: Sequence[Mapping[int, str]],
        limits: TimeControl,
        on_finished: Callable[[], None] = lambda: None,
    ) -> None:
        """Search the positions at these plies of each game, given with their keys."""
        positions, searched = _positions(self.games, plies), set[str]()
        workers = [
            asyncio.create_task(self._work(positions, limits, searched, on_finished))
            for _ in range(max(1, min(self.concurrency, sum(map(len, plies)))))
        ]
        try:
            await asyncio.gather(*workers)
        finally:
            await cancel_all(workers)

    async def _work(
        self,
        positions: Iterator[tuple[ParsedChessGame, int, str, chess.Outcome | None]],
        limits: TimeControl,
        searched: set[str],
        on_finished: Callable[[], None],
    ) -> None:
        runners: dict[ChessRules, EngineRunner] = {}
        try:
            for game, ply, key, outcome in positions:
                if key not in searched:  # a file may contain a game twice
                    searched.add(key)
                    runner = runners.setdefault(game.rules, self._runner(game.rules, limits))
                    self.known.add(key, await _evaluate(runner, game, ply, outcome, limits))
                on_finished()
        finally:
            for runner in runners.values():
                await runner.close()

    def _runner(self, rules: ChessRules, limits: TimeControl) -> EngineRunner:
        return EngineRunner(self.engine, limits, rules=rules, session_context=self.session_context)


def _positions(
    games: Sequence[ParsedChessGame], missing: Sequence[Mapping[int, str]]
) -> Iterator[tuple[ParsedChessGame, int, str, chess.Outcome | None]]:
    """Yield the missing positions: the game, the ply, the key, and the outcome if it is over.

    Each position is reached from the one before it.
    """
    for game, keys in zip(games, missing, strict=True):
        if not keys:
            continue
        board = game.pgn.board()
        for ply in game.plies:
            if ply:
                board.push_uci(game.moves[ply - 1])
            if ply in keys:
                yield game, ply, keys[ply], board.outcome()


async def _evaluate(
    runner: EngineRunner,
    game: ParsedChessGame,
    ply: int,
    outcome: chess.Outcome | None,
    limits: TimeControl,
) -> PositionEval:
    if outcome:
        if outcome.winner is None:
            return PositionEval(0.5, cp=0)
        is_won = outcome.winner == (game.mover(ply) == 0)  # without a move, as in antichess
        return eval_from_score(Mate(1 if is_won else 0), (), 0, 0)
    request = SearchRequest(
        game.start,
        game.moves[:ply],
        movetime=limits.movetime,
        nodes=limits.nodes,
        depth=limits.depth,
    )
    try:
        answer = await runner.search(request)
    except EngineError:
        try:
            answer = await runner.search(request)  # the engine restarts
        except EngineError as error:
            raise SettingsError(f"game {game.number}, ply {ply}: {error}") from None
    info = answer.info
    if info is None:
        return PositionEval(0.5, line=(answer.move,))
    line = info.pv if info.pv and info.pv[0] == answer.move else (answer.move,)
    return eval_from_score(info.score, line[: MAX_VARIATION_LENGTH + 1], info.depth, info.nodes)


def _san(board: chess.Board, line: Sequence[str]) -> tuple[str, ...]:
    board, moves = board.copy(stack=False), []
    for text in line:
        try:
            moves.append(board.san_and_push(board.parse_uci(text)))
        except ValueError:
            break
    return tuple(moves)


def _pov(value: PositionEval, turn: chess.Color) -> chess.engine.PovScore:
    score: chess.engine.Score = (
        chess.engine.Cp(value.cp or 0) if value.mate is None else chess.engine.Mate(value.mate)
    )
    return chess.engine.PovScore(score, turn)


def _add_line(node: chess.pgn.GameNode, board: chess.Board, line: Sequence[str]) -> None:
    """Add a variation that begins at `node`, whose position is `board`."""
    for text in line[:MAX_VARIATION_LENGTH]:
        try:
            move = board.parse_uci(text)
        except ValueError:
            return
        board.push(move)
        node = node.variation(move) if node.has_variation(move) else node.add_variation(move)
