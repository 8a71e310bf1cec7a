"""`kempelen lab assignment`: make folders for students' own algorithms, and grade them."""

from __future__ import annotations

import csv
import io
import json
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from agent.io.files import replace_atomically
from agent.io.message import Message
from agent.io.sanitize import sanitize_line
from kempelen.console.argument_types import positive_seconds
from kempelen.lab import language
from kempelen.lab.assignments.grader import NAME_FILE, Grade, grade, has_solution
from kempelen.lab.assignments.tasks import TASKS, Task
from kempelen.lab.language import Translator
from kempelen.lab.output import print_plain, table

# Time limit per test in seconds.
TIMEOUT_S = 20.0
README = "README.md"
MAX_EXPLANATION_LENGTH = 1000


# Translated line by line.
EPILOG = """\
for teachers: kempelen lab assignment --grade class/* --csv points.csv
Grading runs the students' code with your permissions: it can read and change your files.
Grade code that you do not trust in a container, or as another user."""


def configure(parser: ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.formatter_class = RawDescriptionHelpFormatter
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument(
        "-o", "--output", type=Path, metavar="FOLDER",
        help="make a folder with the instructions and a template for each task",
    )  # fmt: skip
    mode.add_argument(
        "--grade", type=Path, nargs="+", metavar="FOLDER", help="grade the folders of students"
    )
    parser.add_argument(
        "--task", action="append", choices=tuple(TASKS), type=_task_name,
        help="task; may be repeated (default: all tasks)",
    )  # fmt: skip
    parser.add_argument(
        "--csv", type=Path, metavar="FILE", help="write the points of all students to a CSV file"
    )
    parser.add_argument(
        "--timeout", type=positive_seconds, default=TIMEOUT_S, metavar="S",
        help="processor time limit per test in seconds (default: 20)",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print one JSON object per line")


def run(arguments: Namespace) -> int:
    """Make or grade folders. Return 1 if a folder could not be graded."""
    translate = language.translator(arguments.lang)
    tasks = [TASKS[name] for name in dict.fromkeys(arguments.task or TASKS)]
    if arguments.output is not None:
        if arguments.csv is not None:
            raise ValueError("--csv requires --grade")
        make_folder(arguments.output, tasks, arguments.lang)
        print(arguments.output)
        return 0
    folders = [folder for folder in arguments.grade if folder.is_dir()]
    missing = [folder for folder in arguments.grade if not folder.is_dir()]
    if arguments.csv is not None:
        _check_new_file(arguments.csv)
    if folders and not any(has_solution(folder, tasks) for folder in folders):
        raise ValueError(_no_solutions(folders[0], tasks))
    grades = []
    for number, folder in enumerate(folders, 1):
        grades.append(grade(folder, tasks, arguments.lang, arguments.timeout))
        if len(folders) > 1:
            _report_progress(f"{number}/{len(folders)}", grades[-1], translate)
    if arguments.csv is not None:
        replace_atomically(arguments.csv, csv_table(grades).encode())
    if arguments.json:
        for each in grades:
            print(json.dumps(_as_json(each), ensure_ascii=False))
    elif len(arguments.grade) == 1 and grades:
        _print_results(grades[0], translate)
    elif grades:
        _print_students(grades, tasks, translate)
    if missing:
        raise ValueError(Message("folder {} does not exist", missing[0]))
    return 0


def _task_name(text: str) -> str:
    return text.replace("_", "-").removesuffix(".py")  # files are named alpha_beta.py


def _check_new_file(file: Path) -> None:
    if not file.absolute().parent.is_dir():
        raise ValueError(Message("{}: folder {} does not exist", file, file.parent))
    if file.exists():
        raise ValueError(Message("{} already exists (use another file)", file))


def _no_solutions(folder: Path, tasks: Sequence[Task]) -> Message:
    files = ", ".join(task.file for task in tasks)
    if any(has_solution(child, tasks) for child in folder.iterdir() if child.is_dir()):
        return Message(
            "{}: no solutions found (expected {}); did you mean {}?", folder, files, folder / "*"
        )
    return Message("{}: no solutions found (expected {})", folder, files)


def _report_progress(count: str, each: Grade, translate: Translator) -> None:
    text = f"{count} {each.folder}: {each.points}/{each.maximum} {translate('points')}"
    print(sanitize_line(text, MAX_EXPLANATION_LENGTH), file=sys.stderr, flush=True)


def make_folder(folder: Path, tasks: Sequence[Task], language: str) -> None:
    """Write the files of an assignment. Raise ValueError if the folder contains one of them."""
    texts = {README: _readme(tasks, language), NAME_FILE: "\n"}
    for task in tasks:
        texts[task.file] = _template(f"{task.file}.txt", language)
    for name in texts:
        if (folder / name).exists():
            raise ValueError(Message("{} already exists (use another folder)", folder / name))
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        replace_atomically(folder / name, text.encode())


def csv_table(grades: Sequence[Grade]) -> str:
    """Return one line per student: points by test and task, the total, and explanations."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    tests = [f"{result.task.name}: {result.test.name}" for result in grades[0].results] if (
        grades
    ) else []  # fmt: skip
    writer.writerow(["name", "folder", *tests, "points", "maximum", "explanations"])
    for each in grades:
        explanations = [
            f"{task.name}, {', '.join(names)}: {_one_line(explanation)}"
            for task, names, explanation in _explanations(each)
        ]
        writer.writerow(
            [
                _cell(each.name),
                _cell(str(each.folder)),
                *(result.points for result in each.results),
                each.points,
                each.maximum,
                _cell(" | ".join(explanations)),
            ]
        )
    return text.getvalue()


def _explanations(each: Grade) -> list[tuple[Task, list[str], str]]:
    """Return the task, the names of its tests and the text of each different explanation.

    Explanations with the same first line are alike: only the position differs.
    """
    found: dict[tuple[str, str], tuple[Task, list[str], str]] = {}
    for result in each.results:
        if result.explanation:
            key = result.task.name, result.explanation.partition("\n")[0]
            found.setdefault(key, (result.task, [], result.explanation))[1].append(result.test.name)
    return list(found.values())


def _one_line(text: str) -> str:
    lines = [" ".join(line.split()) for line in text.splitlines()]
    return sanitize_line(" / ".join(filter(None, lines)), MAX_EXPLANATION_LENGTH)


def _cell(text: str) -> str:
    """Return a text that no spreadsheet runs as a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text


def _readme(tasks: Sequence[Task], name: str) -> str:
    translate = language.translator(name)
    # A folder with some of the tasks is graded on these only.
    options = "" if len(tasks) == len(TASKS) else "".join(f" --task {task.name}" for task in tasks)
    parts = [_template(f"{README}.txt", name).replace("--grade .", f"--grade .{options}")]
    for task in tasks:
        points = ", ".join(f"{translate(test.name)} {test.points}" for test in task.tests)
        parts.append(
            _template(f"{task.name}.md.txt", name)
            .replace("POINTS", f"{points} ({task.points})")
            .rstrip("\n")
        )
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def _template(name: str, language: str) -> str:
    folder = resources.files("kempelen.lab.assignments") / "files" / language
    return (folder / name).read_text(encoding="utf-8")


def _print_results(each: Grade, translate: Translator) -> None:
    rows = table("", translate("task"), translate("test"), translate("points"), right=2)
    for result in each.results:
        points = f"{result.points}/{result.test.points}"
        rows.add_row(result.task.name, translate(result.test.name), points)
    print_plain(rows)
    for task, names, explanation in _explanations(each):
        if task not in each.missing:
            tests = ", ".join(map(translate, names))
            print_plain("", f"{task.name}, {tests}:", explanation)
    if each.missing:
        print_plain("", translate(_missing_files(each)))
    print_plain("", f"{each.name}: {each.points}/{each.maximum} {translate('points')}")


def _print_students(grades: Sequence[Grade], tasks: Sequence[Task], translate: Translator) -> None:
    names = [task.name for task in tasks]
    headings = translate("name"), translate("folder"), *names, translate("points")
    rows = table("", *headings, right=2)
    for each in grades:
        sums = [
            sum(result.points for result in each.results if result.task is task) for task in tasks
        ]
        cells = (f"{points}/{task.points}" for points, task in zip(sums, tasks, strict=True))
        rows.add_row(each.name, str(each.folder), *cells, f"{each.points}/{each.maximum}")
    print_plain(rows)
    for each in grades:
        if each.missing:
            print_plain(f"{each.folder}: {translate(_missing_files(each))}")


def _missing_files(each: Grade) -> Message:
    files = ", ".join(task.file for task in each.missing)
    if len(each.missing) == 1:
        return Message("1 file is missing: {}", files)
    return Message("{} files are missing: {}", len(each.missing), files)


def _as_json(each: Grade) -> dict[str, Any]:
    return {
        "name": each.name,
        "folder": str(each.folder),
        "points": each.points,
        "maximum": each.maximum,
        "tests": [
            {
                "task": result.task.name,
                "test": result.test.name,
                "points": result.points,
                "maximum": result.test.points,
                "explanation": result.explanation,
            }
            for result in each.results
        ],
    }
