"""An engine of ours for the analysis board of lichess.org: it takes work, and answers it."""

from __future__ import annotations

import queue
import secrets
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from protocols.remote.lichess import (
    LichessClient,
    LichessError,
    LichessUnavailableError,
    Upload,
    Work,
)
from protocols.stdio import ThreadedLineProtocol

# Between two tries to reach the server, in seconds, at first and at most.
MIN_RETRY_DELAY_S = 1.0
MAX_RETRY_DELAY_S = 60.0
# How often it is looked whether the answer is still wanted, in seconds.
POLL_INTERVAL_S = 0.05
# How long an engine may take to end a search, in seconds.
STOP_TIMEOUT_S = 10.0
# What the board is always analysed with.
FIXED_OPTIONS = {"UCI_AnalyseMode": "true", "UCI_Chess960": "true", "OwnBook": "false"}


@dataclass(frozen=True, slots=True)
class EngineRegistration:
    """What an engine is offered as. depth: of a search for which the board sets no limit."""

    name: str
    threads: int
    megabytes: int
    depth: int
    options: Mapping[str, str] = field(default_factory=dict)


class LichessProvider:
    """Takes work from lichess until told to stop. make: makes an engine of UCI, given its voice.

    A board that is moved on asks anew: what comes later ends what is being answered.
    """

    def __init__(
        self,
        client: LichessClient,
        registration: EngineRegistration,
        factory: Callable[[Callable[[str], None]], ThreadedLineProtocol],
        report: Callable[[str], None],
    ) -> None:
        self._client = client
        self._registration = registration
        self._report = report
        # It is made anew at each start, and nowhere kept.
        self._secret = secrets.token_urlsafe(32)
        self._stopped = threading.Event()
        self._engine = ProviderEngine(factory, registration)
        self._analysis_thread: threading.Thread | None = None
        self._cancelled = threading.Event()

    def run(self) -> None:
        """Take work until told to stop. Raises LichessError for what will not change."""
        self._retry(self._register)
        while not self._stopped.is_set():
            self._retry(self._accept_work)

    def stop(self) -> None:
        """Take no more work, and end what goes on. From any thread."""
        self._stopped.set()
        self._cancelled.set()

    def close(self, limit: float) -> bool:
        """End the engine; return whether all ended within about `limit` seconds."""
        self.stop()
        return self._engine.close(limit)

    def _retry(self, action: Callable[[], None]) -> None:
        """Do something over a network that may be away."""
        pause, told = MIN_RETRY_DELAY_S, ""
        while not self._stopped.is_set():
            try:
                action()
            except LichessUnavailableError as error:
                if str(error) != told:
                    told = str(error)
                    self._report(f"{error}; trying again")
                self._stopped.wait(max(pause, error.retry_after))
                pause = min(2 * pause, MAX_RETRY_DELAY_S)
            else:
                if told:
                    self._report("the server is there again")
                return

    def _register(self) -> None:
        registration = self._registration
        self._client.register(
            {
                "name": registration.name,
                "maxThreads": registration.threads,
                "maxHash": registration.megabytes,
                "defaultDepth": registration.depth,
                "variants": ["chess"],
                "providerSecret": self._secret,
            }
        )
        self._report(f"{registration.name} waits at the analysis board")

    def _accept_work(self) -> None:
        try:
            work = self._client.acquire_work(self._secret)
        except ValueError as error:
            self._report(f"left undone: {error}")
            self._stopped.wait(MIN_RETRY_DELAY_S)
            return
        if work is None or self._stopped.is_set():
            return
        self._cancelled.set()
        if self._analysis_thread is not None:
            self._analysis_thread.join(STOP_TIMEOUT_S)
            if self._analysis_thread.is_alive():
                raise LichessError("the engine does not end its search")
        self._cancelled = threading.Event()
        self._analysis_thread = threading.Thread(
            target=self._answer, args=(work, self._cancelled), name="answering", daemon=True
        )
        self._analysis_thread.start()

    def _answer(self, work: Work, cancelled: threading.Event) -> None:
        try:
            upload = self._client.upload(work)
        except (LichessUnavailableError, LichessError) as error:
            self._report(f"an answer was not begun: {error}")
            return
        try:
            if self._engine.answer(work, upload, cancelled):
                upload.finish()
        except (LichessUnavailableError, LichessError) as error:
            self._report(f"an answer was not taken: {error}")
        finally:
            upload.close()


class ProviderEngine:
    """An engine of UCI in this process, which does one piece of work after the other."""

    def __init__(
        self,
        factory: Callable[[Callable[[str], None]], ThreadedLineProtocol],
        registration: EngineRegistration,
    ) -> None:
        self._output: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._uci = factory(self._output.put)
        self._registration = registration
        self._session: str | None = None
        self._send_line("uci")
        for name, value in {**registration.options, **FIXED_OPTIONS}.items():
            self._send_line(f"setoption name {name} value {value}")

    def answer(self, work: Work, upload: Upload, cancelled: threading.Event) -> bool:
        """Search, and send what is found; return whether it came to its end, wanted.

        Raises LichessUnavailableError, after the end of the search.
        """
        self._prepare(work)
        self._send_line(" ".join(["position fen", work.fen, "moves", *work.moves]))
        self._send_line(self._go(work))
        wanted, over = True, False
        try:
            while not over:
                if wanted and (cancelled.is_set() or upload.closed_by_server()):
                    wanted = False
                    self._send_line("stop")
                try:
                    line = self._output.get(timeout=POLL_INTERVAL_S)
                except queue.Empty:
                    continue
                over = line.startswith("bestmove")
                if wanted and (over or (line.startswith("info ") and " pv " in line)):
                    upload.send(line)
            return wanted
        except LichessUnavailableError:
            self._send_line("stop")
            while not over:
                over = self._output.get().startswith("bestmove")
            return False

    def close(self, limit: float) -> bool:
        """End it."""
        return self._uci.close(limit)

    def _prepare(self, work: Work) -> None:
        """Set what the work asks for, within what is offered."""
        if work.session != self._session:
            self._session = work.session
            self._send_line("ucinewgame")
        self._send_line(
            f"setoption name Threads value {min(work.threads, self._registration.threads)}"
        )
        self._send_line(
            f"setoption name Hash value {min(work.megabytes, self._registration.megabytes)}"
        )
        self._send_line(f"setoption name MultiPV value {work.multipv}")
        while not self._output.empty():
            self._output.get()

    def _go(self, work: Work) -> str:
        if work.limits:
            return " ".join(["go", *(f"{name} {value}" for name, value in work.limits.items())])
        return "go infinite" if work.infinite else f"go depth {self._registration.depth}"

    def _send_line(self, line: str) -> None:
        for reply in self._uci.handle_line(line):
            self._output.put(reply)
