"""Games of chess from PGN, judged move by move, and written as PGN with what was found."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import chess
import chess.engine
import chess.pgn

from agent.io.files import read_bytes
from agent.io.read_errors import convert_read_errors
from agent.io.sanitize import sanitize_line
from agent.limits import Mate
from kempelen.console.settings_codec import SettingsError
from kempelen.match.config.engine_settings import EngineSettings
from kempelen.match.config.time_control import TimeControl
from kempelen.match.game.openings import read_game
from kempelen.match.records.game_record import unescape_tag_value
from kempelen.match.review.analysis_file import AnalysisFile
from kempelen.match.review.move_annotation import (
    GameReview,
    MoveQuality,
    PositionEval,
    ReviewedMove,
    eval_from_score,
    first_player_view,
    move_loss,
    move_stats,
    quality_of_loss,
    with_hindsight,
)
from kempelen.match.suites.epd_suite import EngineRunner
from protocols.client.in_process import ProtocolFactory
from protocols.client.process import EngineError
from protocols.client.uci import SearchRequest
from protocols.tasks import cancel_all

MAX_FILE_SIZE = 256 << 20
# Plies of the better line that are written into a game.
MAX_VARIATION_LENGTH = 10
NAGS = {
    MoveQuality.INACCURACY: chess.pgn.NAG_DUBIOUS_MOVE,
    MoveQuality.MISTAKE: chess.pgn.NAG_MISTAKE,
    MoveQuality.BLUNDER: chess.pgn.NAG_BLUNDER,
}
# Of a move itself: these are ours to give.
QUALITY_NAGS = frozenset(range(chess.pgn.NAG_GOOD_MOVE, chess.pgn.NAG_DUBIOUS_MOVE + 1))


@dataclass(frozen=True, slots=True)
class ParsedChessGame:
    """A game's moves as they are searched. start: the position they begin at, None for the usual.

    moves: in UCI, by the castling moves that the game's rules have.
    """

    game: chess.pgn.Game
    number: int
    start: str | None
    chess960: bool
    moves: tuple[str, ...]

    def position(self, ply: int) -> str:
        """Return the position after so many moves, with all that a search of it depends on."""
        return f"{self.start} {self.chess960} {' '.join(self.moves[:ply])}"


class _QuietBuilder(chess.pgn.GameBuilder[chess.pgn.Game]):
    """Keeps errors, and prints none."""

    def handle_error(self, error: Exception) -> None:
        self.game.errors.append(error)


def read_pgn(path: Path) -> list[ParsedChessGame]:
    """Return the games of a file; SettingsError names the game that cannot be read."""
    with convert_read_errors(path, SettingsError):
        data = read_bytes(path, MAX_FILE_SIZE)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")  # what PGN was written in before
    return parse_pgn(text, str(path))


def parse_pgn(text: str, where: str, most: int | None = None) -> list[ParsedChessGame]:
    """Return the games of a PGN, the first so many; where: what errors call it."""
    file = io.StringIO(text)
    scores: list[ParsedChessGame] = []
    while len(scores) != most:
        number = len(scores) + 1
        game = read_game(file, f"{where}: game {number}", _QuietBuilder)
        if game is None:
            break
        name = f"{where}: game {number} ({sanitize_line(_names(game))})"
        try:
            scores.append(_parse_game(game, number))
        except ValueError as error:
            raise SettingsError(f"{name}: {sanitize_line(str(error))}") from None
    if not any(score.moves for score in scores):
        raise SettingsError(f"{where}: there is no game of chess with a move in it")
    return scores


def _parse_game(game: chess.pgn.Game, number: int) -> ParsedChessGame:
    if game.errors:
        raise ValueError(str(game.errors[0]))
    if game.headers.variant() is not chess.Board:
        raise ValueError(f"the variant {game.headers['Variant']} is not played here")
    board = game.board()
    if not board.is_valid():
        raise ValueError(f"it begins at a position that is not legal ({board.status()!r})")
    moves = []
    for move in game.mainline_moves():
        if not move:
            raise ValueError("a null move, which no game has")
        moves.append(move.uci())
    usual = board.fen() == chess.STARTING_FEN and not board.chess960
    return ParsedChessGame(
        game, number, None if usual else board.fen(), board.chess960, tuple(moves)
    )


def _names(game: chess.pgn.Game) -> str:
    return f"{game.headers.get('White', '?')} - {game.headers.get('Black', '?')}"


async def analyse_chess(
    scores: Sequence[ParsedChessGame],
    engine: EngineSettings,
    limits: TimeControl,
    known: AnalysisFile,
    *,
    concurrency: int = 1,
    report: Callable[[int], None] = lambda done: None,
    own: ProtocolFactory | None = None,
) -> None:
    """Have every position of the games that is not known searched, and tell `known`.

    Each search begins with nothing, so the same limits in nodes give the same, in whatever order
    positions come. report: is told how many are known. own: as of `Terms`. SettingsError if the
    engine fails twice at a position.
    """
    waiting = _unanalysed(scores, known)
    done = sum(len(score.moves) + 1 for score in scores) - len(waiting)
    report(done)
    places = iter(waiting)

    async def work() -> None:
        nonlocal done
        solvers: dict[bool, EngineRunner] = {}
        try:
            for score, ply in places:
                key = known.key(score.position(ply))
                if known.get(key) is None:
                    solver = solvers.setdefault(
                        score.chess960,
                        EngineRunner(engine, limits, chess960=score.chess960, own=own),
                    )
                    known.add(key, await _search(solver, score, ply, limits))
                done += 1
                report(done)
        finally:
            for solver in solvers.values():
                await solver.close()

    workers = [asyncio.create_task(work()) for _ in range(max(1, min(concurrency, len(waiting))))]
    try:
        await asyncio.gather(*workers)
    finally:
        await cancel_all(workers)


def _unanalysed(
    scores: Sequence[ParsedChessGame], known: AnalysisFile
) -> list[tuple[ParsedChessGame, int]]:
    return [
        (score, ply)
        for score in scores
        for ply in range(len(score.moves) + 1)
        if known.get(known.key(score.position(ply))) is None
    ]


async def _search(
    solver: EngineRunner, score: ParsedChessGame, ply: int, limits: TimeControl
) -> PositionEval:
    board = _board_at(score, ply)
    if outcome := board.outcome():
        if outcome.winner is None:
            return PositionEval(0.5, cp=0)
        return eval_from_score(Mate(0), (), 0, 0)
    request = SearchRequest(
        score.start,
        score.moves[:ply],
        movetime=limits.movetime,
        nodes=limits.nodes,
        depth=limits.depth,
    )
    try:
        answer = await solver.search(request)
    except EngineError:
        try:
            answer = await solver.search(request)  # of one that is started anew
        except EngineError as error:
            raise SettingsError(f"game {score.number}, ply {ply}: {error}") from None
    info = answer.info
    if info is None:
        return PositionEval(0.5, line=(answer.move,))
    line = info.pv if info.pv and info.pv[0] == answer.move else (answer.move,)
    return eval_from_score(info.score, line[: MAX_VARIATION_LENGTH + 1], info.depth, info.nodes)


def _board_at(score: ParsedChessGame, ply: int) -> chess.Board:
    board = score.game.board()
    for move in score.moves[:ply]:
        board.push_uci(move)
    return board


def review_chess(score: ParsedChessGame, known: AnalysisFile) -> GameReview:
    """Return a game as far as it has been judged."""
    headers = score.game.headers
    said = _known_evals(score, known)
    board = score.game.board()
    start = first_player_view(said[0], int(not board.turn)).get("expected")
    moves = []
    for ply, move in enumerate(score.moves):
        before, after = said[ply], said[ply + 1]
        player, number = int(not board.turn), board.fullmove_number
        line = tuple(_san(board, before.line)) if before else ()
        text = board.san(board.parse_uci(move))
        board.push_uci(move)
        loss = None
        if before is not None and after is not None:
            loss = move_loss(before, after, move, same_mover=False)
        moves.append(
            ReviewedMove(
                ply=ply + 1,
                number=number,
                player=player,
                move=text,
                best=line[0] if line else "",
                line=line,
                loss=loss,
                grade=quality_of_loss(loss),
                **first_player_view(after, int(not board.turn)),  # type: ignore[arg-type]
            )
        )
    return GameReview(
        game="chess",
        number=score.number,
        event=unescape_tag_value(headers.get("Event", "?")),
        first=unescape_tag_value(headers.get("White", "?")),
        second=unescape_tag_value(headers.get("Black", "?")),
        result=sanitize_line(headers.get("Result", "*")),
        start=start,
        moves=tuple(moves),
        tallies=move_stats(moves),
    )


def _known_evals(score: ParsedChessGame, known: AnalysisFile) -> list[PositionEval | None]:
    """Return what is known of the positions of a game."""
    said = [known.get(known.key(score.position(ply))) for ply in range(len(score.moves) + 1)]
    begins = int(not score.game.turn())
    return with_hindsight(said, score.moves, [(begins + ply) % 2 for ply in range(len(said))])


def _san(board: chess.Board, line: Sequence[str]) -> Iterator[str]:
    """Yield a line's moves for people, as far as they are legal: they are an engine's words."""
    board = board.copy(stack=False)
    for text in line:
        try:
            move = board.parse_uci(text)
        except ValueError:
            return
        yield board.san(move)
        board.push(move)


def annotated_pgn(score: ParsedChessGame, known: AnalysisFile, annotator: str) -> str:
    """Return a game with every evaluation, and with the better line where a move was bad.

    Comments, variations and other marks of the game stay.
    """
    game = score.game
    review = review_chess(score, known)
    if review.moves:
        game.headers["Annotator"] = annotator
    nodes, said = list(game.mainline()), _known_evals(score, known)
    for ply, (node, move) in enumerate(zip(nodes, review.moves, strict=True)):
        before, after = said[ply], said[ply + 1]
        if after is not None:
            node.set_eval(_pov(after, node.turn()), after.depth or None)
        if move.loss is None or before is None:
            continue
        node.nags -= QUALITY_NAGS
        if move.grade in NAGS:
            node.nags.add(NAGS[move.grade])
            _add_line(node.parent, before.line)
    exporter = chess.pgn.StringExporter(columns=100)
    return game.accept(exporter) + "\n\n"


def _pov(said: PositionEval, turn: chess.Color) -> chess.engine.PovScore:
    score: chess.engine.Score = (
        chess.engine.Cp(said.cp or 0) if said.mate is None else chess.engine.Mate(said.mate)
    )
    return chess.engine.PovScore(score, turn)


def _add_line(node: chess.pgn.GameNode, line: Sequence[str]) -> None:
    """Add a variation, as far as it is legal, if the game has none that begins so."""
    board = node.board()
    for text in line[:MAX_VARIATION_LENGTH]:
        try:
            move = board.parse_uci(text)
        except ValueError:
            return
        board.push(move)
        node = node.variation(move) if node.has_variation(move) else node.add_variation(move)


def chess_search_key(engine: EngineSettings, limits: TimeControl) -> str:
    """Return all that an assessment depends on beside its position."""
    return f"chess {engine} {limits}"
