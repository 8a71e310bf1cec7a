"""`kempelen lab exercise`: trees with questions about them, answers that are checked.

In the terminal, as a page of its own, or as sheets with keys; every student has other trees. What
students answered is collected from files.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.tree import Tree as RichTree

from kempelen.lab import exercise_results, words
from kempelen.lab.exercise_kinds import Exercise, Shown
from kempelen.lab.exercise_making import KINDS, several, told
from kempelen.lab.exercise_marks import Mark
from kempelen.lab.exercise_results import MOST_EXERCISES, Attempts, Marked
from kempelen.lab.messages import explained
from kempelen.lab.output import show, table
from kempelen.lab.words import Say, label
from kempelen.numbers import positive


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--kind", action="append", choices=tuple(KINDS),
        help="values, order of visits, cut-offs, the list of SSS*, the path of UCT; may be "
        "repeated (default: all)",
    )  # fmt: skip
    parser.add_argument(
        "--algorithm", metavar="A",
        help="of the order of visits (default: alpha-beta)",
    )  # fmt: skip
    parser.add_argument(
        "--depth", type=positive, default=3, metavar="D", help="of the trees (default: 3)"
    )
    parser.add_argument(
        "--branching", type=positive, default=3, metavar="B",
        help="the most children of a node (default: 3)",
    )  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, help="of all that is random (default: 0)")
    parser.add_argument(
        "--student", type=positive, default=1, metavar="N",
        help="a number that gives other trees (default: 1)",
    )  # fmt: skip
    parser.add_argument(
        "--count", type=positive, default=1, metavar="N", help="exercises of each kind (default: 1)"
    )
    asked = parser.add_mutually_exclusive_group()
    asked.add_argument(
        "--answer", action="append", metavar="TEXT",
        help="the answer to the next exercise, instead of asking; may be repeated",
    )  # fmt: skip
    asked.add_argument(
        "--solve", action="store_true", help="tell the keys and why, instead of asking"
    )
    asked.add_argument(
        "-o", "--output", type=Path, metavar="FILE.html", help="write a page that asks and checks"
    )
    asked.add_argument(
        "--collect", type=Path, nargs="+", metavar="FILE",
        help="mark the results in these files, a line a student",
    )  # fmt: skip
    parser.add_argument(
        "--sheet", type=Path, metavar="FILE.pdf", help="write sheets with exercises, to be printed"
    )
    parser.add_argument("--key", type=Path, metavar="FILE.pdf", help="write the keys to the sheets")
    parser.add_argument(
        "--students", type=positive, default=1, metavar="N",
        help="sheets for so many students, each with other trees (default: 1)",
    )  # fmt: skip
    parser.add_argument(
        "--results", type=Path, metavar="FILE",
        help="write down the answers, behind those that are there",
    )  # fmt: skip
    parser.add_argument("--name", default="", metavar="NAME", help="whose the results are")
    parser.add_argument("--json", action="store_true", help="print a JSON object a line")


def run(arguments: Namespace) -> int:
    """Do what is asked for; the exit status is 1 where an --answer is wrong or a file no result."""
    say = words.language(arguments.lang)
    if arguments.collect:
        return _collect(arguments, say)
    if arguments.sheet or arguments.key:
        _write_sheets(arguments, say)
        if arguments.output is None:
            return 0
    asks = not (arguments.solve or arguments.output or arguments.json)
    if arguments.results and not (asks or arguments.answer):
        raise ValueError(
            "--results is for answers: give some with --answer, or answer in the terminal"
        )
    made = exercises(arguments, arguments.student)
    if arguments.output is not None:
        from kempelen.lab import exercise_page

        exercise_page.write(arguments.output, made, say, arguments.lang, arguments.name)
        print(arguments.output)
        return 0
    if not (asks or arguments.answer):
        for each in made:
            if arguments.json:
                print(json.dumps(_as_json(each, say), ensure_ascii=False))
            else:
                _pose(each, say)
                _tell(each, say)
        return 0
    if arguments.answer:
        return _check(arguments, made, say)
    return _ask(arguments, made, say)


def exercises(arguments: Namespace, student: int) -> list[Exercise]:
    """Return the exercises that the arguments name, for one student."""
    kinds = tuple(dict.fromkeys(arguments.kind or KINDS))
    if arguments.algorithm and "order" not in kinds:
        raise ValueError("--algorithm is of the order of visits: ask for it with --kind order")
    if len(kinds) * arguments.count > MOST_EXERCISES:
        raise ValueError(
            f"more than {MOST_EXERCISES} exercises are too many: use a smaller --count"
        )
    return several(
        kinds,
        seed=arguments.seed,
        student=student,
        count=arguments.count,
        depth=arguments.depth,
        branching=arguments.branching,
        algorithm=arguments.algorithm or "alpha-beta",
    )


def feedback(mark: Mark, made: Exercise, say: Say) -> str:
    """Say what an answer is worth, and nothing of what would be right."""
    if mark.right:
        return say("right")
    text = f"{say('wrong')}: {say('{} points of {}').format(mark.points, mark.parts)}"
    if mark.wrong:
        why = say("out of place") if made.ordered else say("not right")
        text += f"; {why}: {', '.join(mark.wrong)}"
    return text


def _check(arguments: Namespace, made: list[Exercise], say: Say) -> int:
    """Check the answers that were given as arguments."""
    if len(arguments.answer) > len(made):
        raise ValueError(
            f"there are {len(made)} exercises and {len(arguments.answer)} answers: ask for more "
            "with --kind or --count"
        )
    attempts, right = [], 0
    name, earlier = _earlier(arguments, made)
    marks = [each.marked(text) for each, text in zip(made, arguments.answer, strict=False)]
    for each, text, mark in zip(made, arguments.answer, marks, strict=False):
        attempts.append(Attempts(each.origin, (text,)))
        right += mark.right
        if arguments.json:
            print(json.dumps({**told(each.origin), "answer": text, **asdict(mark)}))
        else:
            show(f"{each.title(say)}: {feedback(mark, each, say)}")
    _keep(arguments, name, earlier, attempts)
    return 0 if right == len(attempts) else 1


def _ask(arguments: Namespace, made: list[Exercise], say: Say) -> int:
    """Ask in the terminal until each exercise is solved or given up."""
    attempts: list[Attempts] = []
    name, earlier = _earlier(arguments, made)
    _keep(arguments, name, earlier, attempts)  # what cannot be written is found out before
    for each in made:
        _pose(each, say)
        tried, ended = _attempt(each, say)
        if not ended or tried.answers:
            attempts.append(tried)
            _keep(arguments, name, earlier, attempts)
        if ended:
            break
    marks = exercise_results.marked(attempts)
    right, at_once = sum(each.right for each in marks), sum(each.at_once for each in marks)
    text = say("{} of {} right, {} at once")
    show(text.format(right, len(made), at_once))
    return 0


def _attempt(made: Exercise, say: Say) -> tuple[Attempts, bool]:
    """Ask for answers to an exercise; tell too whether there will be no more."""
    answers: list[str] = []
    while True:
        text = _typed(f"{say('answer, or nothing to see the key')} > ")
        if text is None:
            return Attempts(made.origin, tuple(answers)), True
        if not text.strip():
            _tell(made, say)
            return Attempts(made.origin, tuple(answers), solved=True), False
        try:
            mark = made.marked(text)
        except ValueError as error:
            show(explained(error, "en" if say is str else "es"))
            continue
        answers.append(text.strip())
        show(feedback(mark, made, say))
        if mark.right:
            _tell(made, say)
            return Attempts(made.origin, tuple(answers)), False


def _typed(prompt: str) -> str | None:
    """Return the next line of standard input; None at its end."""
    if sys.stdin.isatty():
        try:
            return input(prompt)
        except (EOFError, KeyboardInterrupt):
            print()
            return None
    line = sys.stdin.readline()
    return line.rstrip("\n") if line else None


def _pose(made: Exercise, say: Say) -> None:
    show("", made.title(say), drawn(made.shown()), *made.question(say))
    show(f"{say('for example')}: {made.example}")


def _tell(made: Exercise, say: Say) -> None:
    show(f"{say('key')}: {made.written_key()}", *made.explanation(say))


def drawn(nodes: list[Shown]) -> RichTree:
    """Return the tree as text."""
    branches: dict[tuple[int, ...], RichTree] = {}
    for node in nodes:
        mover = "MAX" if node.maximises else "MIN"
        text = f"{label(node.label)}  {node.text if node.is_leaf else f'{mover} {node.text}'}"
        above = branches.get(node.label[:-1]) if node.label else None
        branches[node.label] = RichTree(text) if above is None else above.add(text.rstrip())
    return branches[()]


def _earlier(arguments: Namespace, made: list[Exercise]) -> tuple[str, list[Attempts]]:
    """Return the name, and the answers that the file of results has already."""
    if arguments.results is None or not arguments.results.exists():
        return arguments.name, []
    name, attempts = exercise_results.read(arguments.results)
    origins = {each.origin for each in attempts} | {each.origin for each in made}
    if len(origins) > MOST_EXERCISES:
        raise ValueError(
            f"{arguments.results} would have more than {MOST_EXERCISES} exercises: name another "
            "file for the results"
        )
    return arguments.name or name, attempts


def _keep(
    arguments: Namespace, name: str, earlier: list[Attempts], attempts: list[Attempts]
) -> None:
    """Write the answers behind earlier ones, if there is a file for them."""
    if arguments.results is not None:
        together = exercise_results.continued(earlier, attempts)
        exercise_results.write(arguments.results, name, together)


def _as_json(made: Exercise, say: Say) -> dict[str, Any]:
    return {
        **told(made.origin),
        "tree": made.root,
        "question": made.question(say),
        "key": list(made.key),
        "explanation": made.explanation(say),
    }


def _collect(arguments: Namespace, say: Say) -> int:
    """Print a line a student; say of which files there can be none."""
    rows, failed = [], 0
    for path in arguments.collect:
        try:
            rows.append((path, *exercise_results.collected(path)))
        except ValueError as error:
            failed += 1
            print(f"kempelen lab: {explained(error, arguments.lang)}", file=sys.stderr)
    if arguments.json:
        for path, name, marks in rows:
            print(json.dumps(_told(path, name, marks), ensure_ascii=False))
    elif rows:
        show(_collected(rows, say))
    return 1 if failed else 0


def _collected(rows: list[tuple[Path, str, list[Marked]]], say: Say) -> Table:
    """Return a line a student, and below it one for each of several kinds of exercises."""
    headings = ("name", "seed", "student", "kind", "algorithm", "depth", "branching", "exercises")
    more = ("right", "at once", "answers", "points")
    made = table("", *map(say, (*headings, *more)), right=5)
    for path, name, marks in rows:
        groups: dict[tuple[str, ...], list[Marked]] = {}
        for each in marks:
            asked = told(each.origin)
            about = tuple(
                str(asked[field]) for field in ("kind", "algorithm", "depth", "branching")
            )
            groups.setdefault(about, []).append(each)
        whose = name or path.name, _among(marks, "seed"), _among(marks, "student")
        (first, *others) = groups or {("", "", "", ""): []}
        if not others:
            made.add_row(*whose, *first, *_counted(marks))
            continue
        made.add_row(*whose, "", "", "", "", *_counted(marks))
        for about, group in groups.items():
            made.add_row("", "", "", *about, *_counted(group))
    return made


def _among(marks: list[Marked], field: str) -> str:
    """Write the values that a field of the origins has."""
    return ", ".join(map(str, sorted({getattr(each.origin, field) for each in marks})))


def _counted(marks: list[Marked]) -> tuple[str, ...]:
    """Write how many exercises there are, right, at once right, answers, and points."""
    counts = (
        len(marks), sum(each.right for each in marks), sum(each.at_once for each in marks),
        sum(len(each.marks) for each in marks),
    )  # fmt: skip
    points = f"{sum(each.points for each in marks)}/{sum(each.parts for each in marks)}"
    return (*map(str, counts), points)


def _told(path: Path, name: str, marks: list[Marked]) -> dict[str, Any]:
    return {
        "file": str(path),
        "name": name,
        "exercises": [
            {
                **told(each.origin),
                "right": each.right,
                "at_once": each.at_once,
                "answers": len(each.marks),
                "points": each.points,
                "parts": each.parts,
            }
            for each in marks
        ],
    }


def _write_sheets(arguments: Namespace, say: Say) -> None:
    """Write the sheets of all students, the keys to them, or both."""
    from kempelen.lab import exercise_sheets

    paths = [path for path in (arguments.sheet, arguments.key) if path is not None]
    for path in paths:
        exercise_sheets.check_sheets(path)
    if len(paths) > 1 and paths[0].absolute() == paths[1].absolute():
        raise ValueError(f"{paths[0]} is the file of the sheets too: name another for the keys")
    first = arguments.student
    made = [exercises(arguments, student) for student in range(first, first + arguments.students)]
    for path in paths:
        exercise_sheets.write(path, made, say, keys=path is arguments.key)
        print(path)
