"""`kempelen lab draw`: the tree that an algorithm searches, with all that it found."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from kempelen.console import pictures
from kempelen.lab import algorithm_arguments, language, limit_arguments, problems, tree_picture
from kempelen.lab.search_tree import search_tree
from kempelen.lab.traced_search import trace_search


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    problems.configure(parser, game="tree")
    algorithm_arguments.configure(parser, several=False)
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="FILE",
        help=f"the picture; its name ends in {', '.join(pictures.SUFFIXES)}",
    )  # fmt: skip
    limit_arguments.configure(parser)


def run(arguments: Namespace) -> int:
    """Search, draw and say where the picture is."""
    path = pictures.check_picture(arguments.output, libraries=tree_picture.LIBRARIES)
    translate = language.translator(arguments.lang)
    seen = trace_search(arguments, translate)
    drawn = search_tree(seen.problem.game, seen.problem.depth, seen.events, seen.pv, translate)
    title = f"{seen.algorithm.text}: {seen.counts.leaves} {translate('leaves')}, "
    title += f"{seen.counts.nodes} {translate('nodes')}"
    pictures.save(tree_picture.tree_figure(drawn, title, translate), path)
    print(path)
    return 0
