"""Delay of one client of a server while other clients send costly lines as fast as they can.

    python benchmarks/noisy_neighbours.py
    python benchmarks/noisy_neighbours.py --attacks gtp flood --addresses 0

A quiet client connects, says `uci`, asks `isready` and asks for a move of a fixed time, again and
again. Meanwhile, other clients of one or more addresses attack. Passes (exit status 0) if no move
is later than `--most` milliseconds.
"""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from random import Random

from harness import parser, percentile, server, show, spawn

from agent.games.go import Go
from agent.games.stones import PASS

TIMEOUT = 120.0  # seconds for one answer


def chess_game(moves: str, plies: int) -> str:
    """Return a game of `plies` half-moves that repeats `moves`."""
    words = moves.split()
    return " ".join(words * (plies // len(words)))


def go_game(moves: int) -> str:
    """Return a GTP line that plays a random game of Go."""
    rng, game, words = Random(1), Go(19), []
    for number in range(moves):
        player, move = number % 2, PASS
        for _ in range(20):
            vertex = game.stones.shape.vertex(rng.randrange(19), rng.randrange(19))
            if game.is_legal(player, vertex):
                move = vertex
                break
        game.play_as(player, move)
        words.append(f"{'bw'[player]} {game.text(move)}")
    return f"gogui-play_sequence {' '.join(words)}"


# Lines that a connection repeats, by the name of the attack. A long line is 50 KB. Games alternate,
# because a game that is only extended is cheap.
ATTACKS: dict[str, tuple[str, ...]] = {
    "position": tuple(
        f"position startpos moves {chess_game(moves, 10_000)}"
        for moves in ("g1f3 g8f6 f3g1 f6g8", "b1c3 b8c6 c3b1 c6b8")
    ),
    "short": tuple(
        f"position startpos moves {chess_game(moves, 380)}"
        for moves in ("g1f3 g8f6 f3g1 f6g8", "b1c3 b8c6 c3b1 c6b8")
    ),
    "search": (
        f"position startpos moves {chess_game('g1f3 g8f6 f3g1 f6g8', 10_000)}",
        *["go nodes 1"] * 100,
    ),
    "gtp": ("clear_board", go_game(4000)),
    "score": ("boardsize 19", "komi 7.5", "set_position b q16 w d4", "kata-set-rules japanese")
    + ("final_score", "kempelen-ladders", "kempelen-liberties") * 20,
    "xboard": ("xboard", "new", "force", *chess_game("g1f3 g8f6 f3g1 f6g8", 400).split(), "bk"),
    "flood": ("isready",) * 1000,
    "newlines": ("",) * 50_000,
}
FIRST_LINES = {"gtp": "list_commands", "score": "list_commands", "xboard": "xboard"}

# Sends lines over many connections, and reads and discards the answers.
ATTACKER = """
import selectors, socket, sys
host, port, count, sources = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
first, text = sys.stdin.buffer.readline(), sys.stdin.buffer.read()
chosen = selectors.DefaultSelector()
for number in range(count):
    source = sources[number % len(sources)]
    each = socket.create_connection((host, port), source_address=(source, 0))
    each.sendall(first)
    each.setblocking(False)
    chosen.register(each, selectors.EVENT_READ | selectors.EVENT_WRITE, [0])
print("connected", flush=True)
while True:
    for key, mask in chosen.select():
        try:
            if mask & selectors.EVENT_READ and not key.fileobj.recv(1 << 16):
                chosen.unregister(key.fileobj)
            elif mask & selectors.EVENT_WRITE:
                done = key.data
                done[0] = (done[0] + key.fileobj.send(text[done[0]:])) % len(text)
        except BlockingIOError:
            pass
        except OSError:
            chosen.unregister(key.fileobj)
"""


class QuietClient:
    """A UCI client over TCP."""

    def __init__(self, address: tuple[str, int]) -> None:
        self._socket = socket.create_connection(address, TIMEOUT, source_address=("127.0.0.1", 0))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._lines = self._socket.makefile("rb")

    def say(self, *lines: str) -> None:
        self._socket.sendall("".join(f"{line}\n" for line in lines).encode())

    def time(self, start: str, *lines: str) -> float:
        """Send lines; return the milliseconds until a line that starts with `start`."""
        began = time.perf_counter()
        self.say(*lines)
        for line in self._lines:
            if line.startswith(start.encode()):
                return 1000 * (time.perf_counter() - began)
        raise SystemExit("the server closed the connection")

    def close(self) -> None:
        self._lines.close()
        self._socket.close()


@contextmanager
def attack(
    address: tuple[str, int], name: str, count: int, sources: Sequence[str]
) -> Iterator[None]:
    """Attack with `count` connections from the addresses `sources`, and end it at exit."""
    command = [sys.executable, "-c", ATTACKER, address[0], str(address[1]), str(count), *sources]
    process = spawn(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    lines = "".join(f"{line}\n" for line in ATTACKS[name])
    process.stdin.write(f"{FIRST_LINES.get(name, 'uci')}\n{lines}".encode())
    process.stdin.close()
    try:
        if count:
            process.stdout.readline()
            time.sleep(2.0)
        yield
    finally:
        process.kill()
        process.wait()


def measure(address: tuple[str, int], moves: int, move_time: int) -> dict[str, list[float]]:
    """Return the milliseconds of each answer: for a move, the time above `move_time`."""
    found: dict[str, list[float]] = {"uci": [], "isready": [], "move, late by": []}
    for _ in range(moves):
        client = QuietClient(address)
        found["uci"].append(client.time("uciok", "uci"))
        client.say("setoption name OwnBook value false")
        found["isready"].append(client.time("readyok", "isready"))
        took = client.time("bestmove", "position startpos", f"go movetime {move_time}")
        found["move, late by"].append(took - move_time)
        client.close()
        time.sleep(0.1)
    return found


def main() -> int:
    """Measure and print. Return 1 if a move was too late."""
    arguments = parser(__doc__)
    arguments.add_argument("--attacks", nargs="+", choices=ATTACKS, default=["position"])
    arguments.add_argument("--connections", nargs="+", type=int, default=[0, 20, 60])
    arguments.add_argument("--moves", type=int, default=20)
    arguments.add_argument("--move-time", type=int, default=100, help="milliseconds per move")
    arguments.add_argument(
        "--addresses", type=int, default=1, help="number of addresses that attack; 0: the client's"
    )
    arguments.add_argument("--most", type=float, default=50.0, help="milliseconds late at most")
    options = arguments.parse_args()
    sources = [f"127.0.0.{2 + n}" for n in range(options.addresses)] or ["127.0.0.1"]
    rows, latest = [], 0.0
    limits = ("--max-sessions-per-ip", "200")  # connections of an earlier attack may linger
    with server("serve", "--address", "tcp://127.0.0.1:0", *limits) as (url, _):
        host, port = url.removeprefix("tcp://").rsplit(":", 1)
        address = host, int(port)
        client = QuietClient(address)
        client.time("bestmove", "uci", "setoption name OwnBook value false", "go movetime 1000")
        client.time("readyok", "isready")
        client.close()
        for name in options.attacks:
            for count in options.connections:
                with attack(address, name, count, sources):
                    found = measure(address, options.moves, options.move_time)
                latest = max(latest, *found["move, late by"])
                for what, times in found.items():
                    rows.append([name, count, what, percentile(times, 50), max(times)])
                time.sleep(2.0)
    columns = ["attack", "connections", "answer", "ms, median", "ms, maximum"]
    show("one client, attacked by others", columns, rows, options.json)
    return int(latest > options.most)


if __name__ == "__main__":
    sys.exit(main())
