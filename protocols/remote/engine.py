"""A remote engine session that survives lost connections.

The reading thread forwards the front end's lines. A second thread forwards the server's lines and
reconnects. A third thread enforces deadlines.
"""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Callable, Iterator
from math import inf
from typing import Any

from agent.io.sanitize import sanitize_line
from protocols.remote.line_channel import LineChannel
from protocols.remote.proxy import OutgoingLines, Proxy
from protocols.remote.transport import (
    ServerConnectionError,
    ServerRejectedError,
    describe_error,
)
from protocols.reply_deadline import ReplyDeadline

# Delay between connection attempts: initial, maximum, and maximum while a command is unanswered.
MIN_RETRY_DELAY_S = 0.05
MAX_RETRY_DELAY_S = 5.0
MAX_RETRY_DELAY_PENDING_S = 0.5
# Timeout of a connection attempt.
CONNECT_TIMEOUT_S = 5.0
# Timeout for each of the last answers after the end of input.
FINAL_REPLIES_TIMEOUT_S = 10.0
# Maximum number of reports of lost connections: stderr may be a pipe that nobody reads, and a full
# pipe blocks.
MAX_REPORTS = 200
SERVER_SILENT = "no answer from the server"


class RemoteEngine:
    """Connects one front end, such as a chess GUI, to a server and reconnects when necessary.

    - `proxy`: the state of the session in its protocol.
    - `connect`: connects within a number of seconds, or raises OSError or ServerRejectedError.
    - `send`: sends lines to the front end. Must be thread-safe.
    - `end`: ends input from the front end when the session fails.
    - `timeout`: seconds until the session fails if no server accepts it.
    """

    def __init__(
        self,
        proxy: Proxy[Any],
        connect: Callable[[float], LineChannel],
        send: Callable[[str], None],
        report: Callable[[str], None],
        end: Callable[[], None],
        timeout: float,
    ) -> None:
        self.exit_status = 0
        self._proxy = proxy
        self._connect = connect
        self._send = send
        self._report = report
        self._on_end = end
        self._timeout = timeout
        # Start of the period in which the server was unreachable or rejected the session, or `inf`.
        self._unreachable_since = time.monotonic()
        self._changed = threading.Condition()
        self._retry_now = threading.Event()
        self._channel: LineChannel | None = None
        self._has_replied = False
        self._attempted = False
        self._reason = "no server reached yet"
        self._next_wakeup = inf
        self._ended = False
        self._reports = 0
        self._drain_deadline = ReplyDeadline()
        for work in (self._keep_connected, self._watch_deadlines):
            threading.Thread(target=work, name=f"remote{work.__name__}", daemon=True).start()

    @property
    def finished(self) -> bool:
        return self._proxy.finished or self._ended

    def handle_line(self, line: str) -> Iterator[str]:
        """Forward a line to the server. Answers are passed to the function `send`."""
        with self._changed:
            if not self._ended:
                now = time.monotonic()
                if not self._has_replied and self._connected_and_idle():
                    self._unreachable_since = now
                self._send_outgoing(self._proxy.on_frontend_line(line, now))
                if self._channel is None:
                    self._retry_now.set()
        yield from ()

    def handle_overlong_line(self) -> Iterator[str]:
        with self._changed:
            if not self._ended:
                self._send_outgoing(self._proxy.on_overlong_line(time.monotonic()))
        yield from ()

    def drain(self, timeout: float | None = None) -> bool:
        """Wait for pending answers after the end of input. Return False after `timeout` seconds.

        Stop waiting and return True when no server is connected, or when no command is answered for
        FINAL_REPLIES_TIMEOUT_S seconds.
        """
        with self._changed:
            if not self._drain_deadline.is_set:
                self._send_outgoing(self._proxy.stop())
            pending = self._proxy.pending_count
            remaining = self._drain_deadline.remaining(pending, FINAL_REPLIES_TIMEOUT_S)
            self._changed.wait_for(
                self._idle, remaining if timeout is None else min(remaining, timeout)
            )
            if self._idle() and self._proxy.has_pending() and not self._ended:
                self._fail(self._reason)
            return self._idle() or remaining <= 0

    def close(self, timeout: float) -> bool:
        """Disconnect. The threads are daemons, so they do not keep the process alive."""
        with self._changed:
            self._ended = True
            self._disconnect()
            self._changed.notify_all()
            self._retry_now.set()
        return True

    def _idle(self) -> bool:
        disconnected = self._channel is None and (self._attempted or self._ended)
        return disconnected or not self._proxy.has_pending()

    def _send_outgoing(self, outgoing: OutgoingLines) -> None:
        """Send lines. The caller must hold the lock."""
        if outgoing.server and self._channel is not None:
            try:
                self._channel.send(list(outgoing.server))
            except OSError as error:
                self._reason = describe(error)
                self._disconnect()
        if outgoing.frontend:
            self._send("\n".join(outgoing.frontend))
        if outgoing.disconnect:
            self._disconnect()
        draining = self._drain_deadline.is_set
        if not self._has_replied or draining or self._proxy.deadline() < self._next_wakeup:
            self._changed.notify_all()

    def _disconnect(self) -> None:
        """Close the connection, which wakes the reading thread. The caller must hold the lock."""
        if self._channel is not None:
            self._channel.close()

    def _watch_deadlines(self) -> None:
        with self._changed:
            while not self._ended:
                now = time.monotonic()
                due, give_up_at = self._proxy.deadline(), self._give_up_time()
                reason = self._reason if self._channel is None else SERVER_SILENT
                if give_up_at <= now:
                    self._fail(reason)
                elif due <= now:
                    self._send_outgoing(self._proxy.on_timeout(now, reason))
                else:
                    self._next_wakeup = min(due, give_up_at)
                    self._changed.wait(min(self._next_wakeup - now, threading.TIMEOUT_MAX))

    def _connected_and_idle(self) -> bool:
        return self._channel is not None and not self._proxy.has_pending()

    def _give_up_time(self) -> float:
        """Return the time at which to stop trying to reach a server."""
        if self._has_replied or self._connected_and_idle():
            return inf
        return self._unreachable_since + self._timeout

    def _keep_connected(self) -> None:
        delay = MIN_RETRY_DELAY_S
        while not self._ended:
            try:
                lines = self._connect(CONNECT_TIMEOUT_S)
            except (OSError, ServerRejectedError) as error:
                self._on_no_server(error)
            else:
                if self._relay(lines):
                    delay = MIN_RETRY_DELAY_S
            if self._ended:
                return
            self._retry_now.clear()
            if self._retry_now.wait(
                min(delay, MAX_RETRY_DELAY_PENDING_S) if self._proxy.has_pending() else delay
            ):
                delay = min(delay, MAX_RETRY_DELAY_PENDING_S)
                time.sleep(MIN_RETRY_DELAY_S)  # Many lines may arrive at once.
            delay = min(2 * delay, MAX_RETRY_DELAY_S)

    def _relay(self, lines: LineChannel) -> bool:
        """Forward the server's lines until the connection ends. Return whether any line arrived."""
        has_replied, held = False, ""
        lost: OSError | ServerRejectedError
        with self._changed:
            if self._ended:
                lines.close()
                return False
            if self._has_replied:
                self._report_break("reconnected")
            self._channel = lines
            self._send_outgoing(self._proxy.on_connected(time.monotonic()))
        try:
            while True:
                received = lines.receive()
                if held:
                    received = [held, *received]
                # A server that ends the session gives the reason in its last line.
                held = received.pop() if received[-1].startswith("refused ") else ""
                with self._changed:
                    for line in received:
                        self._send_outgoing(self._proxy.on_server_line(line, time.monotonic()))
                    if self._proxy.failure:
                        self._fail(self._proxy.failure)
                    if received:
                        has_replied = self._has_replied = True
                        self._unreachable_since = inf
        except OSError as error:
            lost = error
            if held:
                lost = ServerRejectedError(held.partition(" ")[2])
        except Exception as error:  # noqa: BLE001 - server input is untrusted
            lost = ServerConnectionError(f"unexpected answer: {error!r}")
        with self._changed:
            self._channel = None
            self._send_outgoing(self._proxy.on_disconnected(time.monotonic()))
            lines.close()
        self._on_no_server(lost, broken=has_replied)
        return has_replied

    def _on_no_server(self, error: OSError | ServerRejectedError, broken: bool = False) -> None:
        """Record why no server is available, and end the session if retrying is pointless.

        A rejection may be temporary, because the server may still count the lost connection.
        """
        with self._changed:
            if self._ended:
                return
            self._attempted = True
            now, reason = time.monotonic(), describe(error)
            if broken or (reason != self._reason and self._has_replied):
                self._report_break(f"{reason}; reconnecting")
            self._reason = reason
            rejected = isinstance(error, (ServerRejectedError, ssl.SSLCertVerificationError))
            if self._has_replied:
                self._unreachable_since = min(self._unreachable_since, now) if rejected else inf
            hopeless = rejected and not self._has_replied
            if hopeless or now - self._unreachable_since >= self._timeout:
                self._fail(reason)
            self._changed.notify_all()
            pending = self._proxy.has_pending()
        if pending:
            threading.Thread(target=_preload, name="prepare", daemon=True).start()

    def _report_break(self, message: str) -> None:
        self._reports += 1
        if self._reports < MAX_REPORTS:
            self._report(message)
        elif self._reports == MAX_REPORTS:
            self._report(f"{message}; further connection problems are not reported")
        self._send_outgoing(self._proxy.notify(message))

    def _fail(self, reason: str) -> None:
        self._report(reason)
        self._send_outgoing(self._proxy.abort(reason))
        self.exit_status, self._ended = 1, True
        self._disconnect()
        self._changed.notify_all()
        self._on_end()


def describe(error: OSError | ServerRejectedError) -> str:
    if isinstance(error, ServerRejectedError):
        return f"rejected by the server: {sanitize_line(str(error), 300)}"
    reason = describe_error(error)
    return reason if isinstance(error, ssl.SSLCertVerificationError) else f"no connection: {reason}"


def _preload() -> None:
    """Import slow modules that are needed to answer without a server."""
    import chess  # noqa: F401
