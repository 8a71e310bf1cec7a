"""`kempelen tune`: what can be tuned, a module for each."""

from argparse import ArgumentParser, Namespace
from importlib import import_module
from typing import Any

TARGETS = {
    "search": "the constants of the search, or the options of any engine, by games (SPSA)",
    "evaluation": "the weights of the hand-made evaluation, by Texel's method",
    "patterns": "the weights of moves of Go, by minorisation-maximisation",
}
MODULES = {
    "search": "kempelen.match.tune_search",
    "evaluation": "kempelen.training.tune_evaluation",
    "patterns": "kempelen.training.tune_patterns",
}


def configure(parser: ArgumentParser) -> None:
    """Declare what can be tuned, and the arguments."""
    actions = parser.add_subparsers(dest="action", metavar="WHAT", required=True)
    for name, help_line in TARGETS.items():
        action = actions.add_parser(name, help=help_line, description=help_line)
        _target_module(name).configure(action)


def run(arguments: Namespace) -> int:
    """Tune, and return the exit status."""
    return int(_target_module(arguments.action).run(arguments))


def _target_module(name: str) -> Any:
    return import_module(MODULES[name])
