"""The algorithms that the lab looks at, as they are named on the command line."""

from __future__ import annotations

from argparse import ArgumentParser

from agent.search import algorithm_spec
from agent.search.algorithm_spec import AlgorithmSpec
from agent.search.catalogue import algorithms
from kempelen.lab.problems import SearchProblem

ALL = "all"


def configure(parser: ArgumentParser, *, several: bool) -> None:
    """Declare the argument that names algorithms: several by commas, or one."""
    parser.add_argument(
        "--algorithm",
        default=ALL if several else "alpha-beta",
        metavar="A[,B...]" if several else "A",
        help=f"default: {ALL}" if several else "default: alpha-beta",
    )


def parse_algorithms(text: str, subject: SearchProblem) -> list[AlgorithmSpec]:
    """Read names by commas; `all` is every algorithm that fits the game.

    Raises ValueError, naming what there is, for a name or an option that there is not.
    """
    if text.strip() != ALL:
        return [algorithm_spec.parse(each) for each in text.split(",")]
    every = [AlgorithmSpec(name, kind, {}) for name, kind in algorithms().items()]
    return [each for each in every if each.supports(subject.game)]
