"""`kempelen lab draw`: the tree that an algorithm searches, with all that it found."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from agent.search import configuration
from agent.search.counts import SearchStopped
from agent.search.observing import Event, observed
from kempelen.lab import algorithms, limits, picture, subject, words
from kempelen.lab.output import working
from kempelen.lab.sketch import sketch


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    subject.configure(parser, game="tree")
    algorithms.configure(parser, several=False)
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="FILE",
        help=f"the picture; its name ends in {', '.join(picture.SUFFIXES)}",
    )  # fmt: skip
    limits.configure(parser)


def run(arguments: Namespace) -> int:
    """Search, draw and say where the picture is."""
    path = picture.check_output(arguments.output)
    at = subject.subject(arguments)
    algorithm = configuration.read(arguments.algorithm)
    say = words.language(arguments.lang)
    events: list[Event] = []
    search = at.search(
        algorithm,
        seed=arguments.seed,
        node_limit=limits.node_limit(arguments),
        kind=observed(algorithm.kind, events.append),
    )
    pv = ()
    try:
        with working(say("searching")), limits.in_time(search, arguments.movetime):
            pv = search.search(at.game, at.depth).pv
    except SearchStopped:
        pass
    drawn = sketch(at.game, at.depth, events, pv, say)
    title = f"{algorithm.text}: {search.counts.leaves} {say('leaves')}, "
    title += f"{search.counts.nodes} {say('nodes')}"
    picture.save(picture.tree_figure(drawn, title, say), path)
    print(path)
    return 0
