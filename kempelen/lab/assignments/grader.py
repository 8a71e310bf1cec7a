"""Grade the folders of students. Their code runs in processes with limits of time and memory."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import pickle
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from agent.io.message import Message
from agent.io.sanitize import sanitize_lines, sanitize_name
from agent.io.text_files import read_text
from kempelen.console.translation import translate
from kempelen.lab.assignments.observed_game import ObservedGame
from kempelen.lab.assignments.tasks import (
    GradedTest,
    Solution,
    StudentError,
    Task,
    Unreadable,
    call_text,
)
from kempelen.lab.assignments.worker import is_plain_value
from protocols.client.process import EngineDiedError, EngineProcess

NAME_FILE = "name.txt"
MAX_NAME_BYTES = 1000
WORKER = "kempelen.lab.assignments.worker"
# Time limit to start a process, in seconds.
START_TIMEOUT_S = 60.0
# After this number of timeouts, the other tests of a task are not run.
MAX_TIMEOUTS = 2
# Limit of the time of a test on the clock, in case the code sleeps: a multiple of its processor
# time, and seconds for the many short calls of a match on a busy machine.
MAX_WAIT_FACTOR, MAX_EXTRA_WAIT_S = 10, 60.0
MAX_EXPLANATION_LENGTH = 1000


@dataclass(frozen=True)
class GradedResult:
    """The points of a test, and why some are missing."""

    task: Task
    test: GradedTest
    points: int
    explanation: str


@dataclass(frozen=True)
class Grade:
    """The results of one student in all tests of some tasks."""

    folder: Path
    name: str
    results: tuple[GradedResult, ...]
    missing: tuple[Task, ...] = ()  # tasks whose file is missing

    @property
    def points(self) -> int:
        """The sum of the points of all tests."""
        return sum(result.points for result in self.results)

    @property
    def maximum(self) -> int:
        """The sum of the maximum points of all tests."""
        return sum(result.test.points for result in self.results)


def has_solution(folder: Path, tasks: Iterable[Task]) -> bool:
    """Return whether a folder contains the file of at least one task."""
    return any((folder / task.file).is_file() for task in tasks)


def grade(folder: Path, tasks: Sequence[Task], language: str, timeout: float) -> Grade:
    """Run all tests on a folder. `timeout` is in seconds of processor time per test."""
    results: list[GradedResult] = []
    for task in tasks:
        file = folder / task.file
        if file.is_file():
            results += _grade_task(task, file.absolute(), language, timeout)
        else:
            missing = translate(Message("{} is missing", task.file), language)
            results += [GradedResult(task, test, 0, missing) for test in task.tests]
    absent = tuple(task for task in tasks if not (folder / task.file).is_file())
    return Grade(folder, _student_name(folder), tuple(results), absent)


def _grade_task(task: Task, file: Path, language: str, timeout: float) -> list[GradedResult]:
    with StudentProcess(task, file, language, timeout) as student:
        results = list(run_tests(task, student, student.begin_test))
    return [
        GradedResult(
            task,
            test,
            points,
            sanitize_lines(translate(explanation, language)[:MAX_EXPLANATION_LENGTH]),
        )
        for test, points, explanation in results
    ]


def run_tests(
    task: Task, solution: Solution, begin_test: Callable[[], None] = lambda: None
) -> Iterator[tuple[GradedTest, int, str]]:
    """Run the tests of a task. Yield their points and explanations."""
    found: dict[str, int] = {}
    for test in task.tests:
        begin_test()
        if test.requires and not found[test.requires]:
            points, explanation = 0, _not_run(test.requires)
        else:
            points, explanation = _run_test(test, solution)
        found[test.name] = points
        yield test, points, explanation


def _not_run(required: str) -> str:
    return Message("not run, because the test {!r} got no points", Message(required))


def _run_test(test: GradedTest, solution: Solution) -> tuple[int, str]:
    """Return the points of a test, and the explanation of the first wrong case, or ""."""
    right = count = 0
    explanation = ""
    try:
        for failure in test.cases(solution):
            count += 1
            right += not failure
            explanation = explanation or failure
    except StudentError as error:
        return 0, str(error)
    if explanation:
        return min(test.points * right // count, test.points - 1), explanation
    return test.points, ""


class StudentProcess:
    """A student's function, which runs in a process that is started when it is called.

    A call raises StudentError if the function fails, or has used more than `timeout` seconds of
    processor time since the test began. Other programs on a busy machine do not count.
    """

    def __init__(self, task: Task, file: Path, language: str, timeout: float) -> None:
        self._task, self._file, self._language, self._timeout = task, file, language, timeout
        self._loop = asyncio.new_event_loop()
        self._process: EngineProcess | None = None
        self._worker = 0  # process id
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._failure = ""  # the reason why all further calls fail
        self._timeouts = 0
        self.begin_test()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        try:
            self._loop.run_until_complete(self._stop())
        finally:
            self._loop.close()

    def begin_test(self) -> None:
        """Begin to measure the time of a test."""
        self._waited = 0.0
        self._used_before = self._processor_time() or 0.0

    def __call__(self, *arguments: Any) -> Any:
        data = self._loop.run_until_complete(self._answer(arguments))
        try:
            return student_value(data, arguments, self._task)
        except (KeyError, OverflowError, TypeError) as error:  # the student's code forged it
            self._failure = Message("your program sent an invalid answer")
            raise StudentError(self._failure) from error

    async def _answer(self, arguments: tuple[Any, ...]) -> dict[str, Any]:
        if self._failure:
            raise StudentError(self._failure)
        is_loaded = self._process is not None
        try:
            if self._process is None:
                await self._start()
                is_loaded = True
            assert self._process is not None
            self._process.send(base64.b64encode(pickle.dumps(arguments)).decode())
            return await self._read()
        except StudentError as error:
            self._failure = str(error)
            await self._stop()
            raise
        except TimeoutError:
            self._timeouts += 1
            text = Message("not finished after {:g} s (an endless loop?)", self._timeout)
            if self._timeouts == MAX_TIMEOUTS:
                self._failure = Message("not run, after {} timeouts", self._timeouts)
        except (EngineDiedError, TypeError, ValueError):
            assert self._process is not None
            text = Message("your program {}", await self._process.describe_end())
        # A file that does not load fails all tests. After other failures, the next call starts a
        # new process, unless there were too many timeouts.
        self._failure = self._failure if is_loaded else text
        await self._stop()
        raise StudentError(text)

    async def _start(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="kempelen-", ignore_cleanup_errors=True)
        self._process = await EngineProcess.start(
            sys.executable,
            ["-m", WORKER, self._task.name, str(self._file), self._language],
            directory=self._folder.name,
            environment=_environment(),
        )
        async with asyncio.timeout(START_TIMEOUT_S):
            self._worker = int((await self._read_data())["ready"])
        self.begin_test()
        data = await self._read()
        if "failed" in data:
            raise StudentError(str(data["failed"]))
        self.begin_test()

    async def _stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            await process.kill()
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    async def _read(self) -> dict[str, Any]:
        """Return the next answer. Raise TimeoutError if the test takes too long."""
        while True:
            started = time.monotonic()
            left = self._timeout - self._used()
            if left <= 0 or self._waited >= self._timeout * MAX_WAIT_FACTOR + MAX_EXTRA_WAIT_S:
                raise TimeoutError
            try:
                async with asyncio.timeout(left):
                    return await self._read_data()
            except TimeoutError:
                pass  # look at the processor time again
            finally:
                self._waited += time.monotonic() - started

    async def _read_data(self) -> dict[str, Any]:
        assert self._process is not None
        line = await self._process.read_line()
        try:
            data = json.loads(line)
        except (RecursionError, ValueError):
            data = None
        if not isinstance(data, dict):
            raise StudentError("your program sent an invalid answer")
        return data

    def _used(self) -> float:
        used = self._processor_time()
        return self._waited if used is None else used - self._used_before

    def _processor_time(self) -> float | None:
        """Return the processor time of the process in seconds, or None if it is unknown."""
        if sys.platform != "linux" or self._process is None:
            return None
        with contextlib.suppress(OSError):
            return time.clock_gettime(~self._worker << 3 | 2)  # clock_getcpuclockid of Linux
        return None


def student_value(data: dict[str, Any], arguments: tuple[Any, ...], task: Task) -> Any:
    """Return the value in an answer of a process, and record in the game what happened there."""
    if "error" in data:
        error = str(data["error"])
        if data.get("type") == NotImplementedError.__name__:  # an unchanged template
            raise StudentError(error)
        raise StudentError("{}\n{}", error, call_text(task, arguments))
    game = arguments[0]
    if isinstance(game, ObservedGame) and "leaves" in data:
        game.plays, game.plies = int(data["plays"]), int(data["plies"])
        game.leaves = {label: label for label in map(str, data["leaves"])}
    value = data["value"] if "value" in data else Unreadable(str(data["text"]))
    return value if is_plain_value(value) else Unreadable(str(data.get("text")))


def _environment() -> dict[str, str]:
    """Return the environment of a worker, which finds this package and writes no bytecode."""
    packages = str(Path(__file__).parents[3])
    paths = [packages, *filter(None, [os.environ.get("PYTHONPATH")])]
    return {"PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1"}


def _student_name(folder: Path) -> str:
    """Return the first line of the student's name file, or the name of the folder.

    The latter is used too if the name is not text in UTF-8, Windows-1252, or UTF-16 with a mark.
    """
    try:
        lines = read_text(folder / NAME_FILE, MAX_NAME_BYTES).strip().splitlines()
    except (OSError, ValueError):
        lines = []
    line = lines[0] if lines else ""
    name = "" if {"\0", "\ufffd"} & set(line) else sanitize_name(line)
    return name or folder.absolute().name
