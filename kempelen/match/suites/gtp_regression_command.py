"""Run GTP regression files for the command `kempelen suite`."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from agent.go.parts import GO
from agent.io.command_line import split_command_line
from kempelen.console import interruption
from kempelen.console.plain_table import FileTotals, PlainTable, totals_table
from kempelen.console.settings_codec import SettingsError
from kempelen.console.terminal import load_kernels, print_error, progress_bar, table_console
from kempelen.match.config.engine_settings import EngineProtocol, EngineSettings
from kempelen.match.suites import gtp_regression
from kempelen.match.suites.gtp_regression import (
    RegressionOutcome,
    RegressionResult,
    RejectedCommand,
)
from protocols.client.process import EngineError, find_program

COMMAND = "kempelen suite"
# Timeouts in seconds: of any response, and of the first response after the start.
HANG_TIMEOUT = 600.0
START_TIMEOUT = 120.0
MAX_SHOWN_REFUSALS = 10
# Columns of the table of totals, after the file column.
HEADINGS = ("passed", "of", "", "unexpected passes", "failures", "seconds")


def run(arguments: argparse.Namespace) -> int:
    """Return 0 on success, 1 if a test fails unexpectedly, or 2 if the run cannot start."""
    try:
        files = [gtp_regression.read_regression_file(path) for path in arguments.files]
        engine = _engine(
            arguments.engine, arguments.extra_arguments, arguments.timeout or START_TIMEOUT
        )
        with progress_bar("testing", sum(len(file.tests) for file in files)) as show:
            examined, refused = interruption.run(
                gtp_regression.run_regression(
                    files, engine, arguments.timeout or HANG_TIMEOUT, show
                )
            )
    except SettingsError as error:
        print_error(error, COMMAND)
        return 2
    totals = [
        _file_totals(name, examined) for name in dict.fromkeys(each.file for each in examined)
    ]
    if arguments.json:
        found = {"engine": engine.name, "options": arguments.extra_arguments, "files": totals}
        rows = [_row(each) for each in examined]
        rejected = [_refusal(each) for each in refused]
        print(json.dumps({**found, "tests": rows, "refused": rejected}))
    else:
        _print(totals, examined, refused)
    return 1 if any(each.outcome is RegressionOutcome.FAILED for each in examined) else 0


def _engine(command: str | None, options: list[str], start_limit: float) -> EngineSettings:
    def program(command: str, name: str, arguments: tuple[str, ...]) -> EngineSettings:
        return EngineSettings(
            command, name, arguments, protocol=EngineProtocol.GTP, start_limit=start_limit
        )

    if command is None:
        if not {"--algorithm", "--game"}.intersection(options):
            load_kernels(GO)
        own = ("-P", "-m", "kempelen.cli", "gtp", *options)
        return program(sys.executable, "Kempelen", own)
    try:
        if not command.strip():
            raise ValueError("missing program")
        name, *words = split_command_line(command)
        find_program(name)
    except (EngineError, ValueError) as error:
        raise SettingsError(f"--engine: {error}") from None
    return program(name, Path(name).name, (*words, *options))


def _file_totals(file: str, examined: list[RegressionResult]) -> dict[str, Any]:
    own = [each for each in examined if each.file == file]
    counts = {
        outcome: sum(each.outcome is outcome for each in own) for outcome in RegressionOutcome
    }
    return {
        "file": file,
        "tests": len(own) - counts[RegressionOutcome.IGNORED],
        "passed": counts[RegressionOutcome.PASSED] + counts[RegressionOutcome.UNEXPECTED_PASS],
        "unexpectedly_passed": counts[RegressionOutcome.UNEXPECTED_PASS],
        "unexpectedly_failed": counts[RegressionOutcome.FAILED],
        "seconds": round(sum(each.seconds for each in own), 3),
    }


def _row(each: RegressionResult) -> dict[str, Any]:
    assert each.step.expected is not None
    return {
        "file": each.file,
        "line": each.step.line,
        "number": each.step.number,
        "command": each.step.command,
        "expected": each.step.expected.text,
        "outcome": each.outcome,
        "answer": each.answer,
        "error": each.error,
        "seconds": round(each.seconds, 3),
    }


def _refusal(each: RejectedCommand) -> dict[str, Any]:
    step = each.step
    return {"file": each.file, "line": step.line, "command": step.command, "words": each.words}


def _print(
    totals: list[dict[str, Any]], examined: list[RegressionResult], refused: list[RejectedCommand]
) -> None:
    console = table_console()
    news = (
        RegressionOutcome.FAILED,
        RegressionOutcome.KNOWN_FAILURE,
        RegressionOutcome.UNEXPECTED_PASS,
    )
    shown = [each for each in examined if each.outcome in news]
    if shown:
        table = PlainTable("test", "command", "expected", "answered", "", box=None)
        for each in shown:
            assert each.step.expected is not None
            table.add_row(
                f"{each.file}:{each.step.line} {each.step.number}",
                each.step.command,
                each.step.expected.text,
                each.error or each.answer,
                "" if each.outcome is RegressionOutcome.FAILED else each.outcome,
            )
        console.print(table)
    if refused:
        table = PlainTable("refused", "command", "", box=None)
        for one in refused[:MAX_SHOWN_REFUSALS]:
            table.add_row(f"{one.file}:{one.step.line}", one.step.command, one.words)
        if len(refused) > MAX_SHOWN_REFUSALS:
            table.add_row("...", f"{len(refused) - MAX_SHOWN_REFUSALS} more", "")
        console.print(table)
    console.print(totals_table(HEADINGS, totals, _cells))


def _cells(total: FileTotals) -> tuple[str, ...]:
    return (
        str(total["passed"]),
        str(total["tests"]),
        f"{total['passed'] / max(total['tests'], 1):.1%}",
        str(total["unexpectedly_passed"]),
        str(total["unexpectedly_failed"]),
        f"{total['seconds']:.1f}",
    )
