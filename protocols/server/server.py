"""The server: it listens, and gives each client a session."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

from protocols.server.addresses import Address
from protocols.server.remote_session import Maker, RemoteSession
from protocols.server.wire import StreamWire, Wire
from protocols.tasks import cancel_all

LINE_BYTES = 64 << 10
SESSIONS = 256


class Server:
    """Serves protocols, by their names, at addresses."""

    def __init__(self, makers: Mapping[str, Maker], protocol: str) -> None:
        self._makers = makers
        self._protocol = protocol
        self._pool = ThreadPoolExecutor(2 * SESSIONS, thread_name_prefix="session")
        self._servers: list[asyncio.Server] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def listen(self, address: Address) -> Address:
        """Listen at an address, and return it with the port that it got. Raises OSError."""
        server = await asyncio.start_server(self._connected, address.host, address.port)
        self._servers.append(server)
        return address.at(server.sockets[0].getsockname()[1])

    async def close(self) -> None:
        """End all."""
        for server in self._servers:
            server.close()
        await cancel_all(self._tasks)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        await self._serve(StreamWire(reader, writer, LINE_BYTES))

    async def _serve(self, wire: Wire) -> None:
        await RemoteSession(wire, self._makers[self._protocol], self._pool).run()
