"""Play fast self-play games of the engine, with python-chess as the referee.

Passes (exit status 0) if there was no illegal move, no loss on time and no crash.

    python benchmarks/timed_games.py --games 20 --time 1 --increment 0.01
"""

import argparse
import json
import sys
import time
from collections import Counter

import chess
import chess.engine

OPENINGS = ("e2e4 e7e5", "d2d4 d7d5", "c2c4 e7e5", "g1f3 g8f6", "e2e4 c7c5", "d2d4 g8f6")


def play(
    engines: list[chess.engine.SimpleEngine],
    number: int,
    seconds: float,
    bonus: float,
    margin: float,
) -> str:
    """Play one game and return how it ended.

    Raises chess.engine.EngineError on an illegal move.
    """
    board = chess.Board()
    for move in OPENINGS[number % len(OPENINGS)].split():
        board.push_uci(move)
    clocks = {chess.WHITE: seconds, chess.BLACK: seconds}
    white = number % 2
    while not board.is_game_over(claim_draw=True):
        engine = engines[white if board.turn else 1 - white]
        limit = chess.engine.Limit(
            white_clock=clocks[chess.WHITE],
            black_clock=clocks[chess.BLACK],
            white_inc=bonus,
            black_inc=bonus,
        )
        began = time.perf_counter()
        move = engine.play(board, limit, game=number).move
        clocks[board.turn] -= time.perf_counter() - began
        if clocks[board.turn] < -margin:
            return f"time loss of {'white' if board.turn else 'black'}"
        clocks[board.turn] = max(clocks[board.turn], 0.0) + bonus
        if move is None:
            return "no move"
        board.push(move)
    outcome = board.outcome(claim_draw=True)
    assert outcome is not None
    return outcome.result()


def main() -> int:
    """Play the games and report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", type=int, default=20)
    parser.add_argument("--time", type=float, default=1.0, help="base time in seconds")
    parser.add_argument("--increment", type=float, default=0.01, help="increment in seconds")
    parser.add_argument(
        "--margin", type=float, default=0.0, help="tolerance in seconds for late moves"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    command = [sys.executable, "-m", "kempelen.cli", "uci"]
    ends: Counter[str] = Counter()
    engines = [chess.engine.SimpleEngine.popen_uci(command) for _ in range(2)]
    try:
        for engine in engines:
            engine.ping()
        for number in range(arguments.games):
            ends[play(engines, number, arguments.time, arguments.increment, arguments.margin)] += 1
    finally:
        for engine in engines:
            engine.quit()
    if arguments.json:
        print(json.dumps(ends))
    else:
        for end, games in ends.most_common():
            print(f"{games:4}  {end}")
    return 0 if set(ends) <= {"1-0", "0-1", "1/2-1/2"} else 1


if __name__ == "__main__":
    sys.exit(main())
