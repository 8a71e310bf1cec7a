"""`kempelen train tune`: tune search parameters or evaluation weights."""

from argparse import ArgumentParser, Namespace
from importlib import import_module
from typing import Any

TARGETS = {
    "search": "tune the constants of the search, or the options of any engine, by games (SPSA)",
    "evaluation": "fit the weights of the hand-written evaluation, by Texel's method",
    "patterns": "fit the weights of move patterns of Go, by minorisation-maximisation",
    "network": "train the policy and value network of Go",
    "variant": "train the network that corrects the evaluation of a variant of chess",
}
MODULES = {
    "search": "kempelen.match.tune_search",
    "evaluation": "kempelen.training.tune_evaluation",
    "patterns": "kempelen.training.tune_patterns",
    "network": "kempelen.training.tune_network",
    "variant": "kempelen.training.tune_variant",
}


def configure(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="WHAT", required=True)
    for name, help_line in TARGETS.items():
        action = actions.add_parser(name, help=help_line, description=help_line)
        _target_module(name).configure(action)


def run(arguments: Namespace) -> int:
    return int(_target_module(arguments.action).run(arguments))


def _target_module(name: str) -> Any:
    return import_module(MODULES[name])
