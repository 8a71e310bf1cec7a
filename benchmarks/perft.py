"""Perft: check known counts, and compare the speed with python-chess and Stockfish.

python benchmarks/perft.py
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path

import chess
from harness import Engine, parser, show, stockfish

from agent.chess.board.kernel_board import perft

CASES = Path(__file__).parents[1] / "tests" / "data" / "perft.txt"
CHESS_PACKAGE_PLIES_LESS = 2


def chess_package_perft(board: chess.Board, depth: int) -> int:
    """Count leaves with python-chess. The last ply is counted in bulk."""
    if depth == 1:
        return board.legal_moves.count()
    leaves = 0
    for move in board.legal_moves:
        board.push(move)
        leaves += chess_package_perft(board, depth - 1)
        board.pop()
    return leaves


def leaves_and_speed(
    count: Callable[[chess.Board, int], int], board: chess.Board, depth: int
) -> tuple[int, float]:
    """Return the leaves, and million leaves per second."""
    began = time.perf_counter()
    leaves = count(board, depth)
    return leaves, leaves / (time.perf_counter() - began) / 1e6


def stockfish_speed(command: str, board: chess.Board, depth: int) -> float:
    """Return the million leaves per second of Stockfish's `go perft`, excluding its start."""
    with Engine([command]) as engine:
        engine.say(f"position fen {board.fen()}", "isready")
        engine.read("readyok")
        began = time.perf_counter()
        engine.say(f"go perft {depth}")
        leaves = int(engine.read("Nodes searched").split()[-1])
        return leaves / (time.perf_counter() - began) / 1e6


def main() -> int:
    """Count and compare. Return 1 if a count is wrong."""
    options = parser(__doc__).parse_args()
    other = stockfish()
    rows = []
    for line in CASES.read_text().splitlines():
        if line.startswith("#"):
            continue
        name, chess960, fen, counts = (field.strip() for field in line.split("|"))
        leaves = [int(count) for count in counts.split()]
        board, depth = chess.Board(fen, chess960=chess960 == "1"), len(leaves)
        found, speed = leaves_and_speed(perft, board, depth)
        shallow = depth - CHESS_PACKAGE_PLIES_LESS
        _, plain = leaves_and_speed(chess_package_perft, board, shallow)
        native = stockfish_speed(other, board, depth) if other else float("nan")
        right = "yes" if found == leaves[-1] else f"NO: {leaves[-1]}"
        rows.append(
            (name, depth, found, right, speed, native, plain, speed / native, speed / plain)
        )
    columns = ("position", "depth", "leaves", "right", "M/s", "Stockfish M/s", "chess M/s",
               "x Stockfish", "x chess")  # fmt: skip
    show("perft, one core, leaves a second", columns, rows, options.json)
    return int(any(row[3] != "yes" for row in rows))


if __name__ == "__main__":
    sys.exit(main())
