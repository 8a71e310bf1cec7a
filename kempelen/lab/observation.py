"""One search that the command line names, with all that happens in it."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import dataclass
from typing import Any

from agent.search import configuration
from agent.search.configuration import AlgorithmSpec
from agent.search.counts import SearchStats, SearchStopped
from agent.search.observing import Event, traced
from kempelen.lab import limits, subject, words
from kempelen.lab.output import working
from kempelen.lab.subject import SearchProblem


@dataclass(frozen=True)
class TracedSearch:
    """What was seen of a search. pv: the line that it found, () if it was stopped."""

    problem: SearchProblem
    algorithm: AlgorithmSpec
    events: list[Event]
    counts: SearchStats
    pv: tuple[Any, ...] = ()


def trace_search(arguments: Namespace, translate: words.Translator) -> TracedSearch:
    """Search; what a limit stops ends with its last event. Raises as `subject` does."""
    problem = subject.problem_from(arguments)
    algorithm = configuration.parse(arguments.algorithm)
    events: list[Event] = []
    search = problem.search(
        algorithm,
        seed=arguments.seed,
        node_limit=limits.node_limit_from(arguments),
        kind=traced(algorithm.search_class, events.append),
    )
    pv: tuple[Any, ...] = ()
    try:
        with working(translate("searching")), limits.time_limited(search, arguments.movetime):
            pv = search.search(problem.game, problem.depth).pv
    except SearchStopped:
        pass
    return TracedSearch(problem, algorithm, events, search.counts, pv)
