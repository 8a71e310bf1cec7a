"""Generate exercises from their specifications."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from math import isfinite
from random import Random
from typing import Any

from agent.games.tree import ChanceTree
from agent.io.message import Message
from agent.search import algorithm_spec
from kempelen.lab.exercises.exercise import (
    BRANCHINGS,
    DEPTHS,
    MAX_TREE_LENGTH,
    MAX_TRIES,
    CutOffs,
    Exercise,
    ExerciseSpec,
    LeafOrder,
    MinimaxValues,
    given_tree,
    iter_nodes,
)
from kempelen.lab.exercises.expectiminimax_exercise import ExpectiminimaxValues
from kempelen.lab.exercises.marking import NUMBER, format_number
from kempelen.lab.exercises.other_exercises import (
    Backpropagation,
    BStarBounds,
    LeafCounts,
    NimSums,
)
from kempelen.lab.exercises.sss_star_exercise import NextRow
from kempelen.lab.exercises.uct_exercise import UctPath
from kempelen.lab.exercises.window_exercises import (
    WINDOW_ALGORITHMS,
    MtdPasses,
    NullWindows,
    ScoutTests,
    window_algorithm,
)
from kempelen.lab.language import format_label

ExerciseGenerator = Callable[[ExerciseSpec, Random], "Exercise | None"]

KINDS: dict[str, ExerciseGenerator] = {
    "values": MinimaxValues.generate,
    "order": LeafOrder.generate,
    "cuts": CutOffs.generate,
    "list": NextRow.generate,
    "uct": UctPath.generate,
    "expectiminimax": ExpectiminimaxValues.generate,
    "tests": ScoutTests.generate,
    "windows": NullWindows.generate,
    "passes": MtdPasses.generate,
    "backup": Backpropagation.generate,
    "bounds": BStarBounds.generate,
    "nim": NimSums.generate,
    "counts": LeafCounts.generate,
}
# Kinds that are possible on a given tree, with and without chance nodes.
TREE_KINDS = ("values", "order", "cuts", "list", "tests", "windows", "passes")
CHANCE_TREE_KINDS = ("expectiminimax",)
# Algorithm of each exercise kind. For "order" and "windows", the specification names it.
ALGORITHMS = {
    "values": "minimax",
    "cuts": "alpha-beta",
    "list": "sss-star",
    "uct": "uct",
    "expectiminimax": "expectiminimax",
    "tests": "scout",
    "passes": "mtd-f",
    "backup": "uct",
    "bounds": "b-star",
    "nim": "",
    "counts": "",
}
# Maximum value of a seed, student number or exercise number.
MAX_NUMBER = 10**9
# Maximum mean number of leaves, so that students can solve the exercise by hand.
MAX_LEAVES = 45


def make_exercise(spec: ExerciseSpec) -> Exercise:
    """Generate the exercise that a specification describes.

    Raise ValueError if the specification is invalid or no suitable tree is found.
    """
    check_spec(spec)
    generate, random = KINDS[spec.kind], spec.random()
    for _ in range(1 if spec.tree else MAX_TRIES):
        exercise = generate(spec, random)
        if exercise is not None:
            return exercise
    if spec.tree:
        raise ValueError(Message("--tree: no {} exercise is possible on this tree", spec.kind))
    raise ValueError(
        Message(
            "no {} exercise found on trees with depth {} and branching factor {} (use "
            "larger values)",
            spec.kind,
            spec.depth,
            spec.branching,
        )
    )


def spec_as_json(spec: ExerciseSpec) -> dict[str, Any]:
    """Convert a specification to JSON data. "algorithm" is what the exercise uses."""
    data = {**asdict(spec), "algorithm": ALGORITHMS.get(spec.kind, spec.algorithm)}
    if spec.kind == "windows":
        data["algorithm"] = window_algorithm(spec)
    if not spec.tree:
        del data["tree"]
    return data


def check_spec(spec: ExerciseSpec) -> None:
    """Raise ValueError if the specification is invalid."""
    if spec.kind not in KINDS:
        raise ValueError(
            Message("unknown exercise kind {!r} (expected one of: {})", spec.kind, _kind_names())
        )
    if spec.tree:
        _check_tree(spec)
    for template, value, (minimum, maximum) in (
        ("exercise depth: must be from {} to {} (got {})", spec.depth, DEPTHS),
        ("exercise branching: must be from {} to {} (got {})", spec.branching, BRANCHINGS),
        ("exercise seed: must be from {} to {} (got {})", spec.seed, (-MAX_NUMBER, MAX_NUMBER)),
        ("exercise student: must be from {} to {} (got {})", spec.student, (1, MAX_NUMBER)),
        ("exercise number: must be from {} to {} (got {})", spec.number, (1, MAX_NUMBER)),
    ):
        if not minimum <= value <= maximum:
            raise ValueError(Message(template, minimum, maximum, value))
    if not spec.tree and ((2 + spec.branching) / 2) ** spec.depth > MAX_LEAVES:
        raise ValueError(
            Message(
                "tree with depth {} and branching factor {}: too many leaves for an exercise "
                "(use smaller values)",
                spec.depth,
                spec.branching,
            )
        )
    if spec.kind == "windows" and spec.algorithm not in ("alpha-beta", *WINDOW_ALGORITHMS):
        raise ValueError(
            Message(
                "{}: not usable for exercises on windows (expected one of: {})",
                spec.algorithm,
                ", ".join(WINDOW_ALGORITHMS),
            )
        )
    if spec.kind == "order":
        algorithm = algorithm_spec.parse(spec.algorithm)
        if not algorithm.search_class.exact or "killer_memory" in algorithm.options:
            raise ValueError(
                Message(
                    "{}: not usable for exercises on the order of visits (use an exact algorithm "
                    "without files, such as alpha-beta, scout or sss-star)",
                    spec.algorithm,
                )
            )


def tree_kinds(spec: ExerciseSpec) -> list[str]:
    """Return the kinds of exercises that are possible on the tree of a specification."""
    kinds = []
    for kind in CHANCE_TREE_KINDS if isinstance(given_tree(spec), ChanceTree) else TREE_KINDS:
        with contextlib.suppress(ValueError):
            make_exercise(replace(spec, kind=kind))
            kinds.append(kind)
    return kinds


def make_exercises(
    kinds: Iterable[str], *, seed: int, student: int, count: int, depth: int, branching: int,
    algorithm: str, tree: str = "",
) -> list[Exercise]:  # fmt: skip
    """Return `count` exercises of each kind for one student.

    Raise ValueError if a specification is invalid or no suitable tree is found.
    """
    return [
        make_exercise(ExerciseSpec(kind, seed, student, number, depth, branching, algorithm, tree))
        for kind in kinds
        for number in range(1, count + 1)
    ]


def _check_tree(spec: ExerciseSpec) -> None:
    if len(spec.tree) > MAX_TREE_LENGTH:
        raise ValueError(Message("tree: too long (at most {} characters)", MAX_TREE_LENGTH))
    tree = given_tree(spec)
    is_chance = isinstance(tree, ChanceTree)
    kinds = CHANCE_TREE_KINDS if is_chance else TREE_KINDS
    if spec.kind not in kinds or tree.outcome() is not None:
        raise ValueError(
            Message(
                "--tree: no {} exercise is possible on this tree (expected one of: {})",
                spec.kind,
                ", ".join(kinds),
            )
        )
    for path, node in iter_nodes(tree.root):
        if isinstance(node, list):
            continue
        if not isfinite(node) or not re.fullmatch(NUMBER, format_number(node)):
            raise ValueError(
                Message(
                    "--tree: {}: exercises need values with at most 5 digits before and after the "
                    "point (got {})",
                    format_label(path),
                    node,
                )
            )


def _kind_names() -> str:
    return ", ".join(KINDS)
