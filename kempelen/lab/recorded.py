"""A search that the command line names, recorded step by step."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from math import isfinite
from typing import Any

from agent.game import Written
from agent.games.tree import UNNOTED, Node, Tree
from agent.search import configuration
from agent.search.b_star import BStar
from agent.search.configuration import Configuration
from agent.search.counts import SearchStopped
from agent.search.mcts import UCT
from agent.search.observing import Event
from agent.search.observing_closely import closely_observed
from agent.search.sss_star import SSSStar
from kempelen.lab import comparison, limits, subject
from kempelen.lab.recorded_best_first import BoundsRecorder, ListRecorder
from kempelen.lab.recorded_playouts import PlayoutRecorder
from kempelen.lab.recorded_recursion import RecursionRecorder
from kempelen.lab.recorder import Recorder
from kempelen.lab.recording import Place, Recording
from kempelen.lab.subject import Subject

# The most nodes that are recorded, and the most playouts, where nobody says.
MOST_NODES, MOST_PLAYOUTS = 20_000, 200
# A tree of more nodes is not built by clicks.
MOST_GIVEN = 60


def from_arguments(arguments: Namespace) -> Recording:
    """Search as the arguments say, and return the recording. Raises as `subject` does."""
    at = subject.subject(arguments)
    algorithm = configuration.read(arguments.algorithm)
    most = MOST_NODES if arguments.nodes is None else arguments.nodes
    return record(at, algorithm, seed=arguments.seed, most=most, seconds=arguments.movetime)


def record(
    at: Subject,
    algorithm: Configuration,
    *,
    seed: int = 0,
    most: int = MOST_NODES,
    seconds: float | None = None,
) -> Recording:
    """Search, `most` nodes at most, and return the recording."""
    if issubclass(algorithm.kind, UCT) and "playouts" not in algorithm.options:
        options = algorithm.options | {"playouts": MOST_PLAYOUTS}
        algorithm = replace(algorithm, options=options)
    events: list[Event] = []
    kind = closely_observed(algorithm.kind, events.append)
    search = at.search(algorithm, seed=seed, node_limit=most, kind=kind)
    principal: tuple[Any, ...] = ()
    stopped = False
    try:
        with limits.in_time(search, seconds):
            principal = search.search(at.game, at.depth).pv
    except SearchStopped:
        stopped = True
    stopped = stopped or search.counts.nodes >= most
    recorder = _recorder(at.game, algorithm)
    recorder.record(events)
    return Recording(
        at.name,
        algorithm.text,
        recorder.nodes,
        recorder.steps,
        recorder.listing,
        comparison.theory_of(at, seed),
        _nodes_of(at.game, recorder, principal),
        stopped,
        _given(at.game, recorder.nodes),
    )


def _given(game: Written[Any], nodes: list[Place]) -> dict[str, Any] | None:
    """Return a tree that was given, each node by the keys of its file.

    None of one that is large, has infinite values, which JSON cannot tell, or is no tree.
    """
    if not isinstance(game, Tree) or len(nodes) > MOST_GIVEN:
        return None

    def told(node: Node, path: tuple[int, ...]) -> dict[str, Any]:
        note = game.notes.get(path, UNNOTED)
        found: dict[str, Any] = {"name": note.name} if note.name else {}
        if all(map(isfinite, note.bounds)):
            found["lower"], found["upper"] = note.bounds
        if isinstance(node, list):
            found["children"] = [told(each, (*path, at)) for at, each in enumerate(node, 1)]
        else:
            found["value"] = node
        return found

    return told(game.root, ()) if isfinite(game.greatest()) else None


def _recorder(game: Written[Any], algorithm: Configuration) -> Recorder:
    if issubclass(algorithm.kind, UCT):
        return PlayoutRecorder(game, algorithm)
    if issubclass(algorithm.kind, SSSStar):
        return ListRecorder(game, algorithm)
    if issubclass(algorithm.kind, BStar):
        return BoundsRecorder(game, algorithm)
    return RecursionRecorder(game, algorithm)


def _nodes_of(
    game: Written[Any], recorder: Recorder, principal: tuple[Any, ...]
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
