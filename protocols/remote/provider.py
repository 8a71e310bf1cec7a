"""An engine of ours for the analysis board of lichess.org: it takes work, and answers it."""

from __future__ import annotations

import queue
import secrets
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from protocols.pipes import Served
from protocols.remote.lichess import (
    LichessAwayError,
    LichessClient,
    LichessError,
    Upload,
    Work,
)

# Between two tries to reach the server, in seconds, at first and at most.
FIRST_PAUSE = 1.0
LONGEST_PAUSE = 60.0
# How often it is looked whether the answer is still wanted, in seconds.
GLANCE = 0.05
# How long an engine may take to end a search, in seconds.
STOP_LIMIT = 10.0
# What the board is always analysed with.
ALWAYS = {"UCI_AnalyseMode": "true", "UCI_Chess960": "true", "OwnBook": "false"}


@dataclass(frozen=True, slots=True)
class Offer:
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
        offer: Offer,
        make: Callable[[Callable[[str], None]], Served],
        report: Callable[[str], None],
    ) -> None:
        self._client = client
        self._offer = offer
        self._report = report
        # It is made anew at each start, and nowhere kept.
        self._secret = secrets.token_urlsafe(32)
        self._stopped = threading.Event()
        self._engine = WorkingEngine(make, offer)
        self._answering: threading.Thread | None = None
        self._outdated = threading.Event()

    def run(self) -> None:
        """Take work until told to stop. Raises LichessError for what will not change."""
        self._insist(self._register)
        while not self._stopped.is_set():
            self._insist(self._take)

    def stop(self) -> None:
        """Take no more work, and end what goes on. From any thread."""
        self._stopped.set()
        self._outdated.set()

    def close(self, limit: float) -> bool:
        """End the engine; return whether all ended within about `limit` seconds."""
        self.stop()
        return self._engine.close(limit)

    def _insist(self, action: Callable[[], None]) -> None:
        """Do something over a network that may be away."""
        pause, told = FIRST_PAUSE, ""
        while not self._stopped.is_set():
            try:
                action()
            except LichessAwayError as error:
                if str(error) != told:
                    told = str(error)
                    self._report(f"{error}; trying again")
                self._stopped.wait(max(pause, error.pause))
                pause = min(2 * pause, LONGEST_PAUSE)
            else:
                if told:
                    self._report("the server is there again")
                return

    def _register(self) -> None:
        offer = self._offer
        self._client.register(
            {
                "name": offer.name,
                "maxThreads": offer.threads,
                "maxHash": offer.megabytes,
                "defaultDepth": offer.depth,
                "variants": ["chess"],
                "providerSecret": self._secret,
            }
        )
        self._report(f"{offer.name} waits at the analysis board")

    def _take(self) -> None:
        try:
            work = self._client.work(self._secret)
        except ValueError as error:
            self._report(f"left undone: {error}")
            self._stopped.wait(FIRST_PAUSE)
            return
        if work is None or self._stopped.is_set():
            return
        self._outdated.set()
        if self._answering is not None:
            self._answering.join(STOP_LIMIT)
            if self._answering.is_alive():
                raise LichessError("the engine does not end its search")
        self._outdated = threading.Event()
        self._answering = threading.Thread(
            target=self._answer, args=(work, self._outdated), name="answering", daemon=True
        )
        self._answering.start()

    def _answer(self, work: Work, outdated: threading.Event) -> None:
        try:
            upload = self._client.upload(work)
        except (LichessAwayError, LichessError) as error:
            self._report(f"an answer was not begun: {error}")
            return
        try:
            if self._engine.answer(work, upload, outdated):
                upload.finish()
        except (LichessAwayError, LichessError) as error:
            self._report(f"an answer was not taken: {error}")
        finally:
            upload.close()


class WorkingEngine:
    """An engine of UCI in this process, which does one piece of work after the other."""

    def __init__(self, make: Callable[[Callable[[str], None]], Served], offer: Offer) -> None:
        self._said: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._uci = make(self._said.put)
        self._offer = offer
        self._session: str | None = None
        self._say("uci")
        for name, value in {**offer.options, **ALWAYS}.items():
            self._say(f"setoption name {name} value {value}")

    def answer(self, work: Work, upload: Upload, outdated: threading.Event) -> bool:
        """Search, and send what is found; return whether it came to its end, wanted.

        Raises LichessAwayError, after the end of the search.
        """
        self._prepare(work)
        self._say(" ".join(["position fen", work.fen, "moves", *work.moves]))
        self._say(self._go(work))
        wanted, over = True, False
        try:
            while not over:
                if wanted and (outdated.is_set() or upload.unwanted()):
                    wanted = False
                    self._say("stop")
                try:
                    line = self._said.get(timeout=GLANCE)
                except queue.Empty:
                    continue
                over = line.startswith("bestmove")
                if wanted and (over or (line.startswith("info ") and " pv " in line)):
                    upload.send(line)
            return wanted
        except LichessAwayError:
            self._say("stop")
            while not over:
                over = self._said.get().startswith("bestmove")
            return False

    def close(self, limit: float) -> bool:
        """End it."""
        return self._uci.close(limit)

    def _prepare(self, work: Work) -> None:
        """Set what the work asks for, within what is offered."""
        if work.session != self._session:
            self._session = work.session
            self._say("ucinewgame")
        self._say(f"setoption name Threads value {min(work.threads, self._offer.threads)}")
        self._say(f"setoption name Hash value {min(work.megabytes, self._offer.megabytes)}")
        self._say(f"setoption name MultiPV value {work.lines}")
        while not self._said.empty():
            self._said.get()

    def _go(self, work: Work) -> str:
        if work.limits:
            return " ".join(["go", *(f"{name} {value}" for name, value in work.limits.items())])
        return "go infinite" if work.endless else f"go depth {self._offer.depth}"

    def _say(self, line: str) -> None:
        for reply in self._uci.handle_line(line):
            self._said.put(reply)
