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

from kempelen.console.argument_types import positive_int
from kempelen.lab import language
from kempelen.lab.exercises import results
from kempelen.lab.exercises.exercise import Exercise, VisibleNode
from kempelen.lab.exercises.generator import KINDS, make_exercises, spec_as_json
from kempelen.lab.exercises.marking import Mark
from kempelen.lab.exercises.results import MAX_EXERCISES, Attempts, MarkedExercise
from kempelen.lab.language import Translator, format_label
from kempelen.lab.output import print_plain, table
from kempelen.lab.spanish_messages import error_message


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
        "--depth", type=positive_int, default=3, metavar="D", help="of the trees (default: 3)"
    )
    parser.add_argument(
        "--branching", type=positive_int, default=3, metavar="B",
        help="the most children of a node (default: 3)",
    )  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, help="of all that is random (default: 0)")
    parser.add_argument(
        "--student", type=positive_int, default=1, metavar="N",
        help="a number that gives other trees (default: 1)",
    )  # fmt: skip
    parser.add_argument(
        "--count",
        type=positive_int,
        default=1,
        metavar="N",
        help="exercises of each kind (default: 1)",
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
        "--students", type=positive_int, default=1, metavar="N",
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
    translate = language.translator(arguments.lang)
    if arguments.collect:
        return _collect(arguments, translate)
    if arguments.sheet or arguments.key:
        _write_sheets(arguments, translate)
        if arguments.output is None:
            return 0
    asks = not (arguments.solve or arguments.output or arguments.json)
    if arguments.results and not (asks or arguments.answer):
        raise ValueError(
            "--results is for answers: give some with --answer, or answer in the terminal"
        )
    made = exercises(arguments, arguments.student)
    if arguments.output is not None:
        from kempelen.lab.exercises import page

        page.write_page(arguments.output, made, translate, arguments.lang, arguments.name)
        print(arguments.output)
        return 0
    if not (asks or arguments.answer):
        for each in made:
            if arguments.json:
                print(json.dumps(_as_json(each, translate), ensure_ascii=False))
            else:
                _print_question(each, translate)
                _print_solution(each, translate)
        return 0
    if arguments.answer:
        return _check(arguments, made, translate)
    return _ask(arguments, made, translate)


def exercises(arguments: Namespace, student: int) -> list[Exercise]:
    """Return the exercises that the arguments name, for one student."""
    kinds = tuple(dict.fromkeys(arguments.kind or KINDS))
    if arguments.algorithm and "order" not in kinds:
        raise ValueError("--algorithm is of the order of visits: ask for it with --kind order")
    if len(kinds) * arguments.count > MAX_EXERCISES:
        raise ValueError(f"more than {MAX_EXERCISES} exercises are too many: use a smaller --count")
    return make_exercises(
        kinds,
        seed=arguments.seed,
        student=student,
        count=arguments.count,
        depth=arguments.depth,
        branching=arguments.branching,
        algorithm=arguments.algorithm or "alpha-beta",
    )


def feedback(mark: Mark, made: Exercise, translate: Translator) -> str:
    """Say what an answer is worth, and nothing of what would be right."""
    if mark.right:
        return translate("right")
    text = f"{translate('wrong')}: {translate('{} points of {}').format(mark.points, mark.parts)}"
    if mark.wrong:
        why = translate("out of place") if made.ordered else translate("not right")
        text += f"; {why}: {', '.join(mark.wrong)}"
    return text


def _check(arguments: Namespace, made: list[Exercise], translate: Translator) -> int:
    """Check the answers that were given as arguments."""
    if len(arguments.answer) > len(made):
        raise ValueError(
            f"there are {len(made)} exercises and {len(arguments.answer)} answers: ask for more "
            "with --kind or --count"
        )
    attempts, right = [], 0
    name, earlier = _load_results(arguments, made)
    marks = [each.mark(text) for each, text in zip(made, arguments.answer, strict=False)]
    for each, text, mark in zip(made, arguments.answer, marks, strict=False):
        attempts.append(Attempts(each.spec, (text,)))
        right += mark.right
        if arguments.json:
            print(json.dumps({**spec_as_json(each.spec), "answer": text, **asdict(mark)}))
        else:
            print_plain(f"{each.title(translate)}: {feedback(mark, each, translate)}")
    _save_results(arguments, name, earlier, attempts)
    return 0 if right == len(attempts) else 1


def _ask(arguments: Namespace, made: list[Exercise], translate: Translator) -> int:
    """Ask in the terminal until each exercise is solved or given up."""
    attempts: list[Attempts] = []
    name, earlier = _load_results(arguments, made)
    _save_results(arguments, name, earlier, attempts)  # what cannot be written is found out before
    for each in made:
        _print_question(each, translate)
        tried, ended = _attempt(each, translate)
        if not ended or tried.answers:
            attempts.append(tried)
            _save_results(arguments, name, earlier, attempts)
        if ended:
            break
    marks = results.mark_attempts(attempts)
    right, at_once = sum(each.right for each in marks), sum(each.right_at_first for each in marks)
    text = translate("{} of {} right, {} at once")
    print_plain(text.format(right, len(made), at_once))
    return 0


def _attempt(made: Exercise, translate: Translator) -> tuple[Attempts, bool]:
    """Ask for answers to an exercise; tell too whether there will be no more."""
    answers: list[str] = []
    while True:
        text = _read_answer(f"{translate('answer, or nothing to see the key')} > ")
        if text is None:
            return Attempts(made.spec, tuple(answers)), True
        if not text.strip():
            _print_solution(made, translate)
            return Attempts(made.spec, tuple(answers), solved=True), False
        try:
            mark = made.mark(text)
        except ValueError as error:
            print_plain(error_message(error, "en" if translate is str else "es"))
            continue
        answers.append(text.strip())
        print_plain(feedback(mark, made, translate))
        if mark.right:
            _print_solution(made, translate)
            return Attempts(made.spec, tuple(answers)), False


def _read_answer(prompt: str) -> str | None:
    """Return the next line of standard input; None at its end."""
    if sys.stdin.isatty():
        try:
            return input(prompt)
        except (EOFError, KeyboardInterrupt):
            print()
            return None
    line = sys.stdin.readline()
    return line.rstrip("\n") if line else None


def _print_question(made: Exercise, translate: Translator) -> None:
    print_plain(
        "", made.title(translate), rich_tree(made.visible_nodes()), *made.question(translate)
    )
    print_plain(f"{translate('for example')}: {made.example}")


def _print_solution(made: Exercise, translate: Translator) -> None:
    print_plain(f"{translate('key')}: {made.key_text()}", *made.explanation(translate))


def rich_tree(nodes: list[VisibleNode]) -> RichTree:
    """Return the tree as text."""
    branches: dict[tuple[int, ...], RichTree] = {}
    for node in nodes:
        mover = "MAX" if node.maximises else "MIN"
        text = (
            f"{format_label(node.label)}  {node.text if node.is_leaf else f'{mover} {node.text}'}"
        )
        above = branches.get(node.label[:-1]) if node.label else None
        branches[node.label] = RichTree(text) if above is None else above.add(text.rstrip())
    return branches[()]


def _load_results(arguments: Namespace, made: list[Exercise]) -> tuple[str, list[Attempts]]:
    """Return the name, and the answers that the file of results has already."""
    if arguments.results is None or not arguments.results.exists():
        return arguments.name, []
    name, attempts = results.read_results(arguments.results)
    origins = {each.spec for each in attempts} | {each.spec for each in made}
    if len(origins) > MAX_EXERCISES:
        raise ValueError(
            f"{arguments.results} would have more than {MAX_EXERCISES} exercises: name another "
            "file for the results"
        )
    return arguments.name or name, attempts


def _save_results(
    arguments: Namespace, name: str, earlier: list[Attempts], attempts: list[Attempts]
) -> None:
    """Write the answers behind earlier ones, if there is a file for them."""
    if arguments.results is not None:
        together = results.merge_attempts(earlier, attempts)
        results.write_results(arguments.results, name, together)


def _as_json(made: Exercise, translate: Translator) -> dict[str, Any]:
    return {
        **spec_as_json(made.spec),
        "tree": made.root,
        "question": made.question(translate),
        "key": list(made.key),
        "explanation": made.explanation(translate),
    }


def _collect(arguments: Namespace, translate: Translator) -> int:
    """Print a line a student; say of which files there can be none."""
    rows, failed = [], 0
    for path in arguments.collect:
        try:
            rows.append((path, *results.read_marked(path)))
        except ValueError as error:
            failed += 1
            print(f"kempelen lab: {error_message(error, arguments.lang)}", file=sys.stderr)
    if arguments.json:
        for path, name, marks in rows:
            print(json.dumps(_student_as_json(path, name, marks), ensure_ascii=False))
    elif rows:
        print_plain(_results_table(rows, translate))
    return 1 if failed else 0


def _results_table(
    rows: list[tuple[Path, str, list[MarkedExercise]]], translate: Translator
) -> Table:
    """Return a line a student, and below it one for each of several kinds of exercises."""
    headings = ("name", "seed", "student", "kind", "algorithm", "depth", "branching", "exercises")
    more = ("right", "at once", "answers", "points")
    made = table("", *map(translate, (*headings, *more)), right=5)
    for path, name, marks in rows:
        groups: dict[tuple[str, ...], list[MarkedExercise]] = {}
        for each in marks:
            asked = spec_as_json(each.spec)
            about = tuple(
                str(asked[field]) for field in ("kind", "algorithm", "depth", "branching")
            )
            groups.setdefault(about, []).append(each)
        whose = (
            name or path.name,
            _distinct_values(marks, "seed"),
            _distinct_values(marks, "student"),
        )
        (first, *others) = groups or {("", "", "", ""): []}
        if not others:
            made.add_row(*whose, *first, *_count_cells(marks))
            continue
        made.add_row(*whose, "", "", "", "", *_count_cells(marks))
        for about, group in groups.items():
            made.add_row("", "", "", *about, *_count_cells(group))
    return made


def _distinct_values(marks: list[MarkedExercise], field: str) -> str:
    """Write the values that a field of the origins has."""
    return ", ".join(map(str, sorted({getattr(each.spec, field) for each in marks})))


def _count_cells(marks: list[MarkedExercise]) -> tuple[str, ...]:
    """Write how many exercises there are, right, at once right, answers, and points."""
    counts = (
        len(marks), sum(each.right for each in marks), sum(each.right_at_first for each in marks),
        sum(len(each.marks) for each in marks),
    )  # fmt: skip
    points = f"{sum(each.points for each in marks)}/{sum(each.parts for each in marks)}"
    return (*map(str, counts), points)


def _student_as_json(path: Path, name: str, marks: list[MarkedExercise]) -> dict[str, Any]:
    return {
        "file": str(path),
        "name": name,
        "exercises": [
            {
                **spec_as_json(each.spec),
                "right": each.right,
                "at_once": each.right_at_first,
                "answers": len(each.marks),
                "points": each.points,
                "parts": each.parts,
            }
            for each in marks
        ],
    }


def _write_sheets(arguments: Namespace, translate: Translator) -> None:
    """Write the sheets of all students, the keys to them, or both."""
    from kempelen.lab.exercises import pdf_sheets

    paths = [path for path in (arguments.sheet, arguments.key) if path is not None]
    for path in paths:
        pdf_sheets.check_sheets(path)
    if len(paths) > 1 and paths[0].absolute() == paths[1].absolute():
        raise ValueError(f"{paths[0]} is the file of the sheets too: name another for the keys")
    first = arguments.student
    made = [exercises(arguments, student) for student in range(first, first + arguments.students)]
    for path in paths:
        pdf_sheets.write_sheets(path, made, translate, keys=path is arguments.key)
        print(path)
