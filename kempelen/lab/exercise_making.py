"""Exercises of every kind by their origins, and what origins there may be."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict
from random import Random
from typing import Any

from agent.search import configuration
from kempelen.lab.exercise_kinds import (
    BRANCHINGS,
    DEPTHS,
    TRIES,
    Cuts,
    Exercise,
    LeafOrder,
    Origin,
    Values,
)
from kempelen.lab.exercise_list import NextRow
from kempelen.lab.exercise_uct import UctPath

Made = Callable[[Origin, Random], "Exercise | None"]

KINDS: dict[str, Made] = {
    "values": Values.made,
    "order": LeafOrder.made,
    "cuts": Cuts.made,
    "list": NextRow.made,
    "uct": UctPath.made,
}
# Whose work an exercise asks for, where its origin does not say.
ALGORITHMS = {"values": "minimax", "cuts": "alpha-beta", "list": "sss-star", "uct": "uct"}
# Seeds and numbers of students and exercises that an origin may have.
MOST_NUMBER = 10**9
# The mean leaves of a tree that a person can still work through.
MOST_LEAVES = 45


def exercise(origin: Origin) -> Exercise:
    """Return the exercise that follows from an origin.

    Raises ValueError for an origin that cannot be.
    """
    check(origin)
    made, random = KINDS[origin.kind], origin.random()
    for _ in range(TRIES):
        found = made(origin, random)
        if found is not None:
            return found
    raise ValueError(
        f"no exercise of the kind {origin.kind} was found on trees of depth {origin.depth} and "
        f"branching {origin.branching}: use greater ones"
    )


def told(origin: Origin) -> dict[str, Any]:
    """Return an exercise's origin for a teacher, with the algorithm whose work it asks for."""
    return {**asdict(origin), "algorithm": ALGORITHMS.get(origin.kind, origin.algorithm)}


def check(origin: Origin) -> None:
    """Raise ValueError, naming what there is, for an origin that cannot be."""
    if origin.kind not in KINDS:
        raise ValueError(f"there is no kind {origin.kind!r} of exercises; there are {_kinds()}")
    for name, value, (least, most) in (
        ("depth", origin.depth, DEPTHS),
        ("branching", origin.branching, BRANCHINGS),
        ("seed", origin.seed, (-MOST_NUMBER, MOST_NUMBER)),
        ("student", origin.student, (1, MOST_NUMBER)),
        ("number", origin.number, (1, MOST_NUMBER)),
    ):
        if not least <= value <= most:
            raise ValueError(f"exercises have a {name} from {least} to {most}, not {value}")
    if ((2 + origin.branching) / 2) ** origin.depth > MOST_LEAVES:
        raise ValueError(
            f"trees of depth {origin.depth} and branching {origin.branching} have too many leaves "
            "for an exercise: use smaller ones"
        )
    if origin.kind == "order":
        chosen = configuration.read(origin.algorithm)
        if not chosen.kind.exact or "killer_memory" in chosen.options:
            raise ValueError(
                f"{origin.algorithm} does not find the minimax value, or keeps a file: for the "
                "order of visits use another algorithm, such as alpha-beta, scout or sss-star"
            )


def several(
    kinds: Iterable[str], *, seed: int, student: int, count: int, depth: int, branching: int,
    algorithm: str,
) -> list[Exercise]:  # fmt: skip
    """Return so many exercises of each kind, for one student."""
    return [
        exercise(Origin(kind, seed, student, number, depth, branching, algorithm))
        for kind in kinds
        for number in range(1, count + 1)
    ]


def _kinds() -> str:
    return ", ".join(KINDS)
