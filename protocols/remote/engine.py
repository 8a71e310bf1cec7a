"""An engine that plays elsewhere: a session that a server serves, and that outlives its breaks.

The front end's lines are passed on by the thread that reads them, the server's by one of ours; a
third, which sleeps, answers in time what no server does.
"""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Callable, Iterator

from agent.io.sanitize import sanitize_line
from protocols.remote.proxy import Outgoing, Proxy
from protocols.remote.transport import LineChannel, ServerConnectionError, ServerRejectedError

# Between two tries to reach a server, in seconds: at first, and at most; and at most while
# something is asked.
MIN_RETRY_DELAY_S = 0.05
MAX_RETRY_DELAY_S = 5.0
MAX_RETRY_DELAY_PENDING_S = 0.5
# So long may a server take to answer the telephone, in seconds.
CONNECT_TIMEOUT_S = 5.0
# How long after the end of input the last answers may take, in seconds.
FINAL_REPLIES_TIMEOUT_S = 10.0
# Of breaks: a front end need not read what persons are told, and a full pipe would stop us.
MAX_REPORTS = 200
SERVER_SILENT = "the server is silent"


class RemoteEngine:
    """Serves one front end by a server.

    talk: what is said, in its protocol. dial: connects to the server within so many seconds, or
    raises OSError or ServerRejectedError. send: takes lines for the front end, from any thread.
    report: tells a person. end: ends the session. patience: seconds to wait for a server that has
    never been there, or that refuses a session it had.
    """

    def __init__(
        self,
        proxy: Proxy,
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
        # Since when there has been no hope: no server at first, or one that refuses.
        self._unreachable_since: float | None = time.monotonic()
        self._changed = threading.Condition()
        self._retry_now = threading.Event()
        self._channel: LineChannel | None = None
        self._has_replied = False
        self._attempted = False
        self._reason = "no server has been reached yet"
        self._next_wakeup: float | None = None
        self._ended = False
        self._reports = 0
        self._drain_deadline: float | None = None
        for work in (self._keep_connected, self._watch_deadlines):
            threading.Thread(target=work, name=f"remote{work.__name__}", daemon=True).start()

    @property
    def finished(self) -> bool:
        """Whether the session is to end."""
        return self._proxy.finished or self._ended

    def handle_line(self, line: str) -> Iterator[str]:
        """Pass a line on. What is to be answered to it is sent."""
        with self._changed:
            if not self._ended:
                now = time.monotonic()
                if (
                    not self._has_replied
                    and self._channel is not None
                    and not self._proxy.has_pending()
                ):
                    self._unreachable_since = now  # nothing has been asked before
                self._send_outgoing(self._proxy.on_frontend_line(line, now))
                if self._channel is None:
                    self._retry_now.set()
        yield from ()

    def handle_overlong_line(self) -> Iterator[str]:
        """Say that a line was dropped."""
        with self._changed:
            yield from self._proxy.on_overlong_line().frontend

    def drain(self, timeout: float | None = None) -> bool:
        """After the last line: wait for what has been asked, at most FINAL_REPLIES_TIMEOUT_S seconds.

        Where no server is, nothing is waited for: what has been asked is answered as it can be.
        """
        with self._changed:
            if self._drain_deadline is None:
                self._drain_deadline = time.monotonic() + FINAL_REPLIES_TIMEOUT_S
                self._send_outgoing(self._proxy.stop())
            left = self._drain_deadline - time.monotonic()
            self._changed.wait_for(self._idle, min(left, left if timeout is None else timeout))
            if self._idle() and self._proxy.has_pending() and not self._ended:
                self._fail(self._reason)
            return self._idle() or left <= 0

    def close(self, timeout: float) -> bool:
        """End it; its threads wait for nothing that could keep the process."""
        with self._changed:
            self._ended = True
            self._disconnect()
            self._changed.notify_all()
            self._retry_now.set()
        return True

    def _idle(self) -> bool:
        away = self._channel is None and (self._attempted or self._ended)
        return away or not self._proxy.has_pending()

    def _send_outgoing(self, outgoing: Outgoing) -> None:
        """Send lines; the lock is held."""
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
        due = self._proxy.deadline()
        if (
            not self._has_replied
            or self._drain_deadline is not None
            or (due is not None and (self._next_wakeup is None or due < self._next_wakeup))
        ):
            self._changed.notify_all()

    def _disconnect(self) -> None:
        """Cut the connection; who reads from it will notice. The lock is held."""
        if self._channel is not None:
            self._channel.close()

    def _watch_deadlines(self) -> None:
        """Answer what is due and no server has answered."""
        with self._changed:
            while not self._ended:
                now, due = time.monotonic(), self._proxy.deadline()
                hopeless = self._give_up_time()
                if hopeless is not None and hopeless <= now:
                    self._fail(self._reason if self._channel is None else SERVER_SILENT)
                elif due is not None and due <= now:
                    reason = self._reason if self._channel is None else SERVER_SILENT
                    self._send_outgoing(self._proxy.on_timeout(now, reason))
                else:
                    times = [each for each in (due, hopeless) if each is not None]
                    self._next_wakeup = min(times, default=None)
                    self._changed.wait(
                        None if self._next_wakeup is None else self._next_wakeup - now
                    )

    def _give_up_time(self) -> float | None:
        """Return when to give up a server that has never said anything."""
        idle = self._channel is not None and not self._proxy.has_pending()
        if self._has_replied or self._unreachable_since is None or idle:
            return None
        return self._unreachable_since + self._timeout

    def _keep_connected(self) -> None:
        """Have a server as long as the session lasts."""
        pause = MIN_RETRY_DELAY_S
        while not self._ended:
            try:
                lines = self._connect(CONNECT_TIMEOUT_S)
            except (OSError, ServerRejectedError) as error:
                self._on_no_server(error)
            else:
                if self._relay(lines):
                    pause = MIN_RETRY_DELAY_S
            if self._ended:
                return
            self._retry_now.clear()
            if self._retry_now.wait(
                min(pause, MAX_RETRY_DELAY_PENDING_S) if self._proxy.has_pending() else pause
            ):
                pause = min(pause, MAX_RETRY_DELAY_PENDING_S)
                time.sleep(MIN_RETRY_DELAY_S)  # for who asks in a hurry, and asks much
            pause = min(2 * pause, MAX_RETRY_DELAY_S)

    def _relay(self, lines: LineChannel) -> bool:
        """Pass the server's lines on until it is lost; return whether it said anything."""
        heard, held = False, ""
        lost: OSError | ServerRejectedError
        with self._changed:
            if self._ended:
                lines.close()
                return False
            if self._has_replied:
                self._report_break("the server is there again")
            self._channel = lines
            self._send_outgoing(self._proxy.on_connected(time.monotonic()))
        try:
            while True:
                received = lines.receive()
                if held:
                    received = [held, *received]
                # A server that wants us no more says so in its last line.
                held = received.pop() if received[-1].startswith("refused ") else ""
                with self._changed:
                    for line in received:
                        self._send_outgoing(self._proxy.on_server_line(line, time.monotonic()))
                    if self._proxy.failure:
                        self._fail(self._proxy.failure)
                    if received:
                        heard = self._has_replied = True
                        self._unreachable_since = None
        except OSError as error:
            lost = error
            if held:
                lost = ServerRejectedError(held.partition(" ")[2])
        except Exception as error:  # noqa: BLE001 - whatever a server says, it is told of
            lost = ServerConnectionError(f"the server said what nobody expects: {error!r}")
        with self._changed:
            self._channel = None
            self._send_outgoing(self._proxy.on_disconnected(time.monotonic()))
            lines.close()
        self._on_no_server(lost, broken=heard)
        return heard

    def _on_no_server(self, error: OSError | ServerRejectedError, broken: bool = False) -> None:
        """Take note of why there is no server; end the session where that will not change.

        A server that refuses a session it had may do so because it has not noticed the break.
        """
        with self._changed:
            if self._ended:
                return
            self._attempted = True
            reason = describe(error)
            if broken or (reason != self._reason and self._has_replied):
                self._report_break(f"{reason}; trying again")
            self._reason = reason
            refused = isinstance(error, (ServerRejectedError, ssl.SSLCertVerificationError))
            if self._has_replied and not refused:
                self._unreachable_since = None
            elif self._has_replied and self._unreachable_since is None:
                self._unreachable_since = time.monotonic()
            waited = (
                0.0
                if self._unreachable_since is None
                else time.monotonic() - self._unreachable_since
            )
            if (refused and not self._has_replied) or waited >= self._timeout:
                self._fail(reason)
            self._changed.notify_all()
            asked = self._proxy.has_pending()
        if asked:
            threading.Thread(target=_preload, name="prepare", daemon=True).start()

    def _report_break(self, message: str) -> None:
        """Tell the front end, and a person, of a break; the lock is held."""
        self._reports += 1
        if self._reports < MAX_REPORTS:
            self._report(message)
        elif self._reports == MAX_REPORTS:
            self._report(f"{message}; no more is told of breaks")
        self._send_outgoing(self._proxy.notify(message))

    def _fail(self, reason: str) -> None:
        """End the session; the lock is held."""
        self._report(reason)
        self._send_outgoing(self._proxy.abort(time.monotonic(), reason))
        self.exit_status, self._ended = 1, True
        self._disconnect()
        self._changed.notify_all()
        self._on_end()


def describe(error: OSError | ServerRejectedError) -> str:
    """Return what is wrong, for a person."""
    if isinstance(error, ServerRejectedError):
        return f"the server refuses us: {sanitize_line(str(error), 300)}"
    if isinstance(error, ssl.SSLCertVerificationError):
        return (
            f"the server's certificate is not trusted: {sanitize_line(error.verify_message, 300)}; "
            "name the authority that signed it by --ca FILE"
        )
    return f"no server: {sanitize_line(error.strerror or str(error) or type(error).__name__, 300)}"


def _preload() -> None:
    """Import what an answer without a server needs, before it is needed."""
    import chess  # noqa: F401
