"""Grade the folders of students. Their code runs in processes with limits of time and memory."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.io.message import Message
from agent.io.sanitize import sanitize_name
from agent.io.text_files import read_text
from kempelen.console.translation import translate
from kempelen.lab.assignments.tasks import GradedTest, Task
from protocols.client.process import EngineDiedError, EngineProcess

NAME_FILE = "name.txt"
MAX_NAME_BYTES = 1000
WORKER = "kempelen.lab.assignments.worker"
# Time limit to start a process, in seconds.
START_TIMEOUT_S = 60.0
# After this number of timeouts, the other tests of a task are not run.
MAX_TIMEOUTS = 2


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
    """Run all tests on the files in a folder. `timeout` is in seconds per test."""
    results: list[GradedResult] = []
    for task in tasks:
        file = folder / task.file
        if file.is_file():
            results += asyncio.run(_grade_task(task, file.absolute(), language, timeout))
        else:
            missing = translate(Message("{} is missing", task.file), language)
            results += [GradedResult(task, test, 0, missing) for test in task.tests]
    absent = tuple(task for task in tasks if not (folder / task.file).is_file())
    return Grade(folder, _student_name(folder), tuple(results), absent)


async def _grade_task(task: Task, file: Path, language: str, timeout: float) -> list[GradedResult]:
    """Run the tests in a process. If one of them ends it, run the others in another process."""
    results: list[GradedResult] = []
    timeouts = 0
    while len(results) < len(task.tests):
        is_loaded = False
        with tempfile.TemporaryDirectory(
            prefix="kempelen-", ignore_cleanup_errors=True
        ) as directory:
            process = await EngineProcess.start(
                sys.executable,
                ["-m", WORKER, task.name, str(file), language, str(len(results))],
                directory=directory,
                environment=_environment(),
            )
            try:
                async for data in _lines(process, timeout):
                    is_loaded = is_loaded or "loaded" in data
                    if "failed" in data:
                        reason = str(data["failed"])
                        break
                    if data.get("test") == len(results):
                        test = task.tests[len(results)]
                        points = max(0, min(int(data.get("points", 0)), test.points))
                        explanation = str(data.get("explanation", ""))
                        results.append(GradedResult(task, test, points, explanation))
                        if len(results) == len(task.tests):
                            return results
            except TimeoutError:
                timeouts += 1
                reason = Message("not finished after {:g} s (an endless loop?)", timeout)
            except (EngineDiedError, TypeError, ValueError):
                reason = Message("your program {}", await process.describe_end())
            finally:
                await process.kill()
        # A file that cannot be loaded fails every test. Otherwise the other tests go on.
        rest = task.tests[len(results) :]
        explanation = translate(reason, language)
        results += [
            GradedResult(task, test, 0, explanation) for test in rest[: 1 if is_loaded else None]
        ]
        if timeouts == MAX_TIMEOUTS:
            skipped = translate(Message("not run, after {} timeouts", timeouts), language)
            rest = task.tests[len(results) :]
            results += [GradedResult(task, test, 0, skipped) for test in rest]
    return results


async def _lines(process: EngineProcess, timeout: float) -> Any:
    """Yield the data that a worker writes. Raise TimeoutError if a line takes too long."""
    limit = START_TIMEOUT_S
    while True:
        async with asyncio.timeout(limit):
            data = json.loads(await process.read_line())
        if not isinstance(data, dict):
            raise ValueError
        yield data
        limit = timeout


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
