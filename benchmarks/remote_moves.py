"""Latency that `kempelen connect` adds to a move: the same moves over a pipe and over loopback.

Passes (exit status 0) if the median move takes at most 2 ms longer.

    python benchmarks/remote_moves.py --moves 1000 --scheme tcp
"""

import random
import statistics
import subprocess
import sys
import tempfile

import chess
from harness import KEMPELEN, Engine, parser, percentile, server, show_figures

MAX_EXTRA_MS = 2.0


def measure(near: Engine, far: Engine, moves: int, depth: int) -> tuple[list[float], list[float]]:
    """Let both engines search each move of random games; return their times in milliseconds."""
    rng = random.Random(1)
    board = chess.Board()
    took: tuple[list[float], list[float]] = ([], [])
    for engine in (near, far):
        engine.time("uci", "uciok")
        engine.say("setoption name OwnBook value false")
        engine.time("isready", "readyok")
    for number in range(moves):
        line = " ".join(move.uci() for move in board.move_stack)
        for which in (0, 1) if number % 2 else (1, 0):
            asked = f"position startpos moves {line}\ngo depth {depth}"
            took[which].append(1000 * (near, far)[which].time(asked, "bestmove"))
        board.push(rng.choice(list(board.legal_moves)))
        if board.is_game_over():
            board.reset()
    return took


def certificate(folder: str) -> tuple[str, str]:
    """Create a certificate for the loopback address; return its file and that of its key."""
    pem, key = f"{folder}/certificate.pem", f"{folder}/key.pem"
    command = [
        "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1",
        "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
        "-keyout", key, "-out", pem,
    ]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True)
    return pem, key


def main() -> int:
    """Measure and print. Return 1 if the remote moves are too slow."""
    arguments = parser(__doc__)
    arguments.add_argument("--moves", type=int, default=1000)
    arguments.add_argument("--depth", type=int, default=1)
    arguments.add_argument("--scheme", choices=("tcp", "tls", "ws", "wss"), default="tcp")
    arguments.add_argument(
        "--most", type=float, default=MAX_EXTRA_MS, help="milliseconds (default: %(default)g)"
    )
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        serving: tuple[str, ...] = ()
        trusting: tuple[str, ...] = ()
        if options.scheme in ("tls", "wss"):
            pem, key = certificate(folder)
            serving, trusting = ("--certificate", pem, "--key", key), ("--ca", pem)
        with (
            server("serve", "--address", f"{options.scheme}://127.0.0.1:0", *serving) as (url, _),
            Engine([*KEMPELEN, "uci"]) as near,
            Engine([*KEMPELEN, "connect", url, *trusting]) as far,
        ):
            pipe, remote = measure(near, far, options.moves, options.depth)
    added = statistics.median(remote) - statistics.median(pipe)
    found = {
        "moves": len(pipe),
        "pipe, ms, median": statistics.median(pipe),
        "connect, ms, median": statistics.median(remote),
        "added, ms": added,
        "pipe, ms, 99 %": percentile(pipe, 99),
        "connect, ms, 99 %": percentile(remote, 99),
    }
    show_figures(f"moves over {options.scheme}", found, options.json)
    return 0 if added <= options.most else 1


if __name__ == "__main__":
    sys.exit(main())
