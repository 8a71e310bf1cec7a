"""A web server for tests, in this process with its own event loop in a thread."""

import asyncio
import http.client
import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

from kempelen.web.database import Database
from kempelen.web.server import PageServer
from kempelen.web.site_context import SiteContext, SiteResources
from protocols.server.addresses import Address
from protocols.server.event_log import EventLog
from protocols.server.limits import ServerLimits
from protocols.server.tokens import TokenFile
from tests.waiting import PATIENCE

DEFAULT_LIMITS = ServerLimits()
NO_RESOURCES = SiteResources()


class Served:
    """A running server, and a client of it."""

    def __init__(self, site: SiteContext, port: int, log: list[str]) -> None:
        self.site = site
        self.port = port
        self.log = log
        self.base = f"http://127.0.0.1:{port}"

    def ask(
        self, method: str, path: str, body: Any = None, **headers: str
    ) -> tuple[int, http.client.HTTPMessage, str]:
        """Send a request unchanged; return status, headers and text."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        try:
            connection.request(method, path, data, headers)
            response = connection.getresponse()
            return response.status, response.headers, response.read().decode()
        finally:
            connection.close()

    def begin(self, **form: Any) -> str:
        """Start a game and return its id."""
        status, _, text = self.ask("POST", "/games", form)
        assert status == 201, text
        return str(json.loads(text)["id"])

    def watch(self, game: str, **headers: str) -> "Line":
        """Open the channel of a game."""
        address = f"ws://127.0.0.1:{self.port}/games/{game}/channel"
        return Line(connect(address, additional_headers=headers, open_timeout=PATIENCE, proxy=None))


class Line:
    """The page's end of a channel."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.game: dict[str, Any] = {}

    def send(self, **message: Any) -> None:
        self.socket.send(json.dumps(message))

    def hear(self, kind: str) -> dict[str, Any]:
        """Wait for a message of a kind."""
        while True:
            message: dict[str, Any] = json.loads(self.socket.recv(timeout=PATIENCE))
            if message["kind"] == "game":
                self.game = message
            if message["kind"] == kind:
                return message

    def turn(self) -> dict[str, Any]:
        """Wait until it is the visitor's turn, or the game is over."""
        while not self.game or not (
            self.game["result"]
            or (self.game["mover"] == self.game["side"] and not self.game["thinking"])
        ):
            self.hear("game")
            assert not self.game["trouble"], self.game["trouble"]
        return self.game

    def play(self, move: str) -> dict[str, Any]:
        """Make a move, and wait until it is the visitor's turn again or the game is over."""
        ply = self.game["ply"]
        self.send(do="move", move=move, ply=ply)
        while self.game["ply"] == ply and not self.game["result"]:
            self.hear("game")
        return self.turn()

    def close(self) -> None:
        self.socket.close()


@contextmanager
def serving(
    store: Path,
    tokens: str | None = None,
    limits: ServerLimits = DEFAULT_LIMITS,
    offers: SiteResources = NO_RESOURCES,
    port: int = 0,
    tls: ssl.SSLContext | None = None,
) -> Iterator[Served]:
    """Run a server for the duration of the block."""
    started = threading.Event()
    ends: list[Any] = []
    log: list[str] = []

    async def run() -> None:
        database = Database(store)
        site = SiteContext(
            limits,
            EventLog(log.append),
            database,
            TokenFile(tokens) if tokens else None,
            offers=offers,
        )
        server = PageServer(site)
        end = asyncio.Event()
        try:
            opened = await server.open(Address("ws", "127.0.0.1", port), tls)
            ends.extend([asyncio.get_running_loop(), end, Served(site, opened.port, log)])
            started.set()
            await end.wait()
        finally:
            started.set()
            await server.close()
            database.close()

    thread = threading.Thread(target=lambda: asyncio.run(run()), name="pages")
    thread.start()
    started.wait(PATIENCE)
    try:
        yield ends[2]
    finally:
        ends[0].call_soon_threadsafe(ends[1].set)
        thread.join(PATIENCE)
        assert not thread.is_alive()
