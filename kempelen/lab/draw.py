"""`kempelen lab draw`: draw the searched tree with its values, visit order and cut-offs."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from agent.io.message import Message
from kempelen.console import pictures
from kempelen.lab import algorithm_arguments, language, limit_arguments, problems, tree_picture
from kempelen.lab.language import counted
from kempelen.lab.traced_search import trace_from


def configure(parser: ArgumentParser) -> None:
    problems.configure(parser, game="tree")
    algorithm_arguments.configure(parser, several=False)
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="FILE",
        help=Message("write the picture to FILE (suffix: {})", ", ".join(pictures.SUFFIXES)),
    )  # fmt: skip
    limit_arguments.configure(parser)


def run(arguments: Namespace) -> int:
    path = pictures.check_picture(arguments.output, libraries=tree_picture.LIBRARIES)
    translate = language.translator(arguments.lang)
    traced = trace_from(arguments, translate)
    root = traced.tree(translate)
    counts = traced.counts
    title = f"{traced.algorithm.text}: {counted(counts.leaves, 'leaf', 'leaves', translate)}, "
    title += counted(counts.nodes, "node", "nodes", translate)
    remarks = algorithm_arguments.remarks(traced.algorithm, traced.problem.game, translate)
    title = "\n".join([title, *remarks])
    pictures.save(tree_picture.tree_figure(root, title, translate), path)
    print(path)
    return 0
