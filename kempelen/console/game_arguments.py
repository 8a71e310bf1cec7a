"""Command-line arguments for a game, its options and an evaluation."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from inspect import signature
from textwrap import wrap
from typing import Any

from agent.evaluation import HANDCRAFTED
from agent.games import catalogue
from agent.games.catalogue import GameType
from agent.games.tree import MAX_LEVELS, MAX_NODES, is_inline_tree, parse_tree, read_tree
from agent.search.catalogue import ALIASES, REMARKS, algorithms
from kempelen.console.argument_types import AppendNamed
from kempelen.console.game_options import options_for, read_option

CATALOGUE_PLACEHOLDER = "the games and the algorithms"


def configure(parser: ArgumentParser, *, game: str | None = None, size: str = "--size") -> None:
    """Add the arguments. `game` is the default game, and `size` is another name for `--size`."""
    which = parser.add_mutually_exclusive_group(required=game is None)
    which.add_argument(
        "--game", default=game, metavar="G",
        help="a game's name, or FILE.py:Class"
        if game is None
        else "a game's name, or FILE.py:Class (default: %(default)s)",
    )  # fmt: skip
    which.add_argument(
        "--tree",
        metavar="FILE.yaml",
        help='file of a tree, as nested lists of leaf values, or such a list: "[[3, 5], [2, 9]]"',
    )
    parser.add_argument(
        *dict.fromkeys(("--size", "--state", size)),
        dest="size",
        metavar="VALUE",
        help="the game's first option: the size of the board, the heaps (3,4,5), or the counters",
    )
    parser.add_argument(
        "--option", action=AppendNamed, default=[], type=read_option, metavar="NAME=VALUE",
        help="another option of the game, such as misere=true; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--evaluation", default=HANDCRAFTED.name, metavar="FILE.py:function",
        help="evaluation from the side of the player to move (default: the game's own)",
    )  # fmt: skip


class CatalogueHelpFormatter(RawDescriptionHelpFormatter):
    """A help formatter that replaces CATALOGUE_PLACEHOLDER with lists of games and algorithms."""

    def add_text(self, text: str | None) -> None:
        super().add_text(catalogue_help() if text == CATALOGUE_PLACEHOLDER else text)


def catalogue_help() -> str:
    """Return the help text that lists all games and algorithms."""
    return "\n".join(
        [
            "games:",
            *_wrapped(catalogue.names()),
            "algorithms:",
            *_wrapped([*algorithms(), *ALIASES]),
            "names that are easily confused:",
            *(f"  {name}: {REMARKS[name]}" for name in REMARKS),
            "an algorithm may have options: alpha-beta+table+killers+history, mcts+playouts=500;",
            "  an unknown option is answered with a list of all options",
        ]
    )


def game_from(
    arguments: Namespace, defaults: Mapping[str, Any] | None = None
) -> tuple[GameType, dict[str, Any]]:
    """Return the type and the options of the chosen game.

    `defaults` contains default option values, and may contain options of other games. Raise
    ValueError or OSError if the game or its options are invalid.
    """
    if arguments.tree is not None:
        if arguments.size is not None or arguments.option:
            raise ValueError("--tree: a tree from a file has neither --size nor --option")
        if is_inline_tree(arguments.tree):
            tree = parse_tree(arguments.tree, MAX_NODES, MAX_LEVELS)
        else:
            tree = read_tree(arguments.tree)
        kind = replace(catalogue.find("tree"), game_class=type(tree))
        return kind, {"root": tree.root, "notes": tree.notes}
    kind = catalogue.find(arguments.game)
    known = signature(kind.game_class).parameters
    options = {name: value for name, value in (defaults or {}).items() if name in known}
    options |= options_for(kind, arguments.size, arguments.option)
    return kind, options


def _wrapped(names: Iterable[str]) -> list[str]:
    return wrap(", ".join(names), 78, initial_indent="  ", subsequent_indent="  ")
