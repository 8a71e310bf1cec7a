"""`kempelen lab draw`: the tree that an algorithm searches, with all that it found."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from kempelen import pictures
from kempelen.lab import algorithms, limits, picture, subject, words
from kempelen.lab.observation import observe
from kempelen.lab.sketch import sketch


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
    say = words.language(arguments.lang)
    seen = observe(arguments, say)
    drawn = sketch(seen.at.game, seen.at.depth, seen.events, seen.pv, say)
    title = f"{seen.algorithm.text}: {seen.counts.leaves} {say('leaves')}, "
    title += f"{seen.counts.nodes} {say('nodes')}"
    pictures.save(picture.tree_figure(drawn, title, say), path)
    print(path)
    return 0
