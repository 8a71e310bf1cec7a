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

from agent.io import files
from agent.io.sanitize import sanitize_name
from kempelen.lab.exercises.exercise import Exercise, ExerciseSpec
from kempelen.lab.exercises.generator import make_exercise
from kempelen.lab.exercises.marking import MAX_ANSWER_LENGTH, Mark

FORMAT = "kempelen lab exercise"
VERSION = 1
# The largest file, the most exercises in it, and the most answers to one.
MAX_FILE_BYTES, MAX_EXERCISES, MAX_ANSWERS = 1 << 20, 200, 100


@dataclass(frozen=True)
class Attempts:
    """The answers to an exercise, in their order. solved: the key was shown at the end."""

    spec: ExerciseSpec
    answers: tuple[str, ...] = ()
    solved: bool = False


@dataclass(frozen=True)
class MarkedExercise:
    """An exercise with the marks of its answers; what could not be read has none."""

    spec: ExerciseSpec
    marks: tuple[Mark | None, ...]
    parts: int

    @property
    def right(self) -> bool:
        """Whether an answer was right."""
        return any(mark is not None and mark.right for mark in self.marks)

    @property
    def right_at_first(self) -> bool:
        """Whether the first answer was."""
        return bool(self.marks) and self.marks[0] is not None and self.marks[0].right

    @property
    def points(self) -> int:
        """The points of the best answer."""
        return max((mark.points for mark in self.marks if mark is not None), default=0)


def merge_attempts(earlier: Sequence[Attempts], later: Sequence[Attempts]) -> list[Attempts]:
    """Return earlier answers with later ones to the same exercises behind them.

    Of too many the last is kept; once the key was shown no answer counts any more.
    """
    found = {each.spec: each for each in earlier}
    for each in later:
        before = found.get(each.spec, Attempts(each.spec))
        if not before.solved:
            answers = before.answers + each.answers
            if len(answers) > MAX_ANSWERS:
                answers = (*answers[: MAX_ANSWERS - 1], answers[-1])
            found[each.spec] = Attempts(each.spec, answers, each.solved)
    return list(found.values())


def write_results(path: Path, name: str, attempts: Sequence[Attempts]) -> None:
    """Write a student's results."""
    told = {
        "format": FORMAT,
        "version": VERSION,
        "name": name,
        "exercises": [
            {**asdict(each.spec), "answers": list(each.answers), "solved": each.solved}
            for each in attempts
        ],
    }
    text = json.dumps(told, ensure_ascii=False, indent=1)
    files.replace_atomically(path, f"{text}\n".encode())


def read_marked(path: Path) -> tuple[str, list[MarkedExercise]]:
    """Read a student's results and mark them anew. Raises ValueError as `read` does."""
    name, attempts = read_results(path)
    try:
        return name, mark_attempts(attempts)
    except ValueError as error:
        raise ValueError(f"{path} is no file of results: {error}") from None


def read_results(path: Path) -> tuple[str, list[Attempts]]:
    """Read a student's name and answers.

    Raises ValueError, naming the file and what is wrong, for a file that holds none.
    """
    try:
        told = json.loads(files.read_text(path, MAX_FILE_BYTES))
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise ValueError(f"{path} is no file of results: it is not JSON") from None
    try:
        return _parse_results(told)
    except ValueError as error:
        raise ValueError(f"{path} is no file of results: {error}") from None


def mark_attempts(attempts: Sequence[Attempts]) -> list[MarkedExercise]:
    """Make the exercises again and mark their answers."""
    found = []
    for each in attempts:
        made = make_exercise(each.spec)
        marks = tuple(_mark(made, answer) for answer in each.answers)
        found.append(MarkedExercise(each.spec, marks, len(made.key)))
    return found


def _mark(made: Exercise, answer: str) -> Mark | None:
    try:
        return made.mark(answer)
    except ValueError:
        return None


def _parse_results(told: Any) -> tuple[str, list[Attempts]]:
    if not isinstance(told, dict) or told.get("format") != FORMAT:
        raise ValueError("it was not written by lab exercise")
    if told.get("version") != VERSION:
        raise ValueError("it is of another version")
    name, listed = told.get("name"), told.get("exercises")
    if not isinstance(name, str) or not isinstance(listed, list):
        raise ValueError("it has no name, or no exercises")
    if len(listed) > MAX_EXERCISES:
        raise ValueError(f"it has more than {MAX_EXERCISES} exercises")
    attempts = [_parse_attempts(each) for each in listed]
    if len({each.spec for each in attempts}) < len(attempts):
        raise ValueError("it has an exercise twice")
    return sanitize_name(name), attempts


def _parse_attempts(told: Any) -> Attempts:
    kinds: dict[str, type] = {"kind": str, "algorithm": str}
    try:
        given = {each.name: told[each.name] for each in fields(ExerciseSpec)}
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
    if len(answers) > MAX_ANSWERS or any(len(each) > MAX_ANSWER_LENGTH for each in answers):
        raise ValueError("an exercise has too many answers, or too long ones")
    return Attempts(ExerciseSpec(**given), tuple(answers), solved)
