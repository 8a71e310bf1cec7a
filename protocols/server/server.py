"""The network server, which admits clients and runs a session for each client."""

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
from protocols.server.admission import (
    ANONYMOUS,
    DROPPED,
    AdmissionControl,
    ConnectionSlot,
    RejectedError,
    client_key,
)
from protocols.server.event_log import EventLog
from protocols.server.limits import ServerLimits
from protocols.server.line_scheduler import LineScheduler, SessionLines
from protocols.server.metrics import Gauges, Metrics
from protocols.server.network_session import CLOSE_TIMEOUT_S, NetworkSession, ProtocolFactory
from protocols.server.tls_listener import Handshakes, listening
from protocols.server.tokens import TokenFile
from protocols.server.transport import ConnectionLostError, StreamTransport, Transport
from protocols.server.unused_memory import return_unused_memory
from protocols.tasks import cancel_all

if TYPE_CHECKING:
    from protocols.server.websocket import WebListener

ANY_PROTOCOL = "any"
AUTHORIZE = "authorize"
SHUTDOWN_MESSAGE = "the server is shutting down"
GC_INTERVAL_S = 3.0  # time for the last lines after a session has ended


class Server:
    """A server for `protocol`. ANY_PROTOCOL stands for all protocols in `factories`.

    If `tokens` is None, every client is admitted. Web pages from `origins` may open a WebSocket.
    The function `extra_gauges` returns additional metrics.
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
        self.admission = AdmissionControl(limits, tokens, origins)
        self.handshakes = Handshakes(self.admission)
        self.shutting_down = False
        self._factories = factories
        self._extra_gauges = extra_gauges
        self._log = log
        self._tls = tls
        self._line_scheduler = LineScheduler()
        # A session uses at most one thread to handle a line, and one more while it ends.
        self._pool = ThreadPoolExecutor(2 * limits.sessions, thread_name_prefix="session")
        self._servers: list[asyncio.Server] = []
        self._web_listeners: list[WebListener] = []
        self._connections: dict[asyncio.Task[Any], NetworkSession | None] = {}
        self._connection_ids = itertools.count(1)
        self._threads_abandoned = False
        self._gc_timer: asyncio.TimerHandle | None = None

    async def listen(self, address: Address, *, status_only: bool = False) -> Address:
        """Listen on an address. Return the address with the actual port.

        With `status_only`, serve only /health and /metrics over HTTP. Raise OSError if listening
        fails, and ImportError if the package websockets is missing.
        """
        tls = self._tls if address.uses_tls else None
        if address.uses_http or status_only:
            from protocols.server.websocket import WebListener

            web = WebListener(self, address.scheme, status_only=status_only)
            opened = await web.listen(address, tls)
            self._web_listeners.append(web)
            return opened
        server = await asyncio.start_server(
            self._on_connection,
            **listening(address, self.handshakes),
            ssl=tls,
            ssl_handshake_timeout=None if tls is None else self.limits.auth_timeout,
            ssl_shutdown_timeout=None if tls is None else CLOSE_TIMEOUT_S,
        )
        self._servers.append(server)
        return address.with_port(server.sockets[0].getsockname()[1])

    async def close(self) -> bool:
        """End all sessions. Return whether all threads have ended in time."""
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
                session.end("end", SHUTDOWN_MESSAGE, self.limits.shutdown_timeout)
        tasks = set(self._connections)
        if tasks:
            await asyncio.wait(tasks, timeout=self.limits.shutdown_timeout + 3 * CLOSE_TIMEOUT_S)
        self._threads_abandoned |= any(not task.done() for task in tasks)
        await cancel_all(tasks)
        for web in self._web_listeners:
            await web.wait_closed()
        self._pool.shutdown(wait=False, cancel_futures=True)
        return not self._threads_abandoned

    def metrics_text(self) -> str:
        return self.metrics.render(
            {
                "sessions": ("Running sessions.", self.admission.sessions),
                "waiting": ("Clients waiting for admission.", self.admission.waiting),
                "waiting_lines": ("Lines waiting for others.", self._line_scheduler.waiting),
                "threads": ("Threads of the process.", threading.active_count()),
                **self._extra_gauges(),
            }
        )

    def supports(self, protocol: str) -> bool:
        return protocol in self._factories and self.protocol in (ANY_PROTOCOL, protocol)

    async def serve_client(
        self, transport: Transport, slot: ConnectionSlot, protocol: str, over: str
    ) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections[task] = None
        session_id = next(self._connection_ids)
        self.metrics.count("connections", over)
        self._log.write_limited("connected", session=session_id, peer=transport.peer, over=over)
        try:
            initial_lines = await self._admit(transport, slot)
            if initial_lines:
                await self._serve(transport, slot, protocol, session_id, initial_lines)
            else:
                raise ConnectionLostError("nothing received")
        except RejectedError as error:
            self.metrics.count("refused", error.code)
            name = slot.name or ""
            self._log.write_limited("refused", session=session_id, name=name, reason=str(error))
            await _send_line(transport, f"refused {error}")
        except ConnectionLostError as error:
            reason = str(error)
            if slot.dropped:
                reason = DROPPED
                self.metrics.count("refused", "crowd")
            self._log.write_limited("ended", session=session_id, reason=reason)
        except asyncio.CancelledError:
            if not self.shutting_down:
                raise
            await _send_line(transport, f"refused {SHUTDOWN_MESSAGE}")
        except Exception as error:  # noqa: BLE001 - other sessions must continue
            name = slot.name or ""
            self._log.write_limited("failed", session=session_id, name=name, error=describe(error))
            await _send_line(transport, "refused internal server error")
        finally:
            slot.end_session()
            await _close(transport)
            slot.close()
            session = self._connections.get(task)
            if session is not None and not await session.wait_for_threads():
                self._threads_abandoned = True
                self.metrics.count("left_behind")
                self._log.write_limited("left behind", session=session_id, name=slot.name or "")
            del self._connections[task]
            if session is not None:
                self._schedule_gc()

    def log_rejection(self, peer: str, over: str, error: RejectedError) -> None:
        self.metrics.count("connections", over)
        self.metrics.count("refused", error.code)
        self._log.write_limited("refused", peer=peer, over=over, reason=str(error))

    def _on_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        transport = StreamTransport(reader, writer, self.limits.line_bytes)
        self.handshakes.end(writer.get_extra_info("socket"))
        slot = self.admission.open_slot(
            transport.host, None if self.admission.tokens is None else transport.drop
        )
        over = "tcp" if writer.get_extra_info("ssl_object") is None else "tls"
        if slot.over_hard_limit:
            slot.close()
            transport.abort()
            self.log_rejection(
                transport.peer,
                over,
                RejectedError("crowd", "far too many connections; disconnected"),
            )
        else:
            task = asyncio.create_task(self.serve_client(transport, slot, self.protocol, over))
            self._connections[task] = None

    async def _admit(self, transport: Transport, slot: ConnectionSlot) -> list[str | None]:
        """Admit a client. Return its first lines, or [] at the end of input."""
        if self.shutting_down:
            raise RejectedError("end", SHUTDOWN_MESSAGE)
        slot.check_limits()
        seconds, problem = self.limits.idle_timeout, "no input"
        if needs_token := slot.name is None and self.admission.tokens is not None:
            seconds, problem = self.limits.auth_timeout, "no token"
        elif slot.name is None:
            slot.admit(ANONYMOUS)
        received = await self._first_lines(transport, seconds, problem)
        if not received:
            return []
        word, space, token = (received[0] or "").partition(" ")
        if needs_token:
            if word != AUTHORIZE:
                raise RejectedError("token", f"expected as first line: {AUTHORIZE} TOKEN")
            slot.authenticate(token.strip())
        elif (word, space) != (AUTHORIZE, " "):
            return received
        await transport.write([b"authorized"])
        return received[1:] or await self._first_lines(
            transport, self.limits.idle_timeout, "no input"
        )

    async def _first_lines(
        self, transport: Transport, seconds: float, problem: str
    ) -> list[str | None]:
        try:
            async with asyncio.timeout(seconds):
                return await transport.receive()
        except TimeoutError:
            raise RejectedError("late", f"{problem} for {seconds:g} seconds") from None

    async def _serve(
        self,
        transport: Transport,
        slot: ConnectionSlot,
        protocol: str,
        session_id: int,
        initial_lines: list[str | None],
    ) -> None:
        started = time.monotonic()
        self._log.write_limited(
            "began",
            session=session_id,
            name=slot.name or "",
            peer=transport.peer,
            protocol=protocol,
        )
        self.metrics.count("sessions_begun", protocol)
        session = NetworkSession(
            transport,
            protocol,
            self._factories[protocol],
            self._pool,
            self.limits,
            self.metrics,
            SessionLines(self._line_scheduler, client_key(transport.host, slot.name or "")),
        )
        task = asyncio.current_task()
        assert task is not None
        self._connections[task] = session
        reason = "failed"
        try:
            reason = await session.run(initial_lines)
        finally:
            self.metrics.count("sessions_ended", reason)
            self._log.write_limited(
                "ended",
                session=session_id,
                name=slot.name or "",
                reason=reason,
                lines=session.lines,
                seconds=round(time.monotonic() - started, 3),
            )

    def _schedule_gc(self) -> None:
        """Schedule a collection of the reference cycles that ended sessions leave behind.

        The automatic collector counts objects instead of bytes, so it would run too late.
        """
        if self._gc_timer is None and not self.shutting_down:
            self._gc_timer = asyncio.get_running_loop().call_later(
                GC_INTERVAL_S, self._collect_garbage
            )

    def _collect_garbage(self) -> None:
        self._gc_timer = None
        gc.collect()
        self._pool.submit(return_unused_memory)


async def _send_line(transport: Transport, line: str) -> None:
    with contextlib.suppress(ConnectionLostError, TimeoutError):
        async with asyncio.timeout(CLOSE_TIMEOUT_S):
            await transport.write([line.encode()])


async def _close(transport: Transport) -> None:
    try:
        async with asyncio.timeout(CLOSE_TIMEOUT_S):
            await transport.close()
    except TimeoutError:
        pass
    finally:
        transport.abort()
