"""`kempelen perft`: count the leaves of the tree of legal moves."""

from __future__ import annotations

import json
import time
from threading import Event
from typing import TYPE_CHECKING

from agent.games.variants import STANDARD, VARIANTS, ChessRules, parse_variant
from kempelen.console.argument_types import positive_int
from kempelen.console.terminal import load_kernels, print_error, with_progress

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

# Deeper trees are too large to count.
MAX_DEPTH = 100


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("depth", type=positive_int, help="depth in plies")
    parser.add_argument("--fen", help="FEN of the position (default: the start position)")
    parser.add_argument(
        "--chess960", action="store_true", help="use the castling rules of Chess960"
    )
    parser.add_argument(
        "--variant", metavar="NAME", default=STANDARD,
        help=f"variant: {', '.join(VARIANTS)} (default: {STANDARD})",
    )  # fmt: skip
    parser.add_argument("--divide", action="store_true", help="also print the count of each move")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: Namespace) -> int:
    """Print the number of leaves as the last line. Return 2 if an argument is invalid."""
    from protocols.uci.parsing import UciError
    from protocols.uci.position import read_board

    if arguments.depth > MAX_DEPTH:
        print_error(f"depth must be at most {MAX_DEPTH} (got {arguments.depth})", "kempelen perft")
        return 2
    try:
        rules = ChessRules(parse_variant(arguments.variant), arguments.chess960)
        board = read_board(arguments.fen, rules)
    except (UciError, ValueError) as error:
        print_error(error, "kempelen perft")
        return 2
    load_kernels()
    from agent.chess.board.perft import divide

    began = time.perf_counter()
    moves = divide(board, arguments.depth, Event())
    shown = with_progress(moves, board.legal_moves.count(), f"perft {arguments.depth}")
    counts = {move.uci(): leaves for move, leaves in shown}
    seconds = time.perf_counter() - began
    total = sum(counts.values())
    if arguments.json:
        found = {"depth": arguments.depth, "leaves": total, "seconds": seconds}
        print(json.dumps(found | ({"moves": counts} if arguments.divide else {})))
        return 0
    if arguments.divide:
        for move, leaves in counts.items():
            print(f"{move}: {leaves}")
    print(total)
    return 0
