"""`kempelen analyse`: find bad moves in PGN and SGF games, and show better moves."""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from agent.go.parts import GO
from agent.io.files import write_atomically
from agent.io.read_report import ReadReport
from agent.io.sanitize import sanitize_line
from agent.io.write_checks import require_writable
from agent.machine import usable_cores
from kempelen.console import interruption
from kempelen.console.argument_types import positive_int
from kempelen.console.pictures import SUFFIXES, PictureError, check_picture, save
from kempelen.console.plain_table import PlainTable
from kempelen.console.settings_codec import SettingsError, encode
from kempelen.console.terminal import load_kernels, print_error, progress_bar, table_console
from kempelen.match.config.engine_arguments import ENGINE_HELP
from kempelen.match.config.time_control import TimeControl
from kempelen.match.review.analysis_file import AnalysisFile
from kempelen.match.review.move_annotation import (
    BAD_QUALITIES,
    QUALITY_SYMBOLS,
    GameReview,
    MoveQuality,
    ReviewedMove,
    annotator_name,
    format_eval,
)
from kempelen.match.review.parsed_game import ParsedGame
from kempelen.match.uci_engine import uci_engine_from

COMMAND = "kempelen analyse"
# A search counts as hung when it exceeds its time limit by this number of seconds.
HANG_TIMEOUT = 600.0
# Default limits per move.
CHESS_NODES = 200_000
GO_VISITS = 500
# Maximum number of games in a picture.
MAX_DRAWN_GAMES = 20
# Number of moves of the better line that the table shows.
SHOWN_LINE_MOVES = 4

ProgressCallback = Callable[[int], None]
AnyGame = TypeVar("AnyGame", bound=ParsedGame)


@dataclass(frozen=True, slots=True)
class FileReview:
    """The games in a file, and the position evaluations that are already known.

    `assess` evaluates the remaining positions.
    """

    games: Sequence[ParsedGame]
    engine: str
    limits: TimeControl
    assessments: AnalysisFile
    assess: Callable[[ProgressCallback], Coroutine[Any, Any, None]]

    def annotated(self) -> str:
        return "".join(
            game.annotated(self.assessments, annotator_name(self.engine, self.limits, game.unit))
            for game in self.games
        )


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", type=Path, metavar="FILE", help="file of games: PGN (chess) or SGF (Go)"
    )
    parser.add_argument(
        *("-o", "--output"),
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="write annotated games (.pgn, .sgf) or an evaluation graph (.svg, .png, .pdf); may "
        "be repeated",
    )
    parser.add_argument("--nodes", type=positive_int, help="nodes per move; for Go, visits")
    parser.add_argument("--movetime", type=float, metavar="SECONDS", help="seconds per move")
    parser.add_argument(
        "--threads", type=positive_int, default=1, help="threads per search (default: 1)"
    )
    parser.add_argument(
        "--concurrency",
        type=positive_int,
        help="number of parallel searches (default: cores / threads)",
    )
    parser.add_argument(
        "--engine", metavar="SPEC", help=f"engine for chess (default: Kempelen): {ENGINE_HELP}"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Return 0 on success, 2 after an error, or 128 plus the signal number if interrupted."""
    try:
        pictures = _check_outputs(arguments)
        work = _file_review(arguments)
    except (SettingsError, PictureError) as error:
        print_error(error, COMMAND)
        return 2
    problem, status = "", 0
    try:
        with progress_bar("analysing", sum(len(game.plies) for game in work.games)) as show:
            interruption.run(work.assess(show))
    except SettingsError as error:
        problem, status = str(error), 2
    except KeyboardInterrupt:
        problem, status = "interrupted", interruption.exit_status()
    reviews = [game.review(work.assessments) for game in work.games]
    try:
        _write(arguments, work, reviews, pictures)
    except OSError as error:
        problem, status = f"cannot write {error.filename or 'the results'}: {error.strerror}", 2
    finally:
        work.assessments.close(done=not problem)
    if problem:
        path = work.assessments.path
        remedy = f"; run the same command again to continue ({path})" if path else ""
        print_error(f"{problem} after {len(work.assessments)} positions{remedy}", COMMAND)
        if not len(work.assessments):
            return status
    if arguments.json:
        print(json.dumps({"file": str(arguments.file), "games": encode(reviews)}))
    else:
        _print(reviews)
    return status


def _check_outputs(arguments: argparse.Namespace) -> list[Path]:
    """Check the output paths, and return those of pictures.

    Raise SettingsError or PictureError if a path is invalid.
    """
    pictures = []
    suffix = _game_suffix(arguments.file)
    require_writable(arguments.output, [arguments.file], SettingsError, regular=True)
    for path in arguments.output:
        if path.suffix.lower() in SUFFIXES:
            pictures.append(check_picture(path))
        elif path.suffix.lower() != suffix:
            raise SettingsError(
                f"-o {path}: invalid suffix (expected {suffix} for games, or "
                f"{', '.join(SUFFIXES)} for pictures)"
            )
    return pictures


def _game_suffix(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix not in (".pgn", ".sgf"):
        raise SettingsError(f"{path}: unknown file type (expected .pgn for chess or .sgf for Go)")
    return suffix


def _file_review(arguments: argparse.Namespace) -> FileReview:
    if arguments.movetime is not None and not 0 < arguments.movetime < math.inf:
        raise SettingsError("--movetime must be a finite number above 0")
    concurrency = arguments.concurrency or max(1, usable_cores() // arguments.threads)
    if _game_suffix(arguments.file) == ".sgf":
        return _go_review(arguments, concurrency)
    return _chess_review(arguments, concurrency)


def _read(path: Path, read: Callable[[Path, ReadReport], list[AnyGame]]) -> list[AnyGame]:
    report = ReadReport()
    games = read(path, report)
    if report.skipped:
        print_error(f"{path}: {report.message()}", COMMAND)
    return games


def _chess_review(arguments: argparse.Namespace, concurrency: int) -> FileReview:
    from kempelen.match.review import chess_review

    games = _read(arguments.file, chess_review.read_pgn)
    engine = uci_engine_from(arguments.engine, "an analysis of chess")
    if arguments.threads > 1:
        engine = dataclasses.replace(
            engine, options={**engine.options, "Threads": arguments.threads}
        )
    limits = _limits(arguments, CHESS_NODES)
    assessments = _assessment_file(arguments, f"chess {engine} {limits}")

    def assess(report: ProgressCallback) -> Coroutine[Any, Any, None]:
        return chess_review.analyse_chess(
            games, engine, limits, assessments, concurrency=concurrency, report=report
        )

    return FileReview(games, engine.name, limits, assessments, assess)


def _go_review(arguments: argparse.Namespace, concurrency: int) -> FileReview:
    from agent.kernel.backend import SearchConfig
    from kempelen.match.review import go_review
    from protocols.katago_analysis.protocol import Settings
    from protocols.katago_analysis.visit_limited_backend import SearchSettings

    if arguments.engine is not None:
        raise SettingsError("--engine is only for chess (games of Go are analysed by Kempelen)")
    games = _read(arguments.file, go_review.read_sgf)
    load_kernels(GO)
    limits = _limits(arguments, GO_VISITS)
    searching = SearchSettings(search_config=SearchConfig(threads=arguments.threads))
    settings = Settings(search_settings=searching, max_workers=min(concurrency, usable_cores()))
    assessments = _assessment_file(arguments, f"go {settings.search_settings} {limits}")

    def assess(report: ProgressCallback) -> Coroutine[Any, Any, None]:
        return go_review.analyse_go(games, settings, limits, assessments, report=report)

    return FileReview(games, "Kempelen", limits, assessments, assess)


def _limits(arguments: argparse.Namespace, default_nodes: int) -> TimeControl:
    nodes = arguments.nodes
    if nodes is None and arguments.movetime is None:
        nodes = default_nodes
    return TimeControl(movetime=arguments.movetime, nodes=nodes, patience=HANG_TIMEOUT)


def _assessment_file(arguments: argparse.Namespace, terms: str) -> AnalysisFile:
    """Open the file OUTPUT.part of saved evaluations. Without an output, nothing is saved."""
    path = next(iter(arguments.output), None)
    return AnalysisFile(path and path.with_name(f"{path.name}.part"), terms)


def _write(
    arguments: argparse.Namespace,
    work: FileReview,
    reviews: Sequence[GameReview],
    pictures: list[Path],
) -> None:
    for path in arguments.output:
        if path in pictures:
            from kempelen.match.review_picture import review_figure

            shown = [review for review in reviews if review.moves][:MAX_DRAWN_GAMES]
            save(review_figure(shown), path)
        else:
            write_atomically(path, work.annotated().encode())
    if pictures and sum(bool(review.moves) for review in reviews) > MAX_DRAWN_GAMES:
        print_error(f"only the first {MAX_DRAWN_GAMES} games are drawn", COMMAND)


def _print(reviews: Sequence[GameReview]) -> None:
    console = table_console()
    for review in reviews:
        if not review.moves:
            continue
        console.print(f"{review.number}. {review.title}", markup=False, highlight=False)
        bad = [move for move in review.moves if move.grade is not MoveQuality.GOOD]
        if bad:
            table = PlainTable("move", "", "evaluation", "lost", "better", box=None)
            for move in bad:
                table.add_row(
                    _numbered_move(review, move),
                    str(move.grade),
                    format_eval(move),
                    f"{100 * (move.loss or 0):.0f} %",
                    " ".join(move.line[:SHOWN_LINE_MOVES]),
                )
            console.print(table)
    console.print(_totals(reviews))


def _totals(reviews: Sequence[GameReview]) -> PlainTable:
    plural = [f"{grade}s".replace("ys", "ies") for grade in BAD_QUALITIES]
    heads = ("game", "player", "moves", *plural, "mean loss", "ACPL", "accuracy")
    table = PlainTable(*heads, box=None)
    for review in reviews:
        for name, tally in zip((review.first, review.second), review.tallies, strict=True):
            counts = (tally.moves, tally.inaccuracies, tally.mistakes, tally.blunders)
            means = (
                "" if tally.loss is None else f"{100 * tally.loss:.1f} %",
                "" if tally.centipawn_loss is None else f"{tally.centipawn_loss:.0f}",
                "" if tally.accuracy is None else f"{tally.accuracy:.0f} %",
            )
            table.add_row(str(review.number), sanitize_line(name), *map(str, counts), *means)
    return table


def _numbered_move(review: GameReview, move: ReviewedMove) -> str:
    dots = "." if review.game == "go" or move.player == 0 else "..."
    return f"{move.number}{dots} {move.move}{QUALITY_SYMBOLS[move.grade]}"
