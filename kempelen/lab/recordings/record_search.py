"""A search that the command line names, recorded step by step."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from math import isfinite
from typing import Any

from agent.game import NotatedGame
from agent.games.tree import NO_ANNOTATION, Node, Tree
from agent.search import algorithm_spec
from agent.search.algorithm_spec import AlgorithmSpec
from agent.search.algorithms.b_star import BStar
from agent.search.algorithms.mcts import UCT
from agent.search.algorithms.sss_star import SSSStar
from agent.search.stats import SearchStopped
from agent.search.tracing.detailed_tracing import traced_in_detail
from agent.search.tracing.search_tracing import Event
from kempelen.lab import comparison, limit_arguments, problems
from kempelen.lab.problems import SearchProblem
from kempelen.lab.recordings.best_first import BStarRecorder, OpenListRecorder
from kempelen.lab.recordings.playouts import PlayoutRecorder
from kempelen.lab.recordings.recorder import Recorder
from kempelen.lab.recordings.recording import RecordedNode, Recording
from kempelen.lab.recordings.recursion import RecursionRecorder

# The most nodes that are recorded, and the most playouts, where nobody says.
MAX_NODES, MAX_PLAYOUTS = 20_000, 200
# A tree of more nodes is not built by clicks.
MAX_EDITABLE_NODES = 60


def record_from(arguments: Namespace) -> Recording:
    """Search as the arguments say, and return the recording. Raises as `subject` does."""
    at = problems.problem_from(arguments)
    algorithm = algorithm_spec.parse(arguments.algorithm)
    max_nodes = MAX_NODES if arguments.nodes is None else arguments.nodes
    return record_search(
        at, algorithm, seed=arguments.seed, max_nodes=max_nodes, seconds=arguments.movetime
    )


def record_search(
    at: SearchProblem,
    algorithm: AlgorithmSpec,
    *,
    seed: int = 0,
    max_nodes: int = MAX_NODES,
    seconds: float | None = None,
) -> Recording:
    """Search, `most` nodes at most, and return the recording."""
    if issubclass(algorithm.search_class, UCT) and "playouts" not in algorithm.options:
        options = algorithm.options | {"playouts": MAX_PLAYOUTS}
        algorithm = replace(algorithm, options=options)
    events: list[Event] = []
    kind = traced_in_detail(algorithm.search_class, events.append)
    search = at.search(algorithm, seed=seed, node_limit=max_nodes, kind=kind)
    principal: tuple[Any, ...] = ()
    stopped = False
    try:
        with limit_arguments.time_limited(search, seconds):
            principal = search.search(at.game, at.depth).pv
    except SearchStopped:
        stopped = True
    stopped = stopped or search.counts.nodes >= max_nodes
    recorder = _recorder(at.game, algorithm)
    recorder.record(events)
    return Recording(
        at.name,
        algorithm.text,
        recorder.nodes,
        recorder.steps,
        recorder.listing,
        comparison.theory_for(at, seed),
        _variation_nodes(at.game, recorder, principal),
        stopped,
        _editable_tree(at.game, recorder.nodes),
    )


def _editable_tree(game: NotatedGame[Any], nodes: list[RecordedNode]) -> dict[str, Any] | None:
    """Return a tree that was given, each node by the keys of its file.

    None of one that is large, has infinite values, which JSON cannot tell, or is no tree.
    """
    if not isinstance(game, Tree) or len(nodes) > MAX_EDITABLE_NODES:
        return None

    def told(node: Node, path: tuple[int, ...]) -> dict[str, Any]:
        note = game.notes.get(path, NO_ANNOTATION)
        found: dict[str, Any] = {"name": note.name} if note.name else {}
        if all(map(isfinite, note.bounds)):
            found["lower"], found["upper"] = note.bounds
        if isinstance(node, list):
            found["children"] = [told(each, (*path, at)) for at, each in enumerate(node, 1)]
        else:
            found["value"] = node
        return found

    return told(game.root, ()) if isfinite(game.max_utility()) else None


def _recorder(game: NotatedGame[Any], algorithm: AlgorithmSpec) -> Recorder:
    if issubclass(algorithm.search_class, UCT):
        return PlayoutRecorder(game, algorithm)
    if issubclass(algorithm.search_class, SSSStar):
        return OpenListRecorder(game, algorithm)
    if issubclass(algorithm.search_class, BStar):
        return BStarRecorder(game, algorithm)
    return RecursionRecorder(game, algorithm)


def _variation_nodes(
    game: NotatedGame[Any], recorder: Recorder, principal: tuple[Any, ...]
) -> tuple[int, ...]:
    """Return the nodes of a variation, as far as they were recorded."""
    numbers = {
        (node.parent, node.place): number for number, node in enumerate(recorder.nodes) if number
    }
    way, played = [0], 0
    for move in principal:
        node = numbers.get((way[-1], list(game.moves()).index(move) + 1))
        if node is None:
            break
        way.append(node)
        game.play(move)
        played += 1
    for _ in range(played):
        game.undo()
    return tuple(way)
