"""`kempelen lab`: compare, trace, draw and practise search algorithms."""

from __future__ import annotations

import sys
from argparse import SUPPRESS, RawDescriptionHelpFormatter
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

# Action: its module in kempelen.lab, and its help line.
ACTIONS = {
    "run": ("comparison", "compare algorithms on the same positions"),
    "play": ("play", "play games, and learn from unexpected outcomes with a killer memory"),
    "trace": ("trace", "print the steps of an algorithm"),
    "draw": ("draw", "draw the tree that an algorithm searches"),
    "plot": ("plot", "plot leaves against depth and branching factor, with the theory"),
    "solve": ("solve", "solve a game: its value and how to win"),
    "figures": ("notes.figures", "create the lecture notes' tables and figures, as one page"),
    "learn": ("learn", "learn a game by self-play: a network, or weights of features"),
    "step": ("step", "show the steps of an algorithm, forward and back, on a page"),
    "cfr": ("cfr", "solve a game with hidden information by regret minimisation"),
    "max-n": ("max_n", "search a game for three or more players by max-n"),
    "assignment": ("assignment", "make and grade assignments: algorithms that students write"),
    "exercise": ("exercise", "ask about trees, check the answers, and collect them"),
}


def configure(parser: ArgumentParser) -> None:
    from kempelen.console.game_arguments import catalogue_help
    from kempelen.lab import language
    from kempelen.lab.localized_parser import LocalizedParser

    parser.__class__ = LocalizedParser  # prints help and errors in the language of --lang
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = catalogue_help()
    language.configure(parser, default="en")
    actions = parser.add_subparsers(
        dest="action", metavar="ACTION", required=True, parser_class=LocalizedParser
    )
    for name, (module, help_line) in ACTIONS.items():
        action = actions.add_parser(name, help=help_line, description=help_line)
        import_module(f"kempelen.lab.{module}").configure(action)
        language.configure(action, default=SUPPRESS)


def run(arguments: Namespace) -> int:
    """Run the chosen action. Return its exit status, or 2 after an error."""
    from agent.evaluation import EvaluationError
    from agent.io import user_code
    from kempelen.console.terminal import print_error
    from kempelen.console.translation import error_message

    if isinstance(sys.stdout, TextIOWrapper) and sys.stdout.encoding.lower() != "utf-8":
        sys.stdout.reconfigure(encoding="utf-8")  # for ε, ∞ and ≥
    module, _ = ACTIONS[arguments.action]
    try:
        return int(import_module(f"kempelen.lab.{module}").run(arguments))
    except BrokenPipeError:  # kempelen.cli handles it
        raise
    except RecursionError:
        failed: Exception = ValueError(
            "the search went too deep: use a smaller --depth, a smaller game (--size) or a later "
            "position (--moves)"
        )
    except Exception as error:
        if isinstance(error, EvaluationError | OSError | TypeError | ValueError):
            failed = error
        elif _is_raised_by_user(error):  # a game of the user
            failed = ValueError(user_code.describe(error))
        else:
            raise
    print_error(error_message(failed, arguments.lang), "kempelen lab")
    return 2


def _is_raised_by_user(error: Exception) -> bool:
    """Return whether the code of a user takes part in an error."""
    from agent.io import user_code

    own = [Path(__file__).parents[2] / name for name in user_code.PACKAGES]
    trace = error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        is_own = any(map(Path(file).is_relative_to, own))
        if not (is_own or file.startswith("<") or user_code.is_library(file)):
            return True
        trace = trace.tb_next
    return False
