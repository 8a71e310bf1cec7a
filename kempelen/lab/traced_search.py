"""Run a search and record its trace events."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import dataclass
from math import inf
from typing import Any

from agent.search import algorithm_spec
from agent.search.algorithm_spec import AlgorithmSpec
from agent.search.algorithms.and_or import AndOr
from agent.search.search import SearchResult
from agent.search.stats import SearchStats, SearchStopped
from agent.search.tracing import Event, traced
from kempelen.lab import language, limit_arguments, problems
from kempelen.lab.output import working
from kempelen.lab.problems import SearchProblem
from kempelen.lab.search_tree import SearchTreeNode, search_tree


@dataclass(frozen=True)
class TracedSearch:
    """A search with its trace events.

    `stopped` tells whether a limit stopped the search. If so, `result` is None, and `pv`, the
    principal variation, is empty.
    """

    problem: SearchProblem
    algorithm: AlgorithmSpec
    events: list[Event]
    counts: SearchStats
    stopped: bool
    result: SearchResult[Any] | None = None

    @property
    def pv(self) -> tuple[Any, ...]:
        return () if self.result is None else self.result.pv

    def tree(self, translate: language.Translator) -> SearchTreeNode:
        """Return the searched tree for drawing."""
        problem = self.problem
        return search_tree(
            problem.game,
            problem.depth,
            self.events,
            self.pv,
            translate,
            is_and_or=issubclass(self.algorithm.search_class, AndOr),
        )


def trace_search(
    problem: SearchProblem,
    algorithm: AlgorithmSpec,
    *,
    seed: int = 0,
    node_limit: float = inf,
    seconds: float | None = None,
    detailed: bool = False,
) -> TracedSearch:
    """Run a search within limits, and record its events."""
    events: list[Event] = []
    search = problem.search(algorithm, seed=seed, node_limit=node_limit)
    result: SearchResult[Any] | None = None
    stopped = False
    try:
        with limit_arguments.time_limited(search, seconds):
            traced(search, events.append, detailed=detailed)
            result = search.search(problem.game, problem.depth)
    except SearchStopped:
        stopped = True
    return TracedSearch(problem, algorithm, events, search.counts, stopped, result)


def trace_from(arguments: Namespace, translate: language.Translator) -> TracedSearch:
    """Trace the search that the arguments describe.

    Raise ValueError, OSError or EvaluationError if the arguments are invalid.
    """
    problem = problems.problem_from(arguments)
    algorithm = algorithm_spec.parse(arguments.algorithm)
    limit = limit_arguments.node_limit_from(arguments)
    with working(translate("searching")):
        return trace_search(
            problem, algorithm, seed=arguments.seed, node_limit=limit, seconds=arguments.movetime
        )
