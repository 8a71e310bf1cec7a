"""Run a search and record its steps."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import isfinite
from typing import Any

from agent.game import NotatedGame
from agent.games.tree import NO_ANNOTATION, Node, Tree
from agent.search import algorithm_spec
from agent.search.algorithm_spec import AlgorithmSpec
from agent.search.algorithms.b_star import BStar
from agent.search.algorithms.mcts import UCT
from agent.search.algorithms.sss_star import SSSStar
from agent.search.tree_cursor import Label
from kempelen.lab import comparison, language, problems
from kempelen.lab.problems import SearchProblem
from kempelen.lab.recordings.best_first import BStarRecorder, OpenListRecorder
from kempelen.lab.recordings.playouts import PlayoutRecorder
from kempelen.lab.recordings.recorder import Ending, Recorder
from kempelen.lab.recordings.recording import RecordedNode, Recording
from kempelen.lab.recordings.recursion import RecursionRecorder
from kempelen.lab.search_tree import line_labels
from kempelen.lab.traced_search import TracedSearch, trace_search

# Default limits of recorded nodes and playouts.
MAX_NODES, MAX_PLAYOUTS = 20_000, 200
# Larger trees are not editable on the page.
MAX_EDITABLE_NODES = 60


def record_from(arguments: Namespace, algorithm_text: str) -> Recording:
    """Run and record the search that the arguments describe, with this algorithm.

    Raise ValueError, OSError or EvaluationError if the arguments are invalid.
    """
    problem = problems.problem_from(arguments)
    algorithm = algorithm_spec.parse(algorithm_text)
    max_nodes = MAX_NODES if arguments.nodes is None else arguments.nodes
    return record_search(
        problem, algorithm, seed=arguments.seed, max_nodes=max_nodes, seconds=arguments.movetime
    )


def record_search(
    problem: SearchProblem,
    algorithm: AlgorithmSpec,
    *,
    seed: int = 0,
    max_nodes: int = MAX_NODES,
    seconds: float | None = None,
) -> Recording:
    """Run a search and return its recording.

    The search stops after `max_nodes` nodes or `seconds` seconds. UCT stops after 200 playouts if
    the algorithm does not specify their number.
    """
    if issubclass(algorithm.search_class, UCT) and "playouts" not in algorithm.options:
        options = algorithm.options | {"playouts": MAX_PLAYOUTS}
        algorithm = replace(algorithm, options=options)
    traced = trace_search(
        problem, algorithm, seed=seed, node_limit=max_nodes, seconds=seconds, detailed=True
    )
    line = line_labels(problem.game, traced.pv)
    recorder = _recorder(problem.game, algorithm)
    recorder.record(traced.events, _ending(traced, line))
    return Recording(
        problem.name,
        algorithm.text,
        recorder.nodes,
        recorder.steps,
        recorder.listing,
        comparison.theory_for(problem, seed),
        tuple(recorder.numbers[each] for each in line if each in recorder.numbers),
        traced.stopped or traced.counts.nodes >= max_nodes,
        _editable_tree(problem.game, recorder.nodes),
        recorder.other_form,
        tuple(recorder.other_listing),
    )


def _ending(traced: TracedSearch, line: Sequence[Label]) -> Ending:
    result = traced.result
    if result is None:
        return Ending()
    meaning = traced.algorithm.value_meaning(traced.problem.game)
    value = language.format_result(result.value, result.decided, meaning)
    is_proven = bool(traced.algorithm.options.get("solver")) and result.value == 1
    return Ending(line[1] if len(line) > 1 else None, value, is_proven)


def _editable_tree(game: NotatedGame[Any], nodes: list[RecordedNode]) -> dict[str, Any] | None:
    """Return the tree as nested data in the format of a tree file, or None if it is not editable.

    Only explicit trees with finite values and at most `MAX_EDITABLE_NODES` nodes are editable.
    """
    if not isinstance(game, Tree) or len(nodes) > MAX_EDITABLE_NODES:
        return None

    def node_data(node: Node, path: tuple[int, ...]) -> dict[str, Any]:
        note = game.notes.get(path, NO_ANNOTATION)
        data: dict[str, Any] = {"name": note.name} if note.name else {}
        if all(map(isfinite, note.bounds)):
            data["lower"], data["upper"] = note.bounds
        if note.static_value is not None:
            data["value"] = note.static_value
        if note.chances:
            data["chances"] = ", ".join(map(_chance_text, note.chances))
        if isinstance(node, list):
            data["children"] = [node_data(child, (*path, at)) for at, child in enumerate(node, 1)]
        else:
            data["value"] = node
        return data

    return node_data(game.root, ()) if isfinite(game.max_utility()) else None


def _chance_text(chance: float) -> str:
    fraction = Fraction(chance).limit_denominator(10_000)
    return str(fraction if float(fraction) == chance else chance)


def _recorder(game: NotatedGame[Any], algorithm: AlgorithmSpec) -> Recorder:
    if issubclass(algorithm.search_class, UCT):
        return PlayoutRecorder(game, algorithm)
    if issubclass(algorithm.search_class, SSSStar):
        return OpenListRecorder(game, algorithm)
    if issubclass(algorithm.search_class, BStar):
        return BStarRecorder(game, algorithm)
    return RecursionRecorder(game, algorithm)
