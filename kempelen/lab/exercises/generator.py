"""Exercises of every kind by their origins, and what origins there may be."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict
from random import Random
from typing import Any

from agent.search import algorithm_spec
from kempelen.lab.exercises.exercise import (
    BRANCHINGS,
    DEPTHS,
    MAX_TRIES,
    CutOffs,
    Exercise,
    ExerciseSpec,
    LeafOrder,
    MinimaxValues,
)
from kempelen.lab.exercises.sss_star_exercise import NextRow
from kempelen.lab.exercises.uct_exercise import UctPath

ExerciseGenerator = Callable[[ExerciseSpec, Random], "Exercise | None"]

KINDS: dict[str, ExerciseGenerator] = {
    "values": MinimaxValues.generate,
    "order": LeafOrder.generate,
    "cuts": CutOffs.generate,
    "list": NextRow.generate,
    "uct": UctPath.generate,
}
# Whose work an exercise asks for, where its origin does not say.
ALGORITHMS = {"values": "minimax", "cuts": "alpha-beta", "list": "sss-star", "uct": "uct"}
# Seeds and numbers of students and exercises that an origin may have.
MAX_NUMBER = 10**9
# The mean leaves of a tree that a person can still work through.
MAX_LEAVES = 45


def make_exercise(spec: ExerciseSpec) -> Exercise:
    """Return the exercise that follows from an origin.

    Raises ValueError for an origin that cannot be.
    """
    check_spec(spec)
    made, random = KINDS[spec.kind], spec.random()
    for _ in range(MAX_TRIES):
        found = made(spec, random)
        if found is not None:
            return found
    raise ValueError(
        f"no exercise of the kind {spec.kind} was found on trees of depth {spec.depth} and "
        f"branching {spec.branching}: use greater ones"
    )


def spec_as_json(spec: ExerciseSpec) -> dict[str, Any]:
    """Return an exercise's origin for a teacher, with the algorithm whose work it asks for."""
    return {**asdict(spec), "algorithm": ALGORITHMS.get(spec.kind, spec.algorithm)}


def check_spec(spec: ExerciseSpec) -> None:
    """Raise ValueError, naming what there is, for an origin that cannot be."""
    if spec.kind not in KINDS:
        raise ValueError(f"there is no kind {spec.kind!r} of exercises; there are {_kind_names()}")
    for name, value, (least, most) in (
        ("depth", spec.depth, DEPTHS),
        ("branching", spec.branching, BRANCHINGS),
        ("seed", spec.seed, (-MAX_NUMBER, MAX_NUMBER)),
        ("student", spec.student, (1, MAX_NUMBER)),
        ("number", spec.number, (1, MAX_NUMBER)),
    ):
        if not least <= value <= most:
            raise ValueError(f"exercises have a {name} from {least} to {most}, not {value}")
    if ((2 + spec.branching) / 2) ** spec.depth > MAX_LEAVES:
        raise ValueError(
            f"trees of depth {spec.depth} and branching {spec.branching} have too many leaves "
            "for an exercise: use smaller ones"
        )
    if spec.kind == "order":
        chosen = algorithm_spec.parse(spec.algorithm)
        if not chosen.search_class.exact or "killer_memory" in chosen.options:
            raise ValueError(
                f"{spec.algorithm} does not find the minimax value, or keeps a file: for the "
                "order of visits use another algorithm, such as alpha-beta, scout or sss-star"
            )


def make_exercises(
    kinds: Iterable[str], *, seed: int, student: int, count: int, depth: int, branching: int,
    algorithm: str,
) -> list[Exercise]:  # fmt: skip
    """Return so many exercises of each kind, for one student."""
    return [
        make_exercise(ExerciseSpec(kind, seed, student, number, depth, branching, algorithm))
        for kind in kinds
        for number in range(1, count + 1)
    ]


def _kind_names() -> str:
    return ", ".join(KINDS)
