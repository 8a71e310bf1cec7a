"""Define and parse the `--algorithm` option of the `kempelen lab` commands."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from agent.game import Game
from agent.search import algorithm_spec
from agent.search.algorithm_spec import AlgorithmSpec
from agent.search.catalogue import algorithms
from kempelen.lab.language import Translator
from kempelen.lab.problems import SearchProblem

ALL = "all"
NO_NULL_MOVE = "{}: this game has no null move, so the search is plain alpha-beta"


def configure(parser: ArgumentParser, *, several: bool) -> None:
    """Add the `--algorithm` option, which takes a comma-separated list if `several` is true."""
    parser.add_argument(
        "--algorithm",
        default=ALL if several else "alpha-beta",
        metavar="A[,B...]" if several else "A",
        help="algorithms, separated by commas (default: all that support the game)"
        if several
        else "algorithm with its options (default: alpha-beta)",
    )


def parse_algorithms(text: str, problem: SearchProblem) -> list[AlgorithmSpec]:
    """Parse comma-separated algorithm names, or "all" for every algorithm that supports the game.

    Raise ValueError if a name or an option is unknown.
    """
    if text.strip() != ALL:
        return [algorithm_spec.parse(name) for name in text.split(",")]
    all_specs = [AlgorithmSpec(name, kind, {}) for name, kind in algorithms().items()]
    return [spec for spec in all_specs if spec.supports(problem.game)]


def remarks(spec: AlgorithmSpec, game: Game[Any], translate: Translator) -> list[str]:
    """Return what to tell about an algorithm that searches this game in another way."""
    if not spec.lacks_null_moves(game):
        return []
    return [translate(NO_NULL_MOVE).format(spec.text)]
