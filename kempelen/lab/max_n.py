"""`kempelen lab max-n`: search a small game for three or more players by max-n."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from typing import Any

from rich.tree import Tree as RichTree

from agent.games.coin_row import CoinRow
from agent.search.max_n import MaxNNode, Values, max_n
from kempelen.console.argument_types import positive_int
from kempelen.lab import language
from kempelen.lab.language import Translator, format_value
from kempelen.lab.output import print_plain

# Larger trees are not printed.
MAX_PRINTED_NODES = 200


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--coins", type=_parse_coins, default=(4, 9, 2, 7, 5), metavar="N,N...",
        help="values of the coins; players in turn take one from either end (default: 4,9,2,7,5)",
    )  # fmt: skip
    parser.add_argument(
        "--players", type=positive_int, default=3, metavar="N",
        help="number of players (default: 3)",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: Namespace) -> int:
    translate = language.translator(arguments.lang)
    game = CoinRow(arguments.coins, arguments.players)
    root = max_n(game)
    line, count = root.line(), root.count()
    if arguments.json:
        print(json.dumps({"values": root.values, "line": line, "nodes": count}))
        return 0
    if count <= MAX_PRINTED_NODES:
        print_plain(_tree(root, _node_text(root, "", translate), game, translate))
    print_plain(
        f"{translate('values')} {_format_values(root.values)}",
        f"{translate('best play')}: {' '.join(line)}",
        f"{count} {translate('nodes')}",
    )
    return 0


def _tree(node: MaxNNode[str], text: str, game: CoinRow, translate: Translator) -> RichTree:
    drawn = RichTree(text)
    for index, (move, child) in enumerate(zip(node.moves, node.children, strict=True)):
        mark = "*" if index == node.best else ""
        game.play(move)
        below = _node_text(child, f"{move}{mark}  ", translate)
        drawn.add(_tree(child, below, game, translate))
        game.undo()
    return drawn


def _node_text(node: MaxNNode[Any], prefix: str, translate: Translator) -> str:
    values = _format_values(node.values)
    if not node.moves:
        return f"{prefix}{values}"
    return f"{prefix}{translate('player')} {node.player + 1}  {values}"


def _format_values(values: Values) -> str:
    return f"({', '.join(map(format_value, values))})"


def _parse_coins(text: str) -> tuple[int, ...]:
    return tuple(positive_int(each) for each in text.split(","))
