"""Run EPD suites for the command `kempelen suite` with a UCI engine."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import chess

from agent.limits import Mate, Score
from agent.machine import usable_cores
from kempelen.console import interruption
from kempelen.console.plain_table import FileTotals, PlainTable, totals_table
from kempelen.console.settings_codec import SettingsError, encode
from kempelen.console.terminal import SkipReport, print_error, progress_bar, table_console
from kempelen.match.config.time_control import TimeControl
from kempelen.match.suites import epd_suite
from kempelen.match.uci_engine import uci_engine_from

COMMAND = "kempelen suite"
# A search counts as hung when it exceeds its time limit by this number of seconds.
HANG_TIMEOUT = 600.0
# Columns of the table of totals, after the file column. Those of points are only shown for suites
# that give points.
HEADINGS = ("solved", "of", "", "failed", "nodes", "seconds")
POINT_HEADINGS = ("points", "of", "")


def run(arguments: argparse.Namespace) -> int:
    """Return 0 on success, 1 if the engine fails on a position, or 2 if the run cannot start."""
    skipped = SkipReport(COMMAND)
    try:
        problems = _read_suites(arguments.files, skipped)
        engine = uci_engine_from(arguments.engine, "a test suite", arguments.timeout)
        if arguments.movetime is arguments.nodes is arguments.depth is None:
            raise SettingsError("no limit: add --movetime, --nodes or --depth")
        limits = TimeControl(
            movetime=arguments.movetime,
            nodes=arguments.nodes,
            depth=arguments.depth,
            patience=arguments.timeout or HANG_TIMEOUT,
        )
        with progress_bar("solving", len(problems)) as show:
            attempts = interruption.run(
                epd_suite.run_suite(
                    problems, engine, limits, arguments.concurrency or usable_cores(), show
                )
            )
    except SettingsError as error:
        print_error(error, COMMAND)
        return 2
    files = [_file_totals(name, attempts) for name in dict.fromkeys(each.file for each in problems)]
    if arguments.json:
        found = {"engine": engine.name, "limits": encode(limits), "files": files}
        positions = [_attempt_as_json(attempt) for attempt in attempts]
        print(json.dumps({**found, "skipped": skipped.count, "positions": positions}))
    else:
        _print(files, attempts)
        if skipped.count:
            print_error(f"{len(problems)} positions read, {skipped.count} skipped", COMMAND)
    return 1 if any(attempt.error for attempt in attempts) else 0


def _read_suites(
    paths: list[Path], on_invalid: Callable[[str], None]
) -> list[epd_suite.EpdPosition]:
    names = Counter(path.name for path in paths)
    return [
        problem
        for path in paths
        for problem in epd_suite.read_epd_file(
            path, str(path) if names[path.name] > 1 else path.name, on_invalid
        )
    ]


def _file_totals(file: str, attempts: list[epd_suite.EpdResult]) -> dict[str, Any]:
    own = [attempt for attempt in attempts if attempt.problem.file == file]
    return {
        "file": file,
        "positions": len(own),
        "solved": sum(attempt.solved for attempt in own),
        "failed": sum(bool(attempt.error) for attempt in own),
        "nodes": sum(attempt.nodes for attempt in own),
        "seconds": round(sum(attempt.seconds for attempt in own), 3),
        "points": sum(attempt.points for attempt in own),
        "max_points": sum(attempt.problem.max_points for attempt in own),
    }


def _attempt_as_json(attempt: epd_suite.EpdResult) -> dict[str, Any]:
    problem = attempt.problem
    return {
        "file": problem.file,
        "id": problem.name,
        "fen": problem.fen,
        "best": problem.best,
        "avoid": problem.avoid,
        "dm": problem.mate,
        "solved": attempt.solved,
        "points": attempt.points,
        "max_points": problem.max_points,
        "move": attempt.move,
        "score": _format_score(attempt.score),
        "depth": attempt.depth,
        "nodes": attempt.nodes,
        "seconds": round(attempt.seconds, 3),
        "error": attempt.error,
    }


def _format_score(score: Score | None) -> str:
    if score is None:
        return ""
    return f"#{score.moves}" if isinstance(score, Mate) else f"{score.value / 100:+z.2f}"


def _print(files: list[dict[str, Any]], attempts: list[epd_suite.EpdResult]) -> None:
    console = table_console()
    missed = [attempt for attempt in attempts if not attempt.solved]
    if missed:
        table = PlainTable("not solved", "asked for", "answered", "score", box=None)
        for attempt in missed:
            table.add_row(
                attempt.problem.name,
                _format_expected(attempt.problem),
                attempt.error or _format_answer(attempt),
                _format_score(attempt.score),
            )
        console.print(table)
    has_points = any(total["max_points"] for total in files)
    headings = (*HEADINGS, *POINT_HEADINGS) if has_points else HEADINGS
    console.print(totals_table(headings, files, lambda total: _cells(total)[: len(headings)]))


def _cells(total: FileTotals) -> tuple[str, ...]:
    return (
        str(total["solved"]),
        str(total["positions"]),
        f"{total['solved'] / total['positions']:.1%}",
        str(total["failed"]),
        f"{total['nodes']:,}",
        f"{total['seconds']:.1f}",
        str(total["points"]),
        str(total["max_points"]),
        f"{total['points'] / max(total['max_points'], 1):.1%}",
    )


def _format_answer(attempt: epd_suite.EpdResult) -> str:
    move = _format_move(attempt.problem.fen, attempt.move)
    if not attempt.problem.points:
        return move
    return f"{move} ({attempt.points} of {attempt.problem.max_points} points)"


def _format_expected(problem: epd_suite.EpdPosition) -> str:
    parts = [_format_move(problem.fen, move) for move in problem.best]
    parts += [f"not {_format_move(problem.fen, move)}" for move in problem.avoid]
    return " ".join([*parts, *([f"#{problem.mate}"] if problem.mate else [])])


def _format_move(fen: str, move: str) -> str:
    board = chess.Board(fen)
    try:
        return board.san(board.parse_uci(move))
    except ValueError:
        return move or "nothing"
