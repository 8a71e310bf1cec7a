"""Read and write results files, which contain the answers of one student.

A file contains no marks, so that students cannot forge them. The marks are always computed from
the answers.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from agent.io.files import replace_atomically
from agent.io.message import Message
from agent.io.sanitize import sanitize_name
from agent.io.text_files import read_text
from kempelen.lab.exercises.exercise import Exercise, ExerciseSpec
from kempelen.lab.exercises.generator import make_exercise
from kempelen.lab.exercises.marking import MAX_ANSWER_LENGTH, Mark

FORMAT = "kempelen lab exercise"
VERSION = 1
# Maximum file size, exercises per file, and answers per exercise.
MAX_FILE_BYTES, MAX_EXERCISES, MAX_ANSWERS = 1 << 20, 200, 100


@dataclass(frozen=True)
class ExerciseAnswers:
    """A student's answers to one exercise, in chronological order.

    `solved` tells whether the student viewed the correct answer after the last attempt.
    """

    spec: ExerciseSpec
    answers: tuple[str, ...] = ()
    solved: bool = False


@dataclass(frozen=True)
class MarkedExercise:
    """An exercise and the marks of its answers. The mark of a malformed answer is None.

    `parts` is the maximum number of points.
    """

    spec: ExerciseSpec
    marks: tuple[Mark | None, ...]
    parts: int

    @property
    def right(self) -> bool:
        """Whether at least one answer is correct."""
        return any(mark is not None and mark.right for mark in self.marks)

    @property
    def right_at_first(self) -> bool:
        return bool(self.marks) and self.marks[0] is not None and self.marks[0].right

    @property
    def points(self) -> int:
        """The points of the best answer."""
        return max((mark.points for mark in self.marks if mark is not None), default=0)


def merge_attempts(
    earlier: Sequence[ExerciseAnswers], later: Sequence[ExerciseAnswers]
) -> list[ExerciseAnswers]:
    """For each exercise, append the later answers to the earlier answers.

    Answers given after the student viewed the correct answer are ignored. If there are more than
    `MAX_ANSWERS`, only the last answer and the earliest ones are kept.
    """
    merged = {each.spec: each for each in earlier}
    for each in later:
        previous = merged.get(each.spec, ExerciseAnswers(each.spec))
        if not previous.solved:
            answers = previous.answers + each.answers
            if len(answers) > MAX_ANSWERS:
                answers = (*answers[: MAX_ANSWERS - 1], answers[-1])
            merged[each.spec] = ExerciseAnswers(each.spec, answers, each.solved)
    return list(merged.values())


def write_results(path: Path, name: str, attempts: Sequence[ExerciseAnswers]) -> None:
    data = {
        "format": FORMAT,
        "version": VERSION,
        "name": name,
        "exercises": [
            {**asdict(each.spec), "answers": list(each.answers), "solved": each.solved}
            for each in attempts
        ],
    }
    text = json.dumps(data, ensure_ascii=False, indent=1)
    replace_atomically(path, f"{text}\n".encode())


def read_marked(path: Path) -> tuple[str, list[MarkedExercise]]:
    """Return the student's name and the marked exercises of a results file.

    Raise ValueError if the file is invalid.
    """
    name, attempts = read_results(path)
    try:
        return name, mark_attempts(attempts)
    except ValueError as error:
        raise ValueError(Message("{}: invalid results file: {}", path, error)) from None


def read_results(path: Path) -> tuple[str, list[ExerciseAnswers]]:
    """Return the student's name and answers of a results file.

    Raise ValueError, with the file name in the message, if the file is unreadable or invalid.
    """
    try:
        data = json.loads(read_text(path, MAX_FILE_BYTES))
    except OSError as error:
        raise ValueError(Message("{}: cannot read file: {}", path, error)) from None
    except (ValueError, RecursionError):
        raise ValueError(
            Message("{}: invalid results file: {}", path, Message("not JSON"))
        ) from None
    try:
        return _parse_results(data)
    except ValueError as error:
        raise ValueError(Message("{}: invalid results file: {}", path, error)) from None


def mark_attempts(attempts: Sequence[ExerciseAnswers]) -> list[MarkedExercise]:
    """Generate the exercises again and mark the answers."""
    marked = []
    for each in attempts:
        exercise = make_exercise(each.spec)
        marks = tuple(_mark(exercise, answer) for answer in each.answers)
        marked.append(MarkedExercise(each.spec, marks, len(exercise.key)))
    return marked


def _mark(made: Exercise, answer: str) -> Mark | None:
    try:
        return made.mark(answer)
    except ValueError:
        return None


def _parse_results(data: Any) -> tuple[str, list[ExerciseAnswers]]:
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ValueError("not written by lab exercise")
    if data.get("version") != VERSION:
        raise ValueError("unsupported version")
    name, entries = data.get("name"), data.get("exercises")
    if not isinstance(name, str) or not isinstance(entries, list):
        raise ValueError("name or exercises missing")
    if len(entries) > MAX_EXERCISES:
        raise ValueError(Message("more than {} exercises", MAX_EXERCISES))
    attempts = [_parse_attempts(each) for each in entries]
    if len({each.spec for each in attempts}) < len(attempts):
        raise ValueError("duplicate exercise")
    return sanitize_name(name), attempts


def _parse_attempts(data: Any) -> ExerciseAnswers:
    types: dict[str, type] = {"kind": str, "algorithm": str, "tree": str}
    try:
        data = {"tree": "", **data}  # files of earlier versions contain no trees
        values = {field.name: data[field.name] for field in fields(ExerciseSpec)}
        answers, solved = data["answers"], data["solved"]
    except (KeyError, TypeError):
        raise ValueError("exercise with a missing key") from None
    if (
        any(type(value) is not types.get(name, int) for name, value in values.items())
        or type(solved) is not bool
        or not isinstance(answers, list)
        or not all(isinstance(field, str) for field in answers)
    ):
        raise ValueError("exercise with a value of the wrong type")
    if len(answers) > MAX_ANSWERS or any(len(field) > MAX_ANSWER_LENGTH for field in answers):
        raise ValueError("exercise with too many answers, or an answer that is too long")
    return ExerciseAnswers(ExerciseSpec(**values), tuple(answers), solved)
