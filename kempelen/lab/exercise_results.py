"""What a student answered, as a file that a teacher collects.

The file holds the answers and what the exercises follow from, and no marks: whoever collects makes
the exercises again and marks the answers anew, so that nobody can write himself a better one.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from agent.border import files
from agent.border.plain_text import plain_name
from kempelen.lab.exercise_kinds import Exercise, Origin
from kempelen.lab.exercise_making import exercise
from kempelen.lab.exercise_marks import LONGEST, Mark

FORMAT = "kempelen lab exercise"
VERSION = 1
# The largest file, the most exercises in it, and the most answers to one.
LARGEST, MOST_EXERCISES, MOST_ANSWERS = 1 << 20, 200, 100


@dataclass(frozen=True)
class Attempts:
    """The answers to an exercise, in their order. solved: the key was shown at the end."""

    origin: Origin
    answers: tuple[str, ...] = ()
    solved: bool = False


@dataclass(frozen=True)
class Marked:
    """An exercise with the marks of its answers; what could not be read has none."""

    origin: Origin
    marks: tuple[Mark | None, ...]
    parts: int

    @property
    def right(self) -> bool:
        """Whether an answer was right."""
        return any(mark is not None and mark.right for mark in self.marks)

    @property
    def at_once(self) -> bool:
        """Whether the first answer was."""
        return bool(self.marks) and self.marks[0] is not None and self.marks[0].right

    @property
    def points(self) -> int:
        """The points of the best answer."""
        return max((mark.points for mark in self.marks if mark is not None), default=0)


def continued(earlier: Sequence[Attempts], later: Sequence[Attempts]) -> list[Attempts]:
    """Return earlier answers with later ones to the same exercises behind them.

    Of too many the last is kept; once the key was shown no answer counts any more.
    """
    found = {each.origin: each for each in earlier}
    for each in later:
        before = found.get(each.origin, Attempts(each.origin))
        if not before.solved:
            answers = before.answers + each.answers
            if len(answers) > MOST_ANSWERS:
                answers = (*answers[: MOST_ANSWERS - 1], answers[-1])
            found[each.origin] = Attempts(each.origin, answers, each.solved)
    return list(found.values())


def write(path: Path, name: str, attempts: Sequence[Attempts]) -> None:
    """Write a student's results."""
    told = {
        "format": FORMAT,
        "version": VERSION,
        "name": name,
        "exercises": [
            {**asdict(each.origin), "answers": list(each.answers), "solved": each.solved}
            for each in attempts
        ],
    }
    text = json.dumps(told, ensure_ascii=False, indent=1)
    files.replace_atomically(path, f"{text}\n".encode())


def collected(path: Path) -> tuple[str, list[Marked]]:
    """Read a student's results and mark them anew. Raises ValueError as `read` does."""
    name, attempts = read(path)
    try:
        return name, marked(attempts)
    except ValueError as error:
        raise ValueError(f"{path} is no file of results: {error}") from None


def read(path: Path) -> tuple[str, list[Attempts]]:
    """Read a student's name and answers.

    Raises ValueError, naming the file and what is wrong, for a file that holds none.
    """
    try:
        told = json.loads(files.read_text(path, LARGEST))
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise ValueError(f"{path} is no file of results: it is not JSON") from None
    try:
        return _read(told)
    except ValueError as error:
        raise ValueError(f"{path} is no file of results: {error}") from None


def marked(attempts: Sequence[Attempts]) -> list[Marked]:
    """Make the exercises again and mark their answers."""
    found = []
    for each in attempts:
        made = exercise(each.origin)
        marks = tuple(_mark(made, answer) for answer in each.answers)
        found.append(Marked(each.origin, marks, len(made.key)))
    return found


def _mark(made: Exercise, answer: str) -> Mark | None:
    try:
        return made.marked(answer)
    except ValueError:
        return None


def _read(told: Any) -> tuple[str, list[Attempts]]:
    if not isinstance(told, dict) or told.get("format") != FORMAT:
        raise ValueError("it was not written by lab exercise")
    if told.get("version") != VERSION:
        raise ValueError("it is of another version")
    name, listed = told.get("name"), told.get("exercises")
    if not isinstance(name, str) or not isinstance(listed, list):
        raise ValueError("it has no name, or no exercises")
    if len(listed) > MOST_EXERCISES:
        raise ValueError(f"it has more than {MOST_EXERCISES} exercises")
    attempts = [_attempts(each) for each in listed]
    if len({each.origin for each in attempts}) < len(attempts):
        raise ValueError("it has an exercise twice")
    return plain_name(name), attempts


def _attempts(told: Any) -> Attempts:
    kinds: dict[str, type] = {"kind": str, "algorithm": str}
    try:
        given = {each.name: told[each.name] for each in fields(Origin)}
        answers, solved = told["answers"], told["solved"]
    except (KeyError, TypeError):
        raise ValueError("an exercise lacks something") from None
    if (
        any(type(value) is not kinds.get(name, int) for name, value in given.items())
        or type(solved) is not bool
        or not isinstance(answers, list)
        or not all(isinstance(each, str) for each in answers)
    ):
        raise ValueError("an exercise is not told as it should be")
    if len(answers) > MOST_ANSWERS or any(len(each) > LONGEST for each in answers):
        raise ValueError("an exercise has too many answers, or too long ones")
    return Attempts(Origin(**given), tuple(answers), solved)
