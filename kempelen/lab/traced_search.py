"""One search that the command line names, with all that happens in it."""

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
    """What was seen of a search. pv: the line that it found, () if it was stopped."""

    problem: SearchProblem
    algorithm: AlgorithmSpec
    events: list[Event]
    counts: SearchStats
    pv: tuple[Any, ...] = ()


def trace_search(arguments: Namespace, translate: language.Translator) -> TracedSearch:
    """Search; what a limit stops ends with its last event. Raises as `subject` does."""
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
