"""Load test of the web pages: latency of moves, and memory per watcher (Linux).

    python benchmarks/web_visitors.py
    python benchmarks/web_visitors.py --players 10 --watchers 20 --seconds 20

Each player plays chess against our agent and makes a random move every few seconds. Watchers follow
these games. The latency of a move is the time until its position has reached every page of the
game. It starts when the player sends the move, or for the agent's moves when the first page
receives it. Memory is that of the server, before and after the watchers have connected. The first
page is everything that a browser loads for a chess board, one request after the other.
"""

import argparse
import asyncio
import json
import re
import tempfile
import time
import urllib.request
from random import Random
from typing import Any
from urllib.parse import urljoin

from harness import memory, parser, percentile, server, show_figures
from websockets.asyncio.client import ClientConnection, connect

# The modules that a page of a chess game loads when it needs them.
LAZY_MODULES = ("/static/game.js", "/static/chessboard.js")
# What pages, style sheets and modules load: in HTML, CSS, static imports, and texts.
REFERENCES = re.compile(
    r'(?:stylesheet" href=|module" src=|@import (?:url\()?|\bfrom )"([^"\n]+)"'
    r'|\bwords\("(\w+)"\)'
)


class ViewTimes:
    """When each position of each game was sent and seen."""

    def __init__(self) -> None:
        self.sent: dict[tuple[str, int], float] = {}
        self.delays: list[float] = []

    def see(self, game: str, ply: int) -> None:
        """Record that a client sees a position."""
        now = time.perf_counter()
        began = self.sent.setdefault((game, ply), now)
        self.delays.append(now - began)


async def listen(socket: ClientConnection, game: str, sights: ViewTimes) -> None:
    """Watch a game until the connection closes."""
    ply = -1
    async for text in socket:
        message = json.loads(text)
        if message["kind"] == "game" and message["ply"] != ply:
            if ply >= 0:
                sights.see(game, message["ply"])
            ply = message["ply"]


async def play(
    socket: ClientConnection, game: str, sights: ViewTimes, every: float, seed: int, until: float
) -> int:
    """Play a random game, one move every `every` seconds; return the number of moves."""
    chance, made, state = Random(seed), 0, {}
    due = time.perf_counter() + chance.uniform(0, every)
    while time.perf_counter() < until:
        mine = state and state["mover"] == state["side"] and not state["thinking"]
        wait = max(0.0, due - time.perf_counter()) if mine else every
        try:
            message: dict[str, Any] = json.loads(await asyncio.wait_for(socket.recv(), wait))
            if message["kind"] == "game":
                if state and message["ply"] != state["ply"]:
                    sights.see(game, message["ply"])
                state = message
                if state["result"]:
                    break
        except TimeoutError:
            if mine:
                move = chance.choice(state["board"]["legal"])
                sights.sent[game, state["ply"] + 1] = time.perf_counter()
                await socket.send(json.dumps({"do": "move", "move": move, "ply": state["ply"]}))
                made += 1
                due = time.perf_counter() + every
    return made


def begin(base: str, seconds: float) -> str:
    """Start a game and return its name."""
    data = json.dumps({"game": "chess", "level": 1350, "seconds": seconds}).encode()
    request = urllib.request.Request(f"{base}/games", data)
    with urllib.request.urlopen(request) as answer:
        return str(json.load(answer)["id"])


def first_page(base: str, game: str) -> tuple[float, int]:
    """Return the seconds to load the first page, and the bytes of its scripts."""
    began, script = time.perf_counter(), 0
    waiting = [f"/play/{game}", *LAZY_MODULES]
    seen = set(waiting)
    while waiting:
        path = waiting.pop(0)
        with urllib.request.urlopen(base + path) as answer:
            text = answer.read().decode()
        script += len(text.encode()) if path.endswith(".js") else 0
        for name, page in REFERENCES.findall(text):
            found = f"/static/words/{page}.en.json" if page else urljoin(path, name)
            if found not in seen:
                seen.add(found)
                waiting.append(found)
    return time.perf_counter() - began, script


async def measure(base: str, process: int, arguments: argparse.Namespace) -> dict[str, Any]:
    """Let all players and watchers connect, and return the measurements."""
    sights = ViewTimes()
    games = [await asyncio.to_thread(begin, base, 0.1) for _ in range(arguments.players)]
    address = base.replace("http", "ws")

    async def join(game: str) -> ClientConnection:
        return await connect(f"{address}/games/{game}/channel", compression=None, proxy=None)

    players = [await join(game) for game in games]
    until = time.perf_counter() + 5.0  # wait until every agent has started
    await asyncio.gather(
        *(
            play(s, g, sights, 2.0, n, until)
            for n, (s, g) in enumerate(zip(players, games, strict=True))
        )
    )
    before = memory(process)
    looking = []
    sockets = []
    for number in range(arguments.watchers):
        game = games[number % len(games)]
        sockets.append(await join(game))
        looking.append(asyncio.create_task(listen(sockets[-1], game, sights)))
    await asyncio.sleep(1.0)
    watching = memory(process) - before
    for socket in players:
        await socket.close()
    players = [await join(game) for game in games]
    sights.delays.clear()
    until = time.perf_counter() + arguments.seconds
    playing = [
        asyncio.create_task(play(s, g, sights, arguments.every, n, until))
        for n, (s, g) in enumerate(zip(players, games, strict=True))
    ]
    await asyncio.sleep(arguments.seconds / 2)
    page, script = await asyncio.to_thread(first_page, base, games[0])
    made = sum(await asyncio.gather(*playing))
    for socket in [*players, *sockets]:
        await socket.close()
    await asyncio.gather(*looking, return_exceptions=True)
    delays = sights.delays
    return {
        "moves": made,
        "positions shown": len(delays),
        "delay, ms, median": 1000 * percentile(delays, 50),
        "delay, ms, 99 %": 1000 * percentile(delays, 99),
        "delay, ms, longest": 1000 * max(delays),
        "later than 300 ms": sum(delay > 0.3 for delay in delays),
        "kB per watcher": 1024 * watching / max(arguments.watchers, 1),
        "first page, ms": 1000 * page,
        "first page, bytes of scripts": script,
        "MB of the server": memory(process),
    }


def main() -> None:
    """Measure and print."""
    arguments = parser(__doc__)
    arguments.add_argument("--players", type=int, default=50)
    arguments.add_argument("--watchers", type=int, default=200)
    arguments.add_argument("--seconds", type=float, default=60.0, help="duration in seconds")
    arguments.add_argument(
        "--every", type=float, default=5.0, help="seconds between a player's moves"
    )
    options = arguments.parse_args()
    limits = ["--sessions", "1000", "--max-sessions-per-ip", "1000"]
    with tempfile.TemporaryDirectory() as folder:
        words = ["web", "--no-browser", "--address", "127.0.0.1:0", *limits]
        with server(*words, "--games", f"{folder}/games.sqlite") as (url, process):
            figures = asyncio.run(measure(url.rstrip("/"), process, options))
    title = f"{options.players} players and {options.watchers} watchers of one server"
    show_figures(title, figures, options.json)


if __name__ == "__main__":
    main()
