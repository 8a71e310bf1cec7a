"""An engine provider for lichess.org's analysis board."""

from __future__ import annotations

import queue
import secrets
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from agent.games.variants import VARIANTS
from protocols.remote.lichess import (
    AnalysisRequest,
    AnalysisUpload,
    LichessClient,
    LichessError,
    LichessUnavailableError,
)
from protocols.stdio import ThreadedLineProtocol

# Initial and maximum delay between attempts to reach the server.
MIN_RETRY_DELAY_S = 1.0
MAX_RETRY_DELAY_S = 60.0
# How often to check whether lichess still wants the results.
POLL_INTERVAL_S = 0.05
# Timeout for an engine to stop its search.
STOP_TIMEOUT_S = 10.0
# Options set for every analysis.
FIXED_OPTIONS = {"UCI_AnalyseMode": "true", "UCI_Chess960": "true", "OwnBook": "false"}


@dataclass(frozen=True, slots=True)
class EngineRegistration:
    """An engine that is offered to lichess. Requests without a limit are searched to `depth`."""

    name: str
    threads: int
    megabytes: int
    depth: int
    options: Mapping[str, str] = field(default_factory=dict)


class LichessProvider:
    """Fetches analysis requests from lichess until stopped, and uploads the results.

    A new request cancels the running analysis. The function `factory` creates a UCI engine that
    passes its output to the given function.
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
        # A new secret is generated at every start and never stored.
        self._secret = secrets.token_urlsafe(32)
        self._stopped = threading.Event()
        self._engine = ProviderEngine(factory, registration)
        self._analysis_thread: threading.Thread | None = None
        self._cancelled = threading.Event()

    def run(self) -> None:
        """Process requests until stopped. Raise LichessError for a permanent error."""
        self._retry(self._register)
        while not self._stopped.is_set():
            self._retry(self._accept_work)

    def stop(self) -> None:
        """Stop fetching requests and cancel the running analysis. Thread-safe."""
        self._stopped.set()
        self._cancelled.set()

    def close(self, timeout: float) -> bool:
        """Stop the engine. Return whether it ended within about `timeout` seconds."""
        self.stop()
        return self._engine.close(timeout)

    def _retry(self, action: Callable[[], None]) -> None:
        """Run an action until it succeeds, with increasing delays. Report each new error once."""
        delay, reported = MIN_RETRY_DELAY_S, ""
        while not self._stopped.is_set():
            try:
                action()
            except LichessUnavailableError as error:
                if str(error) != reported:
                    reported = str(error)
                    self._report(f"{error}; retrying")
                self._stopped.wait(max(delay, error.retry_after))
                delay = min(2 * delay, MAX_RETRY_DELAY_S)
            else:
                if reported:
                    self._report("reconnected")
                return

    def _register(self) -> None:
        registration = self._registration
        self._client.register(
            {
                "name": registration.name,
                "maxThreads": registration.threads,
                "maxHash": registration.megabytes,
                "defaultDepth": registration.depth,
                "variants": list(VARIANTS),
                "providerSecret": self._secret,
            }
        )
        self._report(f"{registration.name}: registered on the analysis board")

    def _accept_work(self) -> None:
        try:
            work = self._client.acquire_work(self._secret)
        except ValueError as error:
            self._report(f"request ignored: {error}")
            self._stopped.wait(MIN_RETRY_DELAY_S)
            return
        if work is None or self._stopped.is_set():
            return
        self._cancelled.set()
        if self._analysis_thread is not None:
            self._analysis_thread.join(STOP_TIMEOUT_S)
            if self._analysis_thread.is_alive():
                raise LichessError("the engine does not stop its search")
        self._cancelled = threading.Event()
        self._analysis_thread = threading.Thread(
            target=self._answer, args=(work, self._cancelled), name="answering", daemon=True
        )
        self._analysis_thread.start()

    def _answer(self, work: AnalysisRequest, cancelled: threading.Event) -> None:
        try:
            upload = self._client.upload(work)
        except (LichessUnavailableError, LichessError) as error:
            self._report(f"could not start the upload: {error}")
            return
        try:
            if self._engine.answer(work, upload, cancelled):
                upload.finish()
        except (LichessUnavailableError, LichessError) as error:
            self._report(f"results rejected: {error}")
        finally:
            upload.close()


class ProviderEngine:
    """A UCI engine in this process that handles one analysis request at a time."""

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

    def answer(
        self, work: AnalysisRequest, upload: AnalysisUpload, cancelled: threading.Event
    ) -> bool:
        """Search a position and upload the results. Return False if cancelled or disconnected."""
        self._prepare(work)
        self._send_line(" ".join(["position fen", work.fen, "moves", *work.moves]))
        self._send_line(self._go(work))
        wanted, line = True, ""
        while not line.startswith("bestmove"):
            try:
                if wanted and (cancelled.is_set() or upload.closed_by_server()):
                    raise LichessUnavailableError("the results are no longer wanted")
                line = self._output.get(timeout=POLL_INTERVAL_S)
                if wanted and (line.startswith("bestmove") or " pv " in line):
                    upload.send(line)
            except queue.Empty:
                pass
            except LichessUnavailableError:
                wanted = False
                self._send_line("stop")
        return wanted

    def close(self, timeout: float) -> bool:
        return self._uci.close(timeout)

    def _prepare(self, work: AnalysisRequest) -> None:
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
        self._send_line(f"setoption name UCI_Variant value {work.variant}")
        while not self._output.empty():
            self._output.get()

    def _go(self, work: AnalysisRequest) -> str:
        if work.limits:
            return " ".join(["go", *(f"{name} {value}" for name, value in work.limits.items())])
        return "go infinite" if work.infinite else f"go depth {self._registration.depth}"

    def _send_line(self, line: str) -> None:
        for reply in self._uci.handle_line(line):
            self._output.put(reply)
