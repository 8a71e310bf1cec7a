"""Perft: check known counts, and compare the speed with python-chess and Stockfish.

python benchmarks/perft.py
"""

import subprocess
import time
from pathlib import Path

import chess
from report import parser, show, stockfish

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


def stockfish_speed(command: str, fen: str, depth: int) -> float:
    """Return the leaves per second of Stockfish's `go perft`, excluding its start."""
    with subprocess.Popen(
        [command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as engine:
        assert engine.stdin
        assert engine.stdout
        engine.stdin.write(f"position fen {fen}\nisready\n")
        engine.stdin.flush()
        while not engine.stdout.readline().startswith("readyok"):
            pass
        began = time.perf_counter()
        engine.stdin.write(f"go perft {depth}\n")
        engine.stdin.flush()
        while not (line := engine.stdout.readline()).startswith("Nodes searched"):
            pass
        seconds = time.perf_counter() - began
        engine.stdin.write("quit\n")
        engine.stdin.flush()
    return int(line.split()[-1]) / seconds


def main() -> int:
    """Count and compare."""
    arguments = parser(__doc__).parse_args()
    other = stockfish()
    rows = []
    right = True
    for line in CASES.read_text().splitlines():
        if line.startswith("#"):
            continue
        name, chess960, fen, counts = (field.strip() for field in line.split("|"))
        leaves = [int(count) for count in counts.split()]
        board, depth = chess.Board(fen, chess960=chess960 == "1"), len(leaves)
        began = time.perf_counter()
        found = perft(board, depth)
        speed = found / (time.perf_counter() - began)
        right = right and found == leaves[-1]
        shallow = depth - CHESS_PACKAGE_PLIES_LESS
        began = time.perf_counter()
        plain = chess_package_perft(board, shallow) / (time.perf_counter() - began)
        native = stockfish_speed(other, fen, depth) if other else float("nan")
        rows.append(
            (
                name,
                depth,
                found,
                "yes" if found == leaves[-1] else f"NO: {leaves[-1]}",
                round(speed / 1e6),
                round(native / 1e6),
                round(plain / 1e6, 2),
                round(speed / native, 2),
                round(speed / plain),
            )
        )
    columns = (
        "position",
        "depth",
        "leaves",
        "right",
        "M/s",
        "Stockfish M/s",
        "chess M/s",
        "x Stockfish",
        "x chess",
    )
    show("perft, one core, leaves a second", columns, rows, arguments.json)
    return 0 if right else 1


if __name__ == "__main__":
    raise SystemExit(main())
