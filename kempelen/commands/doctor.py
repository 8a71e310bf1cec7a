"""`kempelen doctor`: check the installation, and print a report for bug reports."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from dataclasses import asdict

from agent.io.sanitize import sanitize_lines
from kempelen.diagnostics.checks import CHECKS
from kempelen.diagnostics.diagnosis import Diagnosis


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: Namespace) -> int:
    """Print the report. Return 1 if something is broken, otherwise 0."""
    diagnosis = Diagnosis()
    diagnosis.run_checks(CHECKS)
    if arguments.json:
        problems = [asdict(problem) for problem in diagnosis.problems]
        print(json.dumps({"found": diagnosis.notes, "wrong": problems}))
    else:
        print(_text(diagnosis))
    return 1 if diagnosis.broken else 0


def _text(diagnosis: Diagnosis) -> str:
    width = max(map(len, diagnosis.notes))
    lines = [f"{name:{width}}  {note['text']}" for name, note in diagnosis.notes.items()]
    lines.append("")
    lines += [
        f"{'broken' if problem.broken else 'warning'}: {problem.what}\n    {problem.remedy}"
        for problem in sorted(diagnosis.problems, key=lambda each: not each.broken)
    ]
    if not diagnosis.broken:
        lines.append("nothing is broken")
    return sanitize_lines("\n".join(lines))
