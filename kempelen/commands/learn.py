"""`kempelen learn`: show, merge and prune files of learned moves, also while engines use them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kempelen.console.argument_types import positive_int
from kempelen.console.terminal import print_error, table_console

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from agent.learning.learned_move import LearnedMove
    from agent.learning.learned_move_database import LearnedMoveDatabase

DEFAULT_ROWS = 20


def configure(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    show = actions.add_parser("show", help="print the moves with the most unexpected outcome")
    show.add_argument("files", nargs="+", type=Path, metavar="FILE")
    show.add_argument(
        "--rows",
        type=positive_int,
        default=DEFAULT_ROWS,
        metavar="N",
        help=f"number of moves to print (default: {DEFAULT_ROWS})",
    )
    show.add_argument("--game", default="", help="print only moves of this game")
    show.add_argument(
        "--position", default="", help="print only moves in this position, written as in the file"
    )
    show.set_defaults(act=_show)
    merge = actions.add_parser("merge", help="merge several files into a new one")
    merge.add_argument("files", nargs="+", type=Path, metavar="FILE")
    merge.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="new file")
    merge.set_defaults(act=_merge)
    prune = actions.add_parser("prune", help="keep the most useful moves of each file")
    prune.add_argument("files", nargs="+", type=Path, metavar="FILE")
    prune.add_argument(
        "--keep", type=positive_int, required=True, metavar="N", help="number of moves to keep"
    )
    prune.set_defaults(act=_prune)
    for action in (show, merge, prune):
        action.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: Namespace) -> int:
    from agent.learning.learned_move_database import LearningDatabaseError

    act: Callable[[Namespace], int] = arguments.act
    try:
        return act(arguments)
    except LearningDatabaseError as error:
        print_error(error, "kempelen learn")
        return 2


def _open_file(path: Path) -> LearnedMoveDatabase:
    from agent.learning.learned_move_database import LearnedMoveDatabase, LearningDatabaseError

    if not path.exists():
        raise LearningDatabaseError(f"{path}: file does not exist")
    return LearnedMoveDatabase(path)


def _show(arguments: Namespace) -> int:
    files = {str(path): _open_file(path).read_all() for path in arguments.files}
    wanted = {
        name: [
            lesson
            for lesson in lessons
            if arguments.game in ("", lesson.game) and arguments.position in ("", lesson.position)
        ]
        for name, lessons in files.items()
    }
    if arguments.json:
        shown = [
            {"file": name, **_counts(lessons), "lessons": _as_json(lessons[: arguments.rows])}
            for name, lessons in wanted.items()
        ]
        print(json.dumps({"files": shown}))
        return 0
    for name, lessons in wanted.items():
        counts = _counts(lessons)
        print(
            f"{name}: {counts['count']} moves, {counts['refutations']} refutations, "
            f"played {counts['times']} times, used {counts['used']} times"
        )
        if lessons:
            table_console().print(_table(lessons[: arguments.rows]))
    return 0


def _table(lessons: list[LearnedMove]) -> Any:
    from kempelen.console.plain_table import PlainTable

    table = PlainTable(box=None)
    for heading in ("game", "position", "move", "reply"):
        table.add_column(heading, overflow="fold")
    for heading in ("predicted", "found", "times", "used"):
        table.add_column(heading, justify="right")
    for lesson in lessons:
        table.add_row(
            lesson.game,
            lesson.position,
            lesson.move,
            lesson.reply,
            f"{lesson.predicted:z.4g}",
            f"{lesson.found:z.4g}",
            str(lesson.times),
            str(lesson.used),
        )
    return table


def _counts(lessons: list[LearnedMove]) -> dict[str, int]:
    return {
        "count": len(lessons),
        "refutations": sum(lesson.is_refutation for lesson in lessons),
        "times": sum(lesson.times for lesson in lessons),
        "used": sum(lesson.used for lesson in lessons),
    }


def _as_json(lessons: list[LearnedMove]) -> list[dict[str, Any]]:
    return [asdict(lesson) for lesson in lessons]


def _merge(arguments: Namespace) -> int:
    from agent.learning.learned_move_database import LearnedMoveDatabase, LearningDatabaseError

    output = arguments.output
    if output.exists():
        raise LearningDatabaseError(f"{output}: file already exists (expected a new file)")
    sources = [_open_file(path).read_all() for path in arguments.files]
    file = LearnedMoveDatabase(output)
    try:
        for lessons in sources:
            file.add(lessons, later=False)
    except LearningDatabaseError:
        output.unlink(missing_ok=True)
        raise
    count = len(file.read_all())
    read = sum(map(len, sources))
    found = {"file": str(output), "read": read, "count": count}
    print(json.dumps(found) if arguments.json else f"{output}: {count} of {read} moves")
    return 0


def _prune(arguments: Namespace) -> int:
    files = [_open_file(path) for path in arguments.files]  # report errors before changing any file
    found = []
    for file in files:
        gone = file.prune(arguments.keep)
        found.append({"file": str(file.path), "gone": gone, "count": len(file.read_all())})
    if arguments.json:
        print(json.dumps({"files": found}))
    else:
        for each in found:
            print(f"{each['file']}: {each['count']} moves kept, {each['gone']} removed")
    return 0
