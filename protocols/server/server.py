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

from agent.agent import describe
from protocols.server.addresses import Address
from protocols.server.admission import AdmissionControl, ConnectionSlot, RejectedError
from protocols.server.event_log import EventLog
from protocols.server.limits import ServerLimits
from protocols.server.metrics import Gauges, Metrics
from protocols.server.network_session import CLOSE_TIMEOUT_S, NetworkSession, ProtocolFactory
from protocols.server.tokens import TokenFile
from protocols.server.transport import ConnectionLostError, StreamTransport, Transport
from protocols.tasks import cancel_all

if TYPE_CHECKING:
    from protocols.server.websocket import WebListener

ANY_PROTOCOL = "any"
AUTHORIZE = "authorize"
SHUTDOWN_MESSAGE = "the server ends"
GC_INTERVAL_S = 3.0  # seconds, after a session has ended


class Server:
    """Serves protocols by their names: `protocol` of `makers`, or all where that is ANY.

    tokens: None lets everybody in. tls: what secure addresses speak. origins: the web pages that
    may open a WebSocket, as browsers name them, beside those of the server's own host. state: what
    else is told of now, in the metrics.
    """

    def __init__(
        self,
        factories: Mapping[str, ProtocolFactory],
        protocol: str,
        limits: ServerLimits,
        log: EventLog,
        tokens: TokenFile | None = None,
        tls: ssl.SSLContext | None = None,
        origins: Iterable[str] = (),
        extra_gauges: Callable[[], Gauges] = dict,
    ) -> None:
        self.protocol = protocol
        self.limits = limits
        self.metrics = Metrics()
        self.admission = AdmissionControl(limits, tokens)
        self.origins = frozenset(origin.lower() for origin in origins)
        self.shutting_down = False
        self._factories = factories
        self._extra_gauges = extra_gauges
        self._log = log
        self._tls = tls
        # A session has one thread at most that acts on a line, and one more as it ends.
        self._pool = ThreadPoolExecutor(2 * limits.sessions, thread_name_prefix="session")
        self._servers: list[asyncio.Server] = []
        self._web_listeners: list[WebListener] = []
        self._connections: dict[asyncio.Task[Any], NetworkSession | None] = {}
        self._connection_ids = itertools.count(1)
        self._threads_abandoned = False
        self._gc_timer: asyncio.TimerHandle | None = None

    async def listen(self, address: Address) -> Address:
        """Listen at an address, and return it with the port that it got. Raises OSError.

        For addresses of the web the package websockets is needed: raises ImportError.
        """
        tls = self._tls if address.uses_tls else None
        if address.uses_http:
            return await self._listen_web(address, tls, status_only=False)
        server = await asyncio.start_server(
            self._on_connection,
            address.host,
            address.port,
            ssl=tls,
            ssl_handshake_timeout=None if tls is None else self.limits.authorising,
            ssl_shutdown_timeout=None if tls is None else CLOSE_TIMEOUT_S,
        )
        self._servers.append(server)
        return address.with_port(server.sockets[0].getsockname()[1])

    async def listen_status(self, address: Address) -> Address:
        """Tell of health and metrics over HTTP at an address, and nothing else; as `listen`."""
        return await self._listen_web(address, None, status_only=True)

    async def close(self) -> bool:
        """End all in about the grace that is given; return whether all threads have ended."""
        self.shutting_down = True
        if self._gc_timer is not None:
            self._gc_timer.cancel()
        for server in self._servers:
            server.close()
        for web in self._web_listeners:
            web.close()
        for task, session in self._connections.items():
            if session is None:
                task.cancel()
            else:
                session.end("end", SHUTDOWN_MESSAGE, self.limits.grace)
        tasks = set(self._connections)
        if tasks:
            await asyncio.wait(tasks, timeout=self.limits.grace + 3 * CLOSE_TIMEOUT_S)
        self._threads_abandoned |= any(not task.done() for task in tasks)
        await cancel_all(tasks)
        for web in self._web_listeners:
            await web.wait_closed()
        self._pool.shutdown(wait=False, cancel_futures=True)
        return not self._threads_abandoned

    def metrics_text(self) -> str:
        """Return what `/metrics` answers."""
        return self.metrics.render(
            {
                "sessions": ("Sessions that are served now.", self.admission.sessions),
                "waiting": ("Clients that are not let in yet.", self.admission.waiting),
                "threads": ("Threads of the process.", threading.active_count()),
                **self._extra_gauges(),
            }
        )

    def supports(self, protocol: str) -> bool:
        """Tell whether a protocol is spoken here."""
        return protocol in self._factories and self.protocol in (ANY_PROTOCOL, protocol)

    async def serve_client(
        self, wire: Transport, slot: ConnectionSlot, protocol: str, over: str
    ) -> None:
        """Serve a client until its session ends, or refuse it. Never raises but when cancelled."""
        task = asyncio.current_task()
        assert task is not None
        self._connections[task] = None
        number = next(self._connection_ids)
        self.metrics.count("connections", over)
        self._log.write("connected", session=number, peer=wire.peer, over=over)
        try:
            first = await self._admit(wire, slot)
            if first:
                await self._serve(wire, slot, protocol, number, first)
            else:
                self._log.write("ended", session=number, reason="nothing was said")
        except RejectedError as error:
            self._log_session_rejection(number, slot, error)
            await _send_line(wire, f"refused {error}")
        except ConnectionLostError as error:
            self._log.write("ended", session=number, reason=str(error))
        except asyncio.CancelledError:
            if not self.shutting_down:
                raise
            await _send_line(wire, f"refused {SHUTDOWN_MESSAGE}")
        except Exception as error:  # noqa: BLE001 - one session is not all
            self._log.write("failed", session=number, error=describe(error))
            await _send_line(wire, "refused the session failed, which is a fault of the server")
        finally:
            slot.end_session()
            await _close(wire)
            slot.close()
            session = self._connections.get(task)
            if session is not None and not await session.wait_for_threads():
                self._threads_abandoned = True
                self.metrics.count("left_behind")
                self._log.write("left behind", session=number, name=slot.name or "")
            del self._connections[task]
            if session is not None:
                self._schedule_gc()

    def log_rejection(self, peer: str, over: str, error: RejectedError) -> None:
        """Take note of somebody who was refused before there was a wire."""
        self.metrics.count("connections", over)
        self.metrics.count("refused", error.code)
        self._log.write("refused", peer=peer, over=over, reason=str(error))

    def _on_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        wire = StreamTransport(reader, writer, self.limits.line_bytes)
        slot = self.admission.open_slot(wire.host)
        over = "tcp" if writer.get_extra_info("ssl_object") is None else "tls"
        if slot.over_hard_limit:
            slot.close()
            wire.abort()
            self.log_rejection(
                wire.peer, over, RejectedError("crowd", "cut off, as one of a crowd")
            )
        else:
            visit = asyncio.create_task(self.serve_client(wire, slot, self.protocol, over))
            self._connections[visit] = None

    async def _admit(self, wire: Transport, slot: ConnectionSlot) -> list[str | None]:
        """Return the first lines of a client who is let in, none if it says nothing."""
        if self.shutting_down:
            raise RejectedError("end", SHUTDOWN_MESSAGE)
        slot.check_limits()
        if slot.name is None and self.admission.tokens is not None:
            received = await self._first_lines(wire, self.limits.authorising, "no token came")
            if not received:
                return []
            word, _, token = (received.pop(0) or "").partition(" ")
            if word != AUTHORIZE:
                raise RejectedError("token", f"begin with {AUTHORIZE} and your token")
            slot.authenticate(token.strip())
            await wire.write([b"authorized"])
            return received or await self._first_lines(wire, self.limits.idle, "nothing was asked")
        if slot.name is None:
            slot.admit_anonymous()
        received = await self._first_lines(wire, self.limits.idle, "nothing was asked")
        if received and (received[0] or "").startswith(f"{AUTHORIZE} "):
            await wire.write([b"authorized"])
            received.pop(0)
            return received or await self._first_lines(wire, self.limits.idle, "nothing was asked")
        return received

    async def _first_lines(self, wire: Transport, seconds: float, lacking: str) -> list[str | None]:
        try:
            async with asyncio.timeout(seconds):
                return await wire.receive()
        except TimeoutError:
            raise RejectedError("late", f"{lacking} for {seconds:g} seconds") from None

    async def _serve(
        self,
        wire: Transport,
        slot: ConnectionSlot,
        protocol: str,
        number: int,
        first: list[str | None],
    ) -> None:
        began = time.monotonic()
        self._log.write("began", session=number, name=slot.name or "", protocol=protocol)
        self.metrics.count("sessions_begun", protocol)
        session = NetworkSession(
            wire, protocol, self._factories[protocol], self._pool, self.limits, self.metrics, first
        )
        task = asyncio.current_task()
        assert task is not None
        self._connections[task] = session
        reason = "failed"
        try:
            reason = await session.run()
        finally:
            self.metrics.count("sessions_ended", reason)
            self._log.write(
                "ended",
                session=number,
                name=slot.name or "",
                reason=reason,
                lines=session.lines,
                seconds=round(time.monotonic() - began, 3),
            )

    def _log_session_rejection(
        self, number: int, slot: ConnectionSlot, error: RejectedError
    ) -> None:
        self.metrics.count("refused", error.code)
        self._log.write("refused", session=number, name=slot.name or "", reason=str(error))

    def _schedule_gc(self) -> None:
        """Free in a while what sessions have left in circles.

        The collector counts objects: it does not see that a few of them hold megabytes.
        """
        if self._gc_timer is None and not self.shutting_down:
            self._gc_timer = asyncio.get_running_loop().call_later(
                GC_INTERVAL_S, self._collect_garbage
            )

    def _collect_garbage(self) -> None:
        self._gc_timer = None
        gc.collect()

    async def _listen_web(
        self, address: Address, tls: ssl.SSLContext | None, *, status_only: bool
    ) -> Address:
        from protocols.server.websocket import WebListener

        web = WebListener(self, status_only=status_only)
        self._web_listeners.append(web)
        return await web.listen(address, tls)


async def _send_line(wire: Transport, line: str) -> None:
    with contextlib.suppress(ConnectionLostError, TimeoutError):
        async with asyncio.timeout(CLOSE_TIMEOUT_S):
            await wire.write([line.encode()])


async def _close(wire: Transport) -> None:
    """End a connection in order, or at once if the client takes too long."""
    try:
        async with asyncio.timeout(CLOSE_TIMEOUT_S):
            await wire.close()
    except TimeoutError:
        pass
    finally:
        wire.abort()
