"""An engine that plays elsewhere: a session that a server serves, and that outlives its breaks.

The front end's lines are passed on by the thread that reads them, the server's by one of ours; a
third, which sleeps, answers in time what no server does.
"""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Callable, Iterator

from agent.border.plain_text import plain
from protocols.remote.dialogue import Dialogue, Traffic
from protocols.remote.wire import NoServerError, NotAdmittedError, ServerLines

# Between two tries to reach a server, in seconds: at first, and at most; and at most while
# something is asked.
FIRST_PAUSE = 0.05
LONGEST_PAUSE = 5.0
LONGEST_PAUSE_ASKED = 0.5
# So long may a server take to answer the telephone, in seconds.
DIAL_LIMIT = 5.0
# How long after the end of input the last answers may take, in seconds.
LAST_ANSWERS = 10.0
# Of breaks: a front end need not read what persons are told, and a full pipe would stop us.
MOST_REPORTS = 200
SILENT = "the server is silent"


class RemoteEngine:
    """Serves one front end by a server.

    talk: what is said, in its protocol. dial: connects to the server within so many seconds, or
    raises OSError or NotAdmittedError. send: takes lines for the front end, from any thread.
    report: tells a person. end: ends the session. patience: seconds to wait for a server that has
    never been there, or that refuses a session it had.
    """

    def __init__(
        self,
        talk: Dialogue,
        dial: Callable[[float], ServerLines],
        send: Callable[[str], None],
        report: Callable[[str], None],
        end: Callable[[], None],
        patience: float,
    ) -> None:
        self.status = 0
        self._talk = talk
        self._dial = dial
        self._send = send
        self._report = report
        self._end = end
        self._patience = patience
        # Since when there has been no hope: no server at first, or one that refuses.
        self._missed: float | None = time.monotonic()
        self._changed = threading.Condition()
        self._hurry = threading.Event()
        self._lines: ServerLines | None = None
        self._known = False
        self._tried = False
        self._reason = "no server has been reached yet"
        self._wakes: float | None = None
        self._over = False
        self._reports = 0
        self._stops: float | None = None
        for work in (self._serve, self._watch):
            threading.Thread(target=work, name=f"remote{work.__name__}", daemon=True).start()

    @property
    def finished(self) -> bool:
        """Whether the session is to end."""
        return self._talk.finished or self._over

    def handle_line(self, line: str) -> Iterator[str]:
        """Pass a line on. What is to be answered to it is sent."""
        with self._changed:
            if not self._over:
                now = time.monotonic()
                if not self._known and self._lines is not None and not self._talk.asking():
                    self._missed = now  # nothing has been asked before
                self._deliver(self._talk.asked(line, now))
                if self._lines is None:
                    self._hurry.set()
        yield from ()

    def overlong_line(self) -> Iterator[str]:
        """Say that a line was dropped."""
        with self._changed:
            yield from self._talk.overlong().front

    def drain(self, timeout: float | None = None) -> bool:
        """After the last line: wait for what has been asked, at most LAST_ANSWERS seconds.

        Where no server is, nothing is waited for: what has been asked is answered as it can be.
        """
        with self._changed:
            if self._stops is None:
                self._stops = time.monotonic() + LAST_ANSWERS
                self._deliver(self._talk.stop())
            left = self._stops - time.monotonic()
            self._changed.wait_for(self._idle, min(left, left if timeout is None else timeout))
            if self._idle() and self._talk.asking() and not self._over:
                self._fail(self._reason)
            return self._idle() or left <= 0

    def close(self, timeout: float) -> bool:
        """End it; its threads wait for nothing that could keep the process."""
        with self._changed:
            self._over = True
            self._drop()
            self._changed.notify_all()
            self._hurry.set()
        return True

    def _idle(self) -> bool:
        away = self._lines is None and (self._tried or self._over)
        return away or not self._talk.asking()

    def _deliver(self, traffic: Traffic) -> None:
        """Send lines; the lock is held."""
        if traffic.server and self._lines is not None:
            try:
                self._lines.send(list(traffic.server))
            except OSError as error:
                self._reason = describe(error)
                self._drop()
        if traffic.front:
            self._send("\n".join(traffic.front))
        if traffic.drop:
            self._drop()
        due = self._talk.due()
        if (
            not self._known
            or self._stops is not None
            or (due is not None and (self._wakes is None or due < self._wakes))
        ):
            self._changed.notify_all()

    def _drop(self) -> None:
        """Cut the connection; who reads from it will notice. The lock is held."""
        if self._lines is not None:
            self._lines.close()

    def _watch(self) -> None:
        """Answer what is due and no server has answered."""
        with self._changed:
            while not self._over:
                now, due = time.monotonic(), self._talk.due()
                hopeless = self._hopeless()
                if hopeless is not None and hopeless <= now:
                    self._fail(self._reason if self._lines is None else SILENT)
                elif due is not None and due <= now:
                    reason = self._reason if self._lines is None else SILENT
                    self._deliver(self._talk.overdue(now, reason))
                else:
                    times = [each for each in (due, hopeless) if each is not None]
                    self._wakes = min(times, default=None)
                    self._changed.wait(None if self._wakes is None else self._wakes - now)

    def _hopeless(self) -> float | None:
        """Return when to give up a server that has never said anything."""
        idle = self._lines is not None and not self._talk.asking()
        if self._known or self._missed is None or idle:
            return None
        return self._missed + self._patience

    def _serve(self) -> None:
        """Have a server as long as the session lasts."""
        pause = FIRST_PAUSE
        while not self._over:
            try:
                lines = self._dial(DIAL_LIMIT)
            except (OSError, NotAdmittedError) as error:
                self._miss(error)
            else:
                if self._converse(lines):
                    pause = FIRST_PAUSE
            if self._over:
                return
            self._hurry.clear()
            if self._hurry.wait(min(pause, LONGEST_PAUSE_ASKED) if self._talk.asking() else pause):
                pause = min(pause, LONGEST_PAUSE_ASKED)
                time.sleep(FIRST_PAUSE)  # for who asks in a hurry, and asks much
            pause = min(2 * pause, LONGEST_PAUSE)

    def _converse(self, lines: ServerLines) -> bool:
        """Pass the server's lines on until it is lost; return whether it said anything."""
        heard, held = False, ""
        lost: OSError | NotAdmittedError
        with self._changed:
            if self._over:
                lines.close()
                return False
            if self._known:
                self._tell("the server is there again")
            self._lines = lines
            self._deliver(self._talk.resume(time.monotonic()))
        try:
            while True:
                received = lines.receive()
                if held:
                    received = [held, *received]
                # A server that wants us no more says so in its last line.
                held = received.pop() if received[-1].startswith("refused ") else ""
                with self._changed:
                    for line in received:
                        self._deliver(self._talk.told(line, time.monotonic()))
                    if self._talk.failed:
                        self._fail(self._talk.failed)
                    if received:
                        heard = self._known = True
                        self._missed = None
        except OSError as error:
            lost = error
            if held:
                lost = NotAdmittedError(held.partition(" ")[2])
        except Exception as error:  # noqa: BLE001 - whatever a server says, it is told of
            lost = NoServerError(f"the server said what nobody expects: {error!r}")
        with self._changed:
            self._lines = None
            self._deliver(self._talk.lost(time.monotonic()))
            lines.close()
        self._miss(lost, broken=heard)
        return heard

    def _miss(self, error: OSError | NotAdmittedError, broken: bool = False) -> None:
        """Take note of why there is no server; end the session where that will not change.

        A server that refuses a session it had may do so because it has not noticed the break.
        """
        with self._changed:
            if self._over:
                return
            self._tried = True
            reason = describe(error)
            if broken or (reason != self._reason and self._known):
                self._tell(f"{reason}; trying again")
            self._reason = reason
            refused = isinstance(error, (NotAdmittedError, ssl.SSLCertVerificationError))
            if self._known and not refused:
                self._missed = None
            elif self._known and self._missed is None:
                self._missed = time.monotonic()
            waited = 0.0 if self._missed is None else time.monotonic() - self._missed
            if (refused and not self._known) or waited >= self._patience:
                self._fail(reason)
            self._changed.notify_all()
            asked = self._talk.asking()
        if asked:
            threading.Thread(target=_prepare, name="prepare", daemon=True).start()

    def _tell(self, message: str) -> None:
        """Tell the front end, and a person, of a break; the lock is held."""
        self._reports += 1
        if self._reports < MOST_REPORTS:
            self._report(message)
        elif self._reports == MOST_REPORTS:
            self._report(f"{message}; no more is told of breaks")
        self._deliver(self._talk.tell(message))

    def _fail(self, reason: str) -> None:
        """End the session; the lock is held."""
        self._report(reason)
        self._deliver(self._talk.give_up(time.monotonic(), reason))
        self.status, self._over = 1, True
        self._drop()
        self._changed.notify_all()
        self._end()


def describe(error: OSError | NotAdmittedError) -> str:
    """Return what is wrong, for a person."""
    if isinstance(error, NotAdmittedError):
        return f"the server refuses us: {plain(str(error), 300)}"
    if isinstance(error, ssl.SSLCertVerificationError):
        return (
            f"the server's certificate is not trusted: {plain(error.verify_message, 300)}; "
            "name the authority that signed it by --ca FILE"
        )
    return f"no server: {plain(error.strerror or str(error) or type(error).__name__, 300)}"


def _prepare() -> None:
    """Import what an answer without a server needs, before it is needed."""
    import chess  # noqa: F401
