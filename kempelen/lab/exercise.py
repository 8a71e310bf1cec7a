"""`kempelen lab exercise`: ask questions about search trees and mark the answers."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.tree import Tree as RichTree

from agent.games.tree import is_inline_tree
from agent.io.message import Message
from agent.io.text_files import read_text
from kempelen.console.argument_types import integer, positive_int
from kempelen.console.terminal import print_error
from kempelen.console.translation import error_message
from kempelen.lab import language
from kempelen.lab.exercises import marking, results
from kempelen.lab.exercises.exercise import (
    MAX_TREE_LENGTH,
    Exercise,
    ExerciseSpec,
    VisibleNode,
    given_tree,
)
from kempelen.lab.exercises.generator import KINDS, make_exercises, spec_as_json, tree_kinds
from kempelen.lab.exercises.marking import Mark
from kempelen.lab.exercises.results import MAX_EXERCISES, ExerciseAnswers, MarkedExercise
from kempelen.lab.language import Translator, format_label
from kempelen.lab.output import print_plain, table


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--kind", action="append", choices=tuple(KINDS),
        help="exercise type; may be repeated (default: all)",
    )  # fmt: skip
    parser.add_argument(
        "--algorithm", metavar="A",
        help="algorithm for exercises on the order of visits (default: alpha-beta) or on windows "
        "(default: pvs)",
    )  # fmt: skip
    parser.add_argument(
        "--tree", metavar="FILE.yaml",
        help="ask about this tree, a file or [[3, 5], [2, 9]], instead of random trees",
    )  # fmt: skip
    parser.add_argument(
        "--depth", type=positive_int, default=3, metavar="D", help="depth of the trees (default: 3)"
    )
    parser.add_argument(
        "--branching", type=positive_int, default=3, metavar="B",
        help="maximum number of children of a node (default: 3)",
    )  # fmt: skip
    parser.add_argument("--seed", type=integer, default=0, help="random seed (default: 0)")
    parser.add_argument(
        "--student", type=positive_int, default=1, metavar="N",
        help="student number; each number gets different trees (default: 1)",
    )  # fmt: skip
    parser.add_argument(
        "--count",
        type=positive_int,
        default=1,
        metavar="N",
        help="number of exercises of each kind (default: 1)",
    )
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument(
        "--answer", action="append", metavar="TEXT",
        help="check this answer to the next exercise, without asking; may be repeated",
    )  # fmt: skip
    mode.add_argument(
        "--solve", action="store_true", help="print the keys with explanations, without asking"
    )
    mode.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE.html",
        help="write an interactive page to FILE.html",
    )
    mode.add_argument(
        "--collect", type=Path, nargs="+", metavar="FILE",
        help="mark the answers in results files; print one line per student",
    )  # fmt: skip
    parser.add_argument(
        "--sheet", type=Path, metavar="FILE.pdf", help="write printable exercise sheets"
    )
    parser.add_argument("--key", type=Path, metavar="FILE.pdf", help="write the keys to the sheets")
    parser.add_argument(
        "--students", type=positive_int, default=1, metavar="N",
        help="number of students to write sheets for, each with different trees (default: 1)",
    )  # fmt: skip
    parser.add_argument(
        "--results", type=Path, metavar="FILE",
        help="append the answers to a results file",
    )  # fmt: skip
    parser.add_argument("--name", default="", metavar="NAME", help="student's name in the results")
    parser.add_argument("--json", action="store_true", help="print one JSON object per line")


def run(arguments: Namespace) -> int:
    """Run the command. Return 1 if an `--answer` is wrong or a results file is invalid."""
    translate = language.translator(arguments.lang)
    if arguments.collect:
        return _collect(arguments, translate)
    if arguments.sheet or arguments.key:
        _write_sheets(arguments, translate)
        if arguments.output is None:
            return 0
    asks = not (arguments.solve or arguments.output or arguments.json)
    if arguments.results and not (asks or arguments.answer):
        raise ValueError("--results requires answers (use --answer, or answer in the terminal)")
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
    algorithm = arguments.algorithm or "alpha-beta"
    tree = "" if arguments.tree is None else _read_tree(arguments.tree)
    kinds = tuple(dict.fromkeys(arguments.kind or KINDS))
    if tree and not arguments.kind:
        kinds = tuple(tree_kinds(ExerciseSpec("values", algorithm=algorithm, tree=tree)))
    if arguments.algorithm and not {"order", "windows"} & set(kinds):
        raise ValueError("--algorithm requires --kind order or windows")
    if len(kinds) * arguments.count > MAX_EXERCISES:
        raise ValueError(Message("--count: too many exercises (at most {})", MAX_EXERCISES))
    return make_exercises(
        kinds,
        seed=arguments.seed,
        student=student,
        count=arguments.count,
        depth=arguments.depth,
        branching=arguments.branching,
        algorithm=algorithm,
        tree=tree,
    )


def _read_tree(path: str) -> str:
    """Return the text of a tree or its file. Raise ValueError if it is unreadable or no tree."""
    if is_inline_tree(path):
        given_tree(ExerciseSpec("values", tree=path))
        return path
    try:
        text = read_text(path, MAX_TREE_LENGTH)
        given_tree(ExerciseSpec("values", tree=text or "[]"))
    except OSError as error:
        raise ValueError(Message("{}: could not read the file: {}", path, error)) from None
    except ValueError as error:
        raise ValueError(Message("{}: {}", path, error)) from None
    return text


def feedback(mark: Mark, made: Exercise, translate: Translator) -> str:
    """Describe a mark to the student without revealing the correct answer."""
    if mark.right:
        return translate("correct")
    text = f"{translate('wrong')}: {translate('{} of {} points').format(mark.points, mark.parts)}"
    if mark.wrong:
        why = translate("out of place") if made.ordered else translate("incorrect")
        text += f"; {why}: {', '.join(mark.wrong)}"
    return text


def _check(arguments: Namespace, made: list[Exercise], translate: Translator) -> int:
    if len(arguments.answer) > len(made):
        raise ValueError(
            Message(
                "--answer: {} answers for {} exercises (use --kind or --count for more exercises)",
                len(arguments.answer),
                len(made),
            )
        )
    attempts, right = [], 0
    name, earlier = _load_results(arguments, made)
    marks = [each.mark(text) for each, text in zip(made, arguments.answer, strict=False)]
    for each, text, mark in zip(made, arguments.answer, marks, strict=False):
        attempts.append(ExerciseAnswers(each.spec, (text,)))
        right += mark.right
        if arguments.json:
            print(json.dumps({**spec_as_json(each.spec), "answer": text, **asdict(mark)}))
        else:
            print_plain(f"{each.title(translate)}: {feedback(mark, each, translate)}")
    _save_results(arguments, name, earlier, attempts)
    return 0 if right == len(attempts) else 1


def _ask(arguments: Namespace, made: list[Exercise], translate: Translator) -> int:
    attempts: list[ExerciseAnswers] = []
    name, earlier = _load_results(arguments, made)
    _save_results(arguments, name, earlier, attempts)  # fail early if the file is not writable
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
    text = translate("{} of {} correct, {} on the first try")
    print_plain(text.format(right, len(made), at_once))
    return 0


def _attempt(made: Exercise, translate: Translator) -> tuple[ExerciseAnswers, bool]:
    """Read answers from standard input until one is correct, a line is empty, or input ends.

    Return the answers, and whether the input ended.
    """
    answers: list[str] = []
    while True:
        text = _read_answer(f"{translate('answer (empty line: show the key)')} > ")
        if text is None:
            return ExerciseAnswers(made.spec, tuple(answers)), True
        if not text.strip():
            _print_solution(made, translate)
            return ExerciseAnswers(made.spec, tuple(answers), solved=True), False
        try:
            mark = made.mark(text)
        except ValueError as error:
            print_plain(error_message(error, "en" if translate is str else "es"))
            continue
        answers.append(text.strip())
        print_plain(feedback(mark, made, translate))
        if mark.right:
            _print_solution(made, translate)
            return ExerciseAnswers(made.spec, tuple(answers)), False


def _read_answer(prompt: str) -> str | None:
    """Return the next line of standard input, or None at its end."""
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
        "",
        made.title(translate),
        rich_tree(made.visible_nodes(), translate),
        *made.question(translate),
    )
    print_plain(f"{translate('for example')}: {made.example}", translate(marking.RULE))


def _print_solution(made: Exercise, translate: Translator) -> None:
    print_plain(f"{translate('key')}: {made.key_text()}", *made.explanation(translate))


def rich_tree(nodes: list[VisibleNode], translate: Translator = str) -> RichTree:
    """Convert nodes in preorder to a Rich tree for the terminal."""
    branches: dict[tuple[int, ...], RichTree] = {}
    for node in nodes:
        mover = translate("chance") if node.mover == "chance" else node.mover
        text = f"{format_label(node.label)}  {'' if node.is_leaf else f'{mover} '}{node.text}"
        if node.chance:
            text = f"{node.chance}: {text}"
        above = branches.get(node.label[:-1]) if node.label else None
        branches[node.label] = RichTree(text) if above is None else above.add(text.rstrip())
    return branches[()]


def _load_results(arguments: Namespace, made: list[Exercise]) -> tuple[str, list[ExerciseAnswers]]:
    if arguments.results is None or not arguments.results.exists():
        return arguments.name, []
    name, attempts = results.read_results(arguments.results)
    specs = {each.spec for each in attempts} | {each.spec for each in made}
    if len(specs) > MAX_EXERCISES:
        raise ValueError(
            Message(
                "{}: would exceed {} exercises (use another results file)",
                arguments.results,
                MAX_EXERCISES,
            )
        )
    return arguments.name or name, attempts


def _save_results(
    arguments: Namespace, name: str, earlier: list[ExerciseAnswers], attempts: list[ExerciseAnswers]
) -> None:
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
    rows, failed = [], 0
    for path in arguments.collect:
        try:
            rows.append((path, *results.read_marked(path)))
        except ValueError as error:
            failed += 1
            print_error(error_message(error, arguments.lang), "kempelen lab")
    if arguments.json:
        for path, name, marks in rows:
            print(json.dumps(_student_as_json(path, name, marks), ensure_ascii=False))
    elif rows:
        print_plain(_results_table(rows, translate))
    return 1 if failed else 0


def _results_table(
    rows: list[tuple[Path, str, list[MarkedExercise]]], translate: Translator
) -> Table:
    headings = ("name", "seed", "student", "kind", "algorithm", "depth", "branching", "exercises")
    result_headings = ("correct", "first try", "answers", "points")
    rows_table = table("", *map(translate, (*headings, *result_headings)), right=5)
    for path, name, marks in rows:
        groups: dict[tuple[str, ...], list[MarkedExercise]] = {}
        for each in marks:
            spec = spec_as_json(each.spec)
            group_key = tuple(
                str(spec[field]) for field in ("kind", "algorithm", "depth", "branching")
            )
            groups.setdefault(group_key, []).append(each)
        student = (
            name or path.name,
            _distinct_values(marks, "seed"),
            _distinct_values(marks, "student"),
        )
        (first, *other_keys) = groups or {("", "", "", ""): []}
        if not other_keys:
            rows_table.add_row(*student, *first, *_count_cells(marks))
            continue
        rows_table.add_row(*student, "", "", "", "", *_count_cells(marks))
        for group_key, group in groups.items():
            rows_table.add_row("", "", "", *group_key, *_count_cells(group))
    return rows_table


def _distinct_values(marks: list[MarkedExercise], field: str) -> str:
    return ", ".join(map(str, sorted({getattr(each.spec, field) for each in marks})))


def _count_cells(marks: list[MarkedExercise]) -> tuple[str, ...]:
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
    from kempelen.lab.exercises import pdf_sheets

    paths = [path for path in (arguments.sheet, arguments.key) if path is not None]
    for path in paths:
        pdf_sheets.check_sheets(path)
    if len(paths) > 1 and paths[0].absolute() == paths[1].absolute():
        raise ValueError(Message("--key: {} is also the --sheet file (use another file)", paths[0]))
    first = arguments.student
    made = [exercises(arguments, student) for student in range(first, first + arguments.students)]
    for path in paths:
        pdf_sheets.write_sheets(path, made, translate, keys=path is arguments.key)
        print(path)
