"""Soak test: honest sessions over UCI, GTP, xboard and the pages, beside attacks in turn (Linux).

Passes (exit status 0) if no honest move is later than 100 ms, not counting how late this process's
own timers were meanwhile, no honest session fails, and the memory of the servers returns to within
50 MB.

    python benchmarks/soak.py --ledger soak.jsonl
    python benchmarks/soak.py --minutes 3 --sessions 20

Each round starts both servers, runs all attacks one after the other, and measures the memory before
and after. An honest session asks for a move of 100 ms every few seconds. The time is measured from
sending the request. With --ledger, an interrupted run continues with its next round.

The honest sessions first play faster for some minutes, so that their tables are full and their
first games have ended when the memory is measured. This process runs at a high priority if it may,
and attackers at a low one, because they stand for clients on other machines.
"""

import argparse
import asyncio
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import chess
from harness import KEMPELEN, JsonLedger, memory, parser, percentile, show, spawn
from websockets.asyncio.client import ClientConnection, connect

MOVE_S = 0.1
TIMER_S = 0.02
MAX_LATE_MS = 100.0
MAX_GROWTH_MB = 50.0
STARTING_S = 180.0  # timeout for the first answer, which may compile a kernel
ATTACK_SHARE = 0.8  # of the time of an attack; after it, its consequences are measured
SETTLING_S = 60.0  # time for the memory to be returned
WARM_UP_EVERY_S = 8.0
HONEST = ("alice", "bob", "carol")
MALLORY = "mallory"  # a token holder who attacks
# Outside the books, whose moves need no search.
START = "rnbqkbnr/1ppp1ppp/p3p3/8/8/4P2P/PPPP1PP1/RNBQKBNR w KQkq - 0 3"
LONG_LINE = "position startpos moves" + " g1f3 g8f6 f3g1 f6g8" * 2500  # 50 KB
LONG_SGF = "(;GM[1]SZ[19]" + ";B[aa];W[ba]" * 2500 + ")"


@dataclass
class Target:
    """The addresses of the servers, and the tokens by name."""

    text: int
    web_socket: int
    pages: int
    tokens: dict[str, str]

    async def open(
        self, port: int, host: str = "127.0.0.1"
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connect to a port from a loopback address."""
        return await asyncio.open_connection("127.0.0.1", port, local_addr=(host, 0))

    def sign_in(self, name: str) -> dict[str, str]:
        """Return the headers of a visitor to the pages who has signed in."""
        _, headers = self.post("/signin", {"token": self.tokens[name]}, {})
        return {"Cookie": headers["Set-Cookie"].partition(";")[0]}

    def post(self, path: str, data: Any, headers: dict[str, str]) -> tuple[Any, Any]:
        """Send a JSON object to the pages. Return the answer and its headers."""
        url = f"http://127.0.0.1:{self.pages}{path}"
        request = urllib.request.Request(url, json.dumps(data).encode(), headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer), answer.headers


# Honest sessions. Each yields when it has begun, and whenever a move has been answered.


@contextlib.asynccontextmanager
async def session(
    target: Target, number: int
) -> AsyncIterator[tuple[Callable[..., None], Callable[[str], Awaitable[str]]]]:
    """Open a session over TCP. Yield functions that send lines, and that await a line."""
    reader, writer = await target.open(target.text, f"127.0.0.{1 + number % 4}")

    def say(*lines: str) -> None:
        writer.write("".join(f"{line}\n" for line in lines).encode())

    async def hear(start: str) -> str:
        while line := (await reader.readline()).decode():
            if line.startswith("refused"):
                raise ConnectionError(line.strip())
            if line.startswith(start):
                return line.strip()
        raise ConnectionError("closed")

    try:
        say(f"authorize {target.tokens[HONEST[number % len(HONEST)]]}")
        await hear("authorized")
        yield say, hear
    finally:
        writer.close()


def reply(board: chess.Board, move: str, chance: Random) -> None:
    """Make the engine's move and a random reply. Begin again if the game is over."""
    board.push_uci(move)
    if not board.is_game_over() and board.ply() < 120:
        board.push(chance.choice(list(board.legal_moves)))
    if board.is_game_over() or board.ply() >= 120:
        board.reset()


async def play_uci(target: Target, number: int) -> AsyncIterator[None]:
    async with session(target, number) as (say, hear):
        say("uci", "setoption name OwnBook value false", "isready")
        await hear("readyok")
        board, chance = chess.Board(), Random(number)
        while True:
            yield
            moves = " ".join(move.uci() for move in board.move_stack)
            say(f"position startpos moves {moves}", f"go movetime {MOVE_S * 1000:.0f}")
            reply(board, (await hear("bestmove")).split()[1], chance)


async def play_xboard(target: Target, number: int) -> AsyncIterator[None]:
    async with session(target, number) as (say, hear):
        say("xboard", "protover 2", "option OwnBook=0")
        await hear("feature done=1")
        chance = Random(number)
        while True:
            board = chess.Board()
            say("new", "easy", f"st {MOVE_S}", "ping 1")
            await hear("pong 1")
            while not board.is_game_over() and board.ply() < 120:
                move = chance.choice(list(board.legal_moves))
                board.push(move)
                if board.is_game_over():
                    break
                yield
                say(f"usermove {move.uci()}")
                board.push_uci((await hear("move")).split()[1])


async def play_gtp(target: Target, number: int) -> AsyncIterator[None]:
    async with session(target, number) as (say, hear):
        say("boardsize 9", f"kata-set-param maxTime {MOVE_S}")
        await hear("=")
        await hear("=")
        while True:
            say("clear_board")
            await hear("=")
            for ply in range(40):
                yield
                say(f"genmove {'bw'[ply % 2]}")
                await hear("=")


async def play_pages(target: Target, number: int) -> AsyncIterator[None]:
    headers = await asyncio.to_thread(target.sign_in, HONEST[number % len(HONEST)])
    chance = Random(number)
    while True:
        form = {"game": "chess", "seconds": MOVE_S, "position": START}
        game, _ = await asyncio.to_thread(target.post, "/games", form, headers)
        url = f"ws://127.0.0.1:{target.pages}/games/{game['id']}/channel"
        async with connect(url, additional_headers=headers, proxy=None, compression=None) as socket:
            state = await visitors_turn(socket, -1)
            while not state["result"] and state["ply"] < 120:
                yield
                move, ply = chance.choice(state["board"]["legal"]), state["ply"]
                await socket.send(json.dumps({"do": "move", "move": move, "ply": ply}))
                state = await visitors_turn(socket, ply)


async def visitors_turn(socket: ClientConnection, ply: int) -> dict[str, Any]:
    """Await the visitor's turn after `ply`, or the end of the game. Return the state."""
    while True:
        state: dict[str, Any] = json.loads(await socket.recv())
        if state["kind"] in ("error", "refused"):
            raise ConnectionError(state["text"])
        if state["kind"] != "game" or state["ply"] <= ply:
            continue
        if state["result"] or (state["mover"] == state["side"] and not state["thinking"]):
            return state


PLAYERS = {"UCI": play_uci, "GTP": play_gtp, "xboard": play_xboard, "pages": play_pages}


@dataclass
class Measurements:
    """Lateness of the honest moves in ms and failures of honest sessions, by attack.

    Each move has its lateness and the largest one of this process's own timers meanwhile.
    """

    attack: str = "none"
    late: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    failures: dict[str, list[str]] = field(default_factory=dict)
    # Start, end and lateness in ms of this process's last timers.
    timers: deque[tuple[float, float, float]] = field(default_factory=lambda: deque(maxlen=5000))
    every: float = WARM_UP_EVERY_S  # seconds between the moves of a session

    def own_late(self, began: float, ended: float) -> float:
        """Return the largest lateness of this process's timers between two times."""
        lates = (late for start, end, late in self.timers if start < ended and end > began)
        return max(lates, default=0.0)


async def play(
    name: str, number: int, target: Target, found: Measurements, begun: asyncio.Event
) -> None:
    """Ask for a move every few seconds. Begin again if the session fails."""
    chance = Random(number)
    while True:
        try:
            async with contextlib.aclosing(PLAYERS[name](target, number)) as moves:
                async with asyncio.timeout(STARTING_S):
                    await anext(moves)
                    await anext(moves)  # loads the kernel
                begun.set()
                while True:
                    await asyncio.sleep(found.every * (0.5 + chance.random()))
                    began = time.perf_counter()
                    async with asyncio.timeout(60.0):
                        await anext(moves)
                    ended = time.perf_counter()
                    late = round(1000 * (ended - began - MOVE_S), 1)
                    attack = found.attack
                    await asyncio.sleep(2 * TIMER_S)  # the last timer of the move has ended
                    own = found.own_late(began, ended)
                    found.late.setdefault(attack, []).append((late, own))
        except Exception as error:  # noqa: BLE001 - counted
            found.failures.setdefault(found.attack, []).append(f"{name}: {error!r}"[:200])
            await asyncio.sleep(1.0)


async def watch_timers(found: Measurements) -> None:
    """Measure how late this process itself is."""
    while True:
        began = time.perf_counter()
        await asyncio.sleep(TIMER_S)
        ended = time.perf_counter()
        found.timers.append((began, ended, round(1000 * (ended - began - TIMER_S), 1)))


# Attacks. Each runs in a process of its own until it is killed. Strangers use the addresses
# 127.0.1.1 to 127.0.1.5.


def stranger(number: int) -> str:
    return f"127.0.1.{1 + number % 5}"


async def often(rate: float, attack: Callable[[int], Awaitable[Any]], at_once: int = 50) -> None:
    """Start an attack `rate` times per second, with at most `at_once` running."""
    running: set[asyncio.Task[Any]] = set()
    number = 0
    while True:
        if len(running) < at_once:
            task = asyncio.ensure_future(_ignore_errors(attack(number)))
            running.add(task)
            task.add_done_callback(running.discard)
            number += 1
        await asyncio.sleep(1 / rate)


async def _ignore_errors(attack: Awaitable[Any]) -> None:
    with contextlib.suppress(OSError, EOFError, TimeoutError, ValueError):
        async with asyncio.timeout(20.0):
            await attack


async def send(target: Target, port: int, number: int, data: bytes, wait: float = 10.0) -> None:
    """Send bytes as a stranger, and wait for the end of the connection."""
    reader, writer = await target.open(port, stranger(number))
    try:
        writer.write(data)
        async with asyncio.timeout(wait):
            while await reader.read(1 << 16):
                pass
    finally:
        writer.transport.abort()


async def attack_gone(target: Target) -> None:
    """Clients that are gone while a long search runs and many lines wait."""
    data = f"authorize {target.tokens[MALLORY]}\nkata-set-param maxTime 100000\ngenmove b\n"
    text = (data + "name\n" * 400).encode()
    await often(1.0, lambda number: send(target, target.text, number, text, 1.0))


async def attack_http(target: Target) -> None:
    """Send requests to the text port as a web page would."""
    text = b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nuci\nposition startpos\ngo infinite\n"
    await often(50.0, lambda number: send(target, target.text, number, text))


async def attack_lines(target: Target) -> None:
    """Sixty sessions of one token holder with lines of 50 KB."""
    token = target.tokens[MALLORY]
    data = f"authorize {token}\nuci\n".encode() + f"{LONG_LINE}\nisready\n".encode() * 100
    await often(20.0, lambda number: send(target, target.text, 0, data), 60)


async def attack_silent(target: Target) -> None:
    """Hundreds of silent connections to all ports."""
    ports = target.text, target.web_socket, target.pages
    await often(100.0, lambda number: send(target, ports[number % 3], number, b""), 900)


async def attack_foreign(target: Target) -> None:
    """Send GETs of a page of another site, from the address of honest visitors."""
    reader, writer = await target.open(target.pages)
    request = (
        b"GET /games/choices HTTP/1.1\r\nHost: 127.0.0.1\r\nSec-Fetch-Site: cross-site\r\n\r\n"
    )
    reading = asyncio.ensure_future(reader.read())
    while not reading.done():
        writer.write(request)
        await asyncio.sleep(0.005)


async def attack_tokens(target: Target) -> None:
    """Wrong tokens."""
    await often(50.0, lambda number: send(target, target.text, number, b"authorize x\n"))


async def attack_handshakes(target: Target) -> None:
    """Invalid WebSocket handshakes."""
    text = (
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: \xe9\xe9\r\n\r\n"
    )
    ports = target.web_socket, target.pages
    await often(50.0, lambda number: send(target, ports[number % 2], number, text))


async def attack_nonsense(target: Target) -> None:
    """Random bytes and unknown commands of a token holder, as fast as the server reads."""
    start = f"authorize {target.tokens[MALLORY]}\nuci\n".encode()
    chance = Random(0)
    data = start + b"".join(chance.randbytes(200) + b"\nfoo bar\n" for _ in range(5000))
    await often(5.0, lambda number: send(target, target.text, number, data), 10)


async def attack_uploads(target: Target) -> None:
    """Long games, sent to the analysis page by a token holder."""
    headers = await asyncio.to_thread(target.sign_in, MALLORY)
    await often(
        2.0,
        lambda _: asyncio.to_thread(target.post, "/analyse/load", {"text": LONG_SGF}, headers),
        4,
    )


ATTACKS: dict[str, Callable[[Target], Awaitable[None]]] = {
    name.removeprefix("attack_"): function
    for name, function in list(globals().items())
    if name.startswith("attack_")
}


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[tuple[Target, list[int], list[Path]]]:
    """Start both servers. Yield their addresses, process IDs and logs."""
    file = folder / "tokens"
    tokens = {
        name: subprocess.run(
            [*KEMPELEN, "serve", "--tokens", str(file), "--new-token", name],
            check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        ).stdout.strip()
        for name in (*HONEST, MALLORY)
    }  # fmt: skip
    commands = (
        ["serve", "--address", "127.0.0.1:0", "--address", "ws://127.0.0.1:0"],
        ["web", "--no-browser", "--address", "127.0.0.1:0", "--games", str(folder / "web.sqlite")],
    )
    logs, processes = [folder / "serve.log", folder / "web.log"], []
    for command, log in zip(commands, logs, strict=True):
        words = [*KEMPELEN, *command, "--tokens", str(file), "--request-rate", "200", "--hash", "1"]
        with log.open("wb") as output:
            processes.append(spawn(words, stderr=output))
    try:
        ports = _ports(logs[0], 2) + _ports(logs[1], 1)
        yield Target(*ports, tokens), [process.pid for process in processes], logs
    finally:
        for process in processes:
            process.kill()
            process.wait()


def _ports(log: Path, count: int) -> list[int]:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = re.findall(r" listening address=\S+:(\d+)", log.read_text())
        if len(found) == count:
            return [int(port) for port in found]
        time.sleep(0.05)
    raise SystemExit(f"the server does not listen: {log.read_text()}")


async def measure(
    target: Target, processes: list[int], logs: list[Path], options: argparse.Namespace
) -> dict[str, Any]:
    """Let the honest sessions play, without an attack and then beside each. Return the figures."""
    found = Measurements()
    names = [list(PLAYERS)[number % len(PLAYERS)] for number in range(options.sessions)]
    begun = [asyncio.Event() for _ in names]
    tasks = [asyncio.create_task(watch_timers(found))]
    for number, (name, event) in enumerate(zip(names, begun, strict=True)):
        player = play(name, number, target, found, event)
        tasks.append(asyncio.create_task(player))
        await asyncio.sleep(0.05)
    async with asyncio.timeout(STARTING_S):
        await asyncio.gather(*(event.wait() for event in begun))
    phases = ["none", *options.attacks]
    seconds = 60 * options.round / len(phases)
    await asyncio.sleep(60 * options.warm_up)
    found.every = options.every
    await asyncio.sleep(options.every)
    found.late.clear()
    await asyncio.sleep(seconds)
    before = [*map(memory, processes)]
    written = sum(log.stat().st_size for log in logs)
    for attack in options.attacks:
        found.attack = attack
        words = [sys.executable, __file__, "--attack", attack]
        environment = {**os.environ, "SOAK": json.dumps(vars(target))}
        # Starting and reaping a large process would block the honest sessions.
        attacker = await asyncio.to_thread(spawn, words, env=environment)
        set_priority(attacker.pid, 19)
        await asyncio.sleep(ATTACK_SHARE * seconds)
        if attacker.poll() is not None:
            found.failures.setdefault(attack, []).append("the attack ended early")
        attacker.kill()
        await asyncio.to_thread(attacker.wait)
        await asyncio.sleep((1 - ATTACK_SHARE) * seconds)
    found.attack = "none"
    deadline = time.monotonic() + SETTLING_S
    while sum(after := [*map(memory, processes)]) > sum(before) + MAX_GROWTH_MB:
        if time.monotonic() > deadline:
            break
        await asyncio.sleep(1.0)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return {
        "late": found.late,
        "failures": found.failures,
        "memory": [[*map(round, before)], [*map(round, after)]],
        "log": round((sum(log.stat().st_size for log in logs) - written) / 1024),
    }


def set_priority(process: int, nice: int) -> None:
    """Set the priority of a process if this process may."""
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, process, nice)


def run_round(number: int, options: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as (target, *rest):
        set_priority(os.getpid(), -10)
        try:
            return asyncio.run(measure(target, *rest, options))
        finally:
            set_priority(os.getpid(), 0)


def main() -> int:
    """Measure and print. Return 1 if a move was late, a session failed or memory was lost."""
    if "--attack" in sys.argv:
        target = Target(**json.loads(os.environ["SOAK"]))
        asyncio.run(ATTACKS[sys.argv[-1]](target))  # type: ignore[arg-type]
        return 0
    arguments = parser(__doc__)
    arguments.add_argument("--sessions", type=int, default=100, help="honest sessions")
    arguments.add_argument("--minutes", type=float, default=30.0, help="duration of the attacks")
    arguments.add_argument("--round", type=float, default=5.0, help="minutes per round")
    arguments.add_argument(
        "--every", type=float, default=25.0, help="seconds between the moves of a session"
    )
    arguments.add_argument(
        "--warm-up", type=float, default=10.0, help="minutes of play before the attacks"
    )
    arguments.add_argument("--attacks", nargs="+", choices=ATTACKS, default=list(ATTACKS))
    arguments.add_argument("--ledger", type=Path, metavar="FILE", help="file of finished rounds")
    options = arguments.parse_args()
    options.round = min(options.round, options.minutes)
    names = "sessions", "round", "every", "warm_up", "attacks"
    settings = {name: getattr(options, name) for name in names}
    ledger = JsonLedger(options.ledger, settings)
    count = max(1, round(options.minutes / options.round))
    rounds = ledger.collect(count, lambda number: run_round(number, options))
    rows, passed = [], True
    for attack in ("none", *options.attacks):
        moves = [each for found in rounds for each in found["late"].get(attack, [])]
        late = [each for each, _ in moves]
        net = max((each - own for each, own in moves), default=0.0)
        failures = [each for found in rounds for each in found["failures"].get(attack, [])]
        figures = [percentile(late, percent) for percent in (50, 99, 100)] if late else [""] * 3
        figures += [max(own for _, own in moves) if late else "", round(net, 1)]
        rows.append((attack, len(late), *figures, len(failures), failures[0] if failures else ""))
        passed &= not failures and net <= MAX_LATE_MS
    columns = ["attack", "moves", "late, ms, 50 %", "99 %", "100 %", "own timers", "100 % net"]
    columns += ["failures", "first failure"]
    show(f"{options.sessions} honest sessions", columns, rows, options.json)
    rows = [
        (number, *(" + ".join(map(str, each)) for each in found["memory"]), found["log"])
        for number, found in enumerate(rounds, 1)
    ]
    columns = ["round", "MB before", "MB after", "kB of log"]
    show("servers (serve + web)", columns, rows, options.json)
    passed &= all(
        sum(after) <= sum(before) + MAX_GROWTH_MB
        for before, after in (found["memory"] for found in rounds)
    )
    return int(not passed)


if __name__ == "__main__":
    raise SystemExit(main())
