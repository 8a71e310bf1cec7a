"""One search that the command line names, with all that happens in it."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import dataclass
from typing import Any

from agent.search import configuration
from agent.search.configuration import Configuration
from agent.search.counts import Counts, SearchStopped
from agent.search.observing import Event, observed
from kempelen.lab import limits, subject, words
from kempelen.lab.output import working
from kempelen.lab.subject import Subject


@dataclass(frozen=True)
class Observation:
    """What was seen of a search. pv: the line that it found, () if it was stopped."""

    at: Subject
    algorithm: Configuration
    events: list[Event]
    counts: Counts
    pv: tuple[Any, ...] = ()


def observe(arguments: Namespace, say: words.Say) -> Observation:
    """Search; what a limit stops ends with its last event. Raises as `subject` does."""
    at = subject.subject(arguments)
    algorithm = configuration.read(arguments.algorithm)
    events: list[Event] = []
    search = at.search(
        algorithm,
        seed=arguments.seed,
        node_limit=limits.node_limit(arguments),
        kind=observed(algorithm.kind, events.append),
    )
    pv: tuple[Any, ...] = ()
    try:
        with working(say("searching")), limits.in_time(search, arguments.movetime):
            pv = search.search(at.game, at.depth).pv
    except SearchStopped:
        pass
    return Observation(at, algorithm, events, search.counts, pv)
