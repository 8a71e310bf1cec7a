"""Latency that `kempelen connect` adds to a move: the same moves over a pipe and over loopback.

Passes (exit status 0) if the median move takes at most 2 ms longer.

    python benchmarks/remote_moves.py --moves 1000 --scheme tcp
"""

import argparse
import contextlib
import json
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import IO

import chess
from child_processes import end_in_order, spawn

MAX_EXTRA_MS = 2.0
KEMPELEN = (sys.executable, "-m", "kempelen.cli")
START_LIMIT = 60.0


class Engine:
    """An engine over pipes that searches one move at a time."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin
        assert process.stdout
        self._input: IO[str] = process.stdin
        self._output: IO[str] = process.stdout
        self.ask("uci", "uciok")
        self._input.write("setoption name OwnBook value false\n")
        self.ask("isready", "readyok")

    def ask(self, text: str, start: str) -> float:
        """Send `text` and read up to a line that starts with `start`; return the milliseconds."""
        began = time.perf_counter()
        self._input.write(f"{text}\n")
        self._input.flush()
        for line in self._output:
            if line.startswith(start):
                return (time.perf_counter() - began) * 1e3
        raise SystemExit(f"the engine ended before it said {start}")


def measure(near: Engine, far: Engine, moves: int, depth: int) -> tuple[list[float], list[float]]:
    """Let both engines search each move of random games; return their times.

    The times are in milliseconds.
    """
    rng = random.Random(1)
    board = chess.Board()
    took: tuple[list[float], list[float]] = ([], [])
    for number in range(moves):
        line = " ".join(move.uci() for move in board.move_stack)
        asked = f"position startpos moves {line}\ngo depth {depth}"
        order = (0, 1) if number % 2 else (1, 0)
        for which in order:
            took[which].append((near, far)[which].ask(asked, "bestmove"))
        board.push(rng.choice(list(board.legal_moves)))
        if board.is_game_over():
            board.reset()
    return took


@contextlib.contextmanager
def engine(*words: str) -> Iterator[Engine]:
    """Start an engine; stop it when the `with` block ends."""
    process = spawn([*KEMPELEN, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield Engine(process)
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def server(scheme: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Start a server on loopback; yield its URL and the options that a client needs."""
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as probe:
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        serving: tuple[str, ...] = ()
        trusting: tuple[str, ...] = ()
        if scheme in ("tls", "wss"):
            pem, key = f"{folder}/certificate.pem", f"{folder}/key.pem"
            subprocess.run(
                [
                    "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
                    "-keyout", key, "-out", pem,
                ],
                check=True, capture_output=True,
            )  # fmt: skip
            serving, trusting = ("--certificate", pem, "--key", key), ("--ca", pem)
        address = f"{scheme}://127.0.0.1:{port}"
        process = spawn(
            [*KEMPELEN, "serve", "--address", address, "--log", f"{folder}/log", *serving]
        )
        try:
            wait_for(port, process)
            yield address, trusting
        finally:
            process.kill()
            process.wait()


def wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    """Wait until a server listens on the port."""
    deadline = time.monotonic() + START_LIMIT
    while process.poll() is None and time.monotonic() < deadline:
        with contextlib.closing(socket.socket()) as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise SystemExit("the server does not listen")


def main() -> int:
    """Measure and print. Return 1 if the remote moves are too slow."""
    end_in_order()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moves", type=int, default=1000)
    parser.add_argument("--depth", type=int, default=1)
    parser.add_argument("--scheme", choices=("tcp", "tls", "ws", "wss"), default="tcp")
    parser.add_argument(
        "--most", type=float, default=MAX_EXTRA_MS, help="milliseconds (default: %(default)g)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    with (
        server(arguments.scheme) as (address, trusting),
        engine("uci") as near,
        engine("connect", address, *trusting) as far,
    ):
        pipe, remote = measure(near, far, arguments.moves, arguments.depth)
    added = statistics.median(remote) - statistics.median(pipe)
    found = {
        "moves": len(pipe),
        "scheme": arguments.scheme,
        "pipe_median_ms": round(statistics.median(pipe), 3),
        "connect_median_ms": round(statistics.median(remote), 3),
        "added_ms": round(added, 3),
        "pipe_99_percent_ms": round(sorted(pipe)[len(pipe) * 99 // 100], 3),
        "connect_99_percent_ms": round(sorted(remote)[len(remote) * 99 // 100], 3),
    }
    if arguments.json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(f"{name:22} {value}")
    return 0 if added <= arguments.most else 1


if __name__ == "__main__":
    sys.exit(main())
