"""Run the tests of one task on a student's file, in a process of its own.

Usage: `python -m kempelen.lab.assignments.worker TASK FILE LANGUAGE FIRST`. The tests from number
FIRST on are run. A line of JSON is written when the process is ready, when the student's file has
been loaded, and with the result of each test. What the student's code prints is discarded.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from typing import TextIO

from agent.io import user_code
from agent.io.message import Message
from kempelen.console.translation import translate
from kempelen.lab.assignments.tasks import TASKS, GradedTest, Solution

# Limits of the process, which student's code cannot raise again: memory, and size of a file.
MAX_MEMORY_BYTES, MAX_FILE_BYTES = 2 << 30, 1 << 20
MAX_EXPLANATION_LENGTH = 1000


def main(name: str, file: str, language: str, first: int) -> None:
    """Run the tests and write the results to the original standard output."""
    with _private_output() as results:
        _limit_resources()
        task = TASKS[name]

        def report(**data: object) -> None:
            print(json.dumps(data), file=results, flush=True)

        report(ready=True)
        try:
            module = user_code.load_module(file, "solution")
            solution: Solution = getattr(module, task.function, None)  # type: ignore[assignment]
            if not callable(solution):
                raise ValueError(Message("{}: function {} is missing", task.file, task.function))
        except BaseException as error:  # noqa: BLE001 - user code may raise anything
            text = error if isinstance(error, ValueError) else user_code.describe(error)
            report(failed=translate(str(text), language)[:MAX_EXPLANATION_LENGTH])
            return
        report(loaded=True)
        for number, test in enumerate(task.tests[first:], first):
            points, explanation = run_test(test, solution)
            text = translate(explanation, language)[:MAX_EXPLANATION_LENGTH]
            report(test=number, points=points, explanation=text)


def run_test(test: GradedTest, solution: Solution) -> tuple[int, str]:
    """Return the points of a test, and the explanation of the first wrong case, or ""."""
    right = count = 0
    explanation = ""
    try:
        for failure in test.cases(solution):
            count += 1
            right += not failure
            explanation = explanation or failure
    except BaseException as error:  # noqa: BLE001 - user code may raise anything
        return 0, user_code.describe(error)
    if explanation:
        return min(test.points * right // count, test.points - 1), explanation
    return test.points, ""


@contextlib.contextmanager
def _private_output():  # type: ignore[no-untyped-def]
    """Yield a copy of standard output. What others print is discarded."""
    output: TextIO = os.fdopen(os.dup(1), "w", encoding="utf-8")
    with open(os.devnull, "r+b") as nowhere:
        for descriptor in range(3):
            os.dup2(nowhere.fileno(), descriptor)
    with output:
        yield output


def _limit_resources() -> None:
    if sys.platform == "win32":
        return
    import resource

    for kind, limit in (
        (resource.RLIMIT_AS, MAX_MEMORY_BYTES),
        (resource.RLIMIT_FSIZE, MAX_FILE_BYTES),
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(kind, (limit, limit))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
