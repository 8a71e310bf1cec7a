"""The server: it listens at addresses, lets clients in, and gives each a session."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import itertools
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from agent.player import describe
from protocols.server.addresses import Address
from protocols.server.door import Door, Guest, RefusedError
from protocols.server.event_log import EventLog
from protocols.server.limits import ServerLimits
from protocols.server.metrics import Gauges, Metrics
from protocols.server.remote_session import LAST_WORDS, Maker, RemoteSession
from protocols.server.tokens import TokenFile
from protocols.server.wire import StreamWire, Wire, WireLostError
from protocols.tasks import cancel_all

if TYPE_CHECKING:
    from protocols.server.web import WebDoor

ANY = "any"
AUTHORIZE = "authorize"
THE_END = "the server ends"
TIDY_EVERY = 3.0  # seconds, after a session has ended


class Server:
    """Serves protocols by their names: `protocol` of `makers`, or all where that is ANY.

    tokens: None lets everybody in. tls: what secure addresses speak. origins: the web pages that
    may open a WebSocket, as browsers name them, beside those of the server's own host. state: what
    else is told of now, in the metrics.
    """

    def __init__(
        self,
        makers: Mapping[str, Maker],
        protocol: str,
        limits: ServerLimits,
        log: EventLog,
        tokens: TokenFile | None = None,
        tls: ssl.SSLContext | None = None,
        origins: Iterable[str] = (),
        state: Callable[[], Gauges] = dict,
    ) -> None:
        self.protocol = protocol
        self.limits = limits
        self.metrics = Metrics()
        self.door = Door(limits, tokens)
        self.origins = frozenset(origin.lower() for origin in origins)
        self.ending = False
        self._makers = makers
        self._state = state
        self._log = log
        self._tls = tls
        # A session has one thread at most that acts on a line, and one more as it ends.
        self._pool = ThreadPoolExecutor(2 * limits.sessions, thread_name_prefix="session")
        self._servers: list[asyncio.Server] = []
        self._webs: list[WebDoor] = []
        self._visits: dict[asyncio.Task[Any], RemoteSession | None] = {}
        self._numbers = itertools.count(1)
        self._left_behind = False
        self._tidying: asyncio.TimerHandle | None = None

    async def listen(self, address: Address) -> Address:
        """Listen at an address, and return it with the port that it got. Raises OSError.

        For addresses of the web the package websockets is needed: raises ImportError.
        """
        tls = self._tls if address.secure else None
        if address.web:
            return await self._open_web(address, tls, status_alone=False)
        server = await asyncio.start_server(
            self._connected,
            address.host,
            address.port,
            ssl=tls,
            ssl_handshake_timeout=None if tls is None else self.limits.authorising,
            ssl_shutdown_timeout=None if tls is None else LAST_WORDS,
        )
        self._servers.append(server)
        return address.at(server.sockets[0].getsockname()[1])

    async def tell_status(self, address: Address) -> Address:
        """Tell of health and metrics over HTTP at an address, and nothing else; as `listen`."""
        return await self._open_web(address, None, status_alone=True)

    async def close(self) -> bool:
        """End all in about the grace that is given; return whether all threads have ended."""
        self.ending = True
        if self._tidying is not None:
            self._tidying.cancel()
        for server in self._servers:
            server.close()
        for web in self._webs:
            web.close()
        for task, session in self._visits.items():
            if session is None:
                task.cancel()
            else:
                session.end("end", THE_END, self.limits.grace)
        tasks = set(self._visits)
        if tasks:
            await asyncio.wait(tasks, timeout=self.limits.grace + 3 * LAST_WORDS)
        self._left_behind |= any(not task.done() for task in tasks)
        await cancel_all(tasks)
        for web in self._webs:
            await web.wait_closed()
        self._pool.shutdown(wait=False, cancel_futures=True)
        return not self._left_behind

    def status(self) -> str:
        """Return what `/metrics` answers."""
        return self.metrics.text(
            {
                "sessions": ("Sessions that are served now.", self.door.sessions),
                "waiting": ("Clients that are not let in yet.", self.door.waiting),
                "threads": ("Threads of the process.", threading.active_count()),
                **self._state(),
            }
        )

    def serves(self, protocol: str) -> bool:
        """Tell whether a protocol is spoken here."""
        return protocol in self._makers and self.protocol in (ANY, protocol)

    async def visit(self, wire: Wire, guest: Guest, protocol: str, over: str) -> None:
        """Serve a client until its session ends, or refuse it. Never raises but when cancelled."""
        task = asyncio.current_task()
        assert task is not None
        self._visits[task] = None
        number = next(self._numbers)
        self.metrics.count("connections", over)
        self._log.note("connected", session=number, peer=wire.peer, over=over)
        try:
            first = await self._let_in(wire, guest)
            if first:
                await self._serve(wire, guest, protocol, number, first)
            else:
                self._log.note("ended", session=number, reason="nothing was said")
        except RefusedError as error:
            self._note_refusal(number, guest, error)
            await _say(wire, f"refused {error}")
        except WireLostError as error:
            self._log.note("ended", session=number, reason=str(error))
        except asyncio.CancelledError:
            if not self.ending:
                raise
            await _say(wire, f"refused {THE_END}")
        except Exception as error:  # noqa: BLE001 - one session is not all
            self._log.note("failed", session=number, error=describe(error))
            await _say(wire, "refused the session failed, which is a fault of the server")
        finally:
            guest.finish()
            await _close(wire)
            guest.leave()
            session = self._visits.get(task)
            if session is not None and not await session.settled():
                self._left_behind = True
                self.metrics.count("left_behind")
                self._log.note("left behind", session=number, name=guest.name or "")
            del self._visits[task]
            if session is not None:
                self._tidy_soon()

    def note_refusal(self, peer: str, over: str, error: RefusedError) -> None:
        """Take note of somebody who was refused before there was a wire."""
        self.metrics.count("connections", over)
        self.metrics.count("refused", error.kind)
        self._log.note("refused", peer=peer, over=over, reason=str(error))

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        wire = StreamWire(reader, writer, self.limits.line_bytes)
        guest = self.door.knock(wire.host)
        over = "tcp" if writer.get_extra_info("ssl_object") is None else "tls"
        if guest.crowding:
            guest.leave()
            wire.abort()
            self.note_refusal(wire.peer, over, RefusedError("crowd", "cut off, as one of a crowd"))
        else:
            visit = asyncio.create_task(self.visit(wire, guest, self.protocol, over))
            self._visits[visit] = None

    async def _let_in(self, wire: Wire, guest: Guest) -> list[str | None]:
        """Return the first lines of a client who is let in, none if it says nothing."""
        if self.ending:
            raise RefusedError("end", THE_END)
        guest.check()
        if guest.name is None and self.door.tokens is not None:
            received = await self._first(wire, self.limits.authorising, "no token came")
            if not received:
                return []
            word, _, token = (received.pop(0) or "").partition(" ")
            if word != AUTHORIZE:
                raise RefusedError("token", f"begin with {AUTHORIZE} and your token")
            guest.authorise(token.strip())
            await wire.write([b"authorized"])
            return received or await self._first(wire, self.limits.idle, "nothing was asked")
        if guest.name is None:
            guest.admit()
        received = await self._first(wire, self.limits.idle, "nothing was asked")
        if received and (received[0] or "").startswith(f"{AUTHORIZE} "):
            await wire.write([b"authorized"])
            received.pop(0)
            return received or await self._first(wire, self.limits.idle, "nothing was asked")
        return received

    async def _first(self, wire: Wire, seconds: float, lacking: str) -> list[str | None]:
        try:
            async with asyncio.timeout(seconds):
                return await wire.receive()
        except TimeoutError:
            raise RefusedError("late", f"{lacking} for {seconds:g} seconds") from None

    async def _serve(
        self, wire: Wire, guest: Guest, protocol: str, number: int, first: list[str | None]
    ) -> None:
        began = time.monotonic()
        self._log.note("began", session=number, name=guest.name or "", protocol=protocol)
        self.metrics.count("sessions_begun", protocol)
        session = RemoteSession(
            wire, protocol, self._makers[protocol], self._pool, self.limits, self.metrics, first
        )
        task = asyncio.current_task()
        assert task is not None
        self._visits[task] = session
        reason = "failed"
        try:
            reason = await session.run()
        finally:
            self.metrics.count("sessions_ended", reason)
            self._log.note(
                "ended",
                session=number,
                name=guest.name or "",
                reason=reason,
                lines=session.lines,
                seconds=round(time.monotonic() - began, 3),
            )

    def _note_refusal(self, number: int, guest: Guest, error: RefusedError) -> None:
        self.metrics.count("refused", error.kind)
        self._log.note("refused", session=number, name=guest.name or "", reason=str(error))

    def _tidy_soon(self) -> None:
        """Free in a while what sessions have left in circles.

        The collector counts objects: it does not see that a few of them hold megabytes.
        """
        if self._tidying is None and not self.ending:
            self._tidying = asyncio.get_running_loop().call_later(TIDY_EVERY, self._tidy)

    def _tidy(self) -> None:
        self._tidying = None
        gc.collect()

    async def _open_web(
        self, address: Address, tls: ssl.SSLContext | None, *, status_alone: bool
    ) -> Address:
        from protocols.server.web import WebDoor

        web = WebDoor(self, status_alone=status_alone)
        self._webs.append(web)
        return await web.open(address, tls)


async def _say(wire: Wire, line: str) -> None:
    with contextlib.suppress(WireLostError, TimeoutError):
        async with asyncio.timeout(LAST_WORDS):
            await wire.write([line.encode()])


async def _close(wire: Wire) -> None:
    """End a connection in order, or at once if the client takes too long."""
    try:
        async with asyncio.timeout(LAST_WORDS):
            await wire.close()
    except TimeoutError:
        pass
    finally:
        wire.abort()
