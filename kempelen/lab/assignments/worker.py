"""Answer calls of a student's function, in a process of its own.

Usage: `python -m kempelen.lab.assignments.worker TASK FILE LANGUAGE`. A line of JSON is written
when the process is ready, when the student's file has been loaded, and after each call. A call is
a line of standard input. The expected values stay in the process of the grader. What the student's
code prints is discarded.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from agent.games.tree import Tree
from agent.io import user_code
from agent.io.message import Message
from kempelen.console.translation import translate
from kempelen.lab.assignments.observed_game import ObservedGame
from kempelen.lab.assignments.tasks import TASKS, Solution

# Limits of the process, which student's code cannot raise again: memory, and size of a file.
MAX_MEMORY_BYTES, MAX_FILE_BYTES = 2 << 30, 1 << 20
MAX_EXPLANATION_LENGTH = 1000
MAX_VALUE_LENGTH = 60


def main(name: str, file: str, language: str) -> None:
    """Load the student's file and answer the calls of the grader."""
    with _private_channel() as (calls, answers):
        _limit_resources()
        task = TASKS[name]

        def report(**data: object) -> None:
            print(json.dumps(data), file=answers, flush=True)

        report(ready=os.getpid())
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
        for line in calls:
            report(**answer(solution, pickle.loads(base64.b64decode(line)), language))


def answer(solution: Solution, arguments: tuple[Any, ...], language: str) -> dict[str, Any]:
    """Call the student's function. Return its value or error, and what it did with the game."""
    game = arguments[0] if isinstance(arguments[0], ObservedGame) else None
    try:
        value = solution(*arguments)
        found = (
            {"value": value} if is_plain_value(value) else {"text": repr(value)[:MAX_VALUE_LENGTH]}
        )
    except BaseException as error:  # noqa: BLE001 - user code may raise anything
        text = translate(_describe(error, game), language)[:MAX_EXPLANATION_LENGTH]
        return {"error": text, "type": type(error).__name__}
    if game is not None and isinstance(game.position, Tree):
        found |= {"plays": game.plays, "plies": game.plies, "leaves": list(game.leaves.values())}
    return found


def is_plain_value(value: Any) -> bool:
    """Return whether a value is sent as it is, and not as text."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value.bit_length() < 1024  # longer ones are not numbers to a search either
    return value is None or isinstance(value, bool | float)


def _describe(error: BaseException, game: ObservedGame | None) -> Message:
    """Describe an error with the line of the student's file, even if the game raised it."""
    trace = last = error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not (Path(file).is_relative_to(Path(__file__).parents[2]) or user_code.is_library(file)):
            last = trace
        trace = trace.tb_next
    if last is not None:
        last.tb_next = None
    text = Message(user_code.describe(error))
    if isinstance(error, RecursionError) and game is not None:
        return Message("{}; does depth reach 0?", text)
    return text


@contextlib.contextmanager
def _private_channel() -> Iterator[tuple[TextIO, TextIO]]:
    """Yield copies of standard input and output. What others print is discarded."""
    calls = os.fdopen(os.dup(0), encoding="ascii")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    with open(os.devnull, "r+b") as nowhere:
        for descriptor in range(3):
            os.dup2(nowhere.fileno(), descriptor)
    with calls, answers:
        yield calls, answers


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
    main(*sys.argv[1:])
