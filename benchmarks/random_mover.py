"""A UCI engine that plays random legal moves, as the weakest opponent.

python benchmarks/random_mover.py
"""

import random
import sys

import chess


def main() -> int:
    """Speak as much UCI as a match needs, until `quit` or end of input."""
    board = chess.Board()
    rng = random.Random()
    for line in sys.stdin:
        words = line.split()
        match words[:1]:
            case ["uci"]:
                print("id name Random mover\nid author Kempelen\nuciok", flush=True)
            case ["isready"]:
                print("readyok", flush=True)
            case ["position"]:
                start, _, moves = " ".join(words[1:]).partition(" moves ")
                fen = start.removeprefix("fen ") if start.startswith("fen ") else None
                board = chess.Board(fen or chess.STARTING_FEN)
                for move in moves.split():
                    board.push_uci(move)
            case ["go"]:
                move = rng.choice(list(board.legal_moves))
                print(f"info depth 1 score cp 0 pv {move.uci()}", flush=True)
                print(f"bestmove {move.uci()}", flush=True)
            case ["quit"]:
                break
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
