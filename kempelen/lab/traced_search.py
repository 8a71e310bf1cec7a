"""Run a search and record its trace events."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import dataclass
from typing import Any

from agent.search import algorithm_spec
from agent.search.algorithm_spec import AlgorithmSpec
from agent.search.stats import SearchStats, SearchStopped
from agent.search.tracing.search_tracing import Event, traced
from kempelen.lab import language, limit_arguments, problems
from kempelen.lab.output import working
from kempelen.lab.problems import SearchProblem


@dataclass(frozen=True)
class TracedSearch:
    """A search with its trace events.

    `pv`, the principal variation, is empty if a limit stopped the search.
    """

    problem: SearchProblem
    algorithm: AlgorithmSpec
    events: list[Event]
    counts: SearchStats
    pv: tuple[Any, ...] = ()


def trace_search(arguments: Namespace, translate: language.Translator) -> TracedSearch:
    """Run the search that the arguments describe, and record its events.

    Raise ValueError, OSError or EvaluationError if the arguments are invalid.
    """
    problem = problems.problem_from(arguments)
    algorithm = algorithm_spec.parse(arguments.algorithm)
    events: list[Event] = []
    search = problem.search(
        algorithm,
        seed=arguments.seed,
        node_limit=limit_arguments.node_limit_from(arguments),
        kind=traced(algorithm.search_class, events.append),
    )
    pv: tuple[Any, ...] = ()
    try:
        with (
            working(translate("searching")),
            limit_arguments.time_limited(search, arguments.movetime),
        ):
            pv = search.search(problem.game, problem.depth).pv
    except SearchStopped:
        pass
    return TracedSearch(problem, algorithm, events, search.counts, pv)
