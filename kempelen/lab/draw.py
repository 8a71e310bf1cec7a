"""`kempelen lab draw`: the tree that an algorithm searches, with all that it found."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from kempelen import pictures
from kempelen.lab import algorithms, limits, picture, subject, words
from kempelen.lab.observation import trace_search
from kempelen.lab.sketch import search_tree


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    subject.configure(parser, game="tree")
    algorithms.configure(parser, several=False)
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="FILE",
        help=f"the picture; its name ends in {', '.join(pictures.SUFFIXES)}",
    )  # fmt: skip
    limits.configure(parser)


def run(arguments: Namespace) -> int:
    """Search, draw and say where the picture is."""
    path = pictures.check_picture(arguments.output, libraries=picture.LIBRARIES)
    translate = words.translator(arguments.lang)
    seen = trace_search(arguments, translate)
    drawn = search_tree(seen.problem.game, seen.problem.depth, seen.events, seen.pv, translate)
    title = f"{seen.algorithm.text}: {seen.counts.leaves} {translate('leaves')}, "
    title += f"{seen.counts.nodes} {translate('nodes')}"
    pictures.save(picture.tree_figure(drawn, title, translate), path)
    print(path)
    return 0
