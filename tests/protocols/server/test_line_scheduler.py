"""Turns of the lines of network sessions: long lines of one client do not delay other clients."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest

from agent.games import catalogue
from protocols.current_line import handling, others_may_run, yield_turn
from protocols.gtp.board import GtpBoard
from protocols.gtp.protocol import GtpProtocol
from protocols.gtp.session import Settings
from protocols.server import line_scheduler
from protocols.server.line_scheduler import (
    MAX_AT_ONCE,
    MAX_SHORT_LINE,
    RESERVED_MS,
    SHARE_MS,
    LineScheduler,
    SessionLines,
)
from protocols.session_context import SessionContext
from protocols.uci.parsing import PositionCommand
from protocols.uci.position import CurrentPosition
from tests.protocols.server.support import Puppet, calling, running
from tests.waiting import PATIENCE, eventually, until

LONG = MAX_SHORT_LINE + 1


class Handler(threading.Thread):
    """Handles a line in a thread, from `begun` until `finish` is called."""

    def __init__(self, lines: SessionLines, length: int = LONG) -> None:
        super().__init__(daemon=True)
        self._lines, self._length = lines, length
        self.begun, self._end = threading.Event(), threading.Event()
        self.admitted = False
        self.start()

    def run(self) -> None:
        with self._lines.turn(self._length) as self.admitted:
            self.begun.set()
            assert self._end.wait(PATIENCE)

    def begins(self) -> bool:
        return self.begun.wait(PATIENCE)

    def finish(self) -> None:
        self._end.set()
        self.join(PATIENCE)


def wait_for_waiting(scheduler: LineScheduler, count: int) -> None:
    assert until(lambda: scheduler.waiting == count)


@contextmanager
def in_turn(lines: SessionLines) -> Iterator[Handler]:
    """Handle a long line during the block."""
    handler = Handler(lines)
    assert handler.begins()
    try:
        yield handler
    finally:
        handler.finish()


def test_long_lines_are_handled_one_at_a_time() -> None:
    scheduler = LineScheduler()
    first = Handler(SessionLines(scheduler, "a"))
    assert first.begins()
    others = [Handler(SessionLines(scheduler, client)) for client in ("a", "b")]
    wait_for_waiting(scheduler, 2)
    first.finish()
    wait_for_waiting(scheduler, 1)
    for other in others:
        other.finish()
    assert all(other.admitted for other in others)


def test_short_lines_do_not_wait_for_long_lines() -> None:
    scheduler = LineScheduler()
    lines = SessionLines(scheduler, "a")
    with in_turn(lines):
        for session in (lines, SessionLines(scheduler, "a"), SessionLines(scheduler, "b")):
            with session.turn(MAX_SHORT_LINE) as admitted:
                assert admitted
        assert scheduler.waiting == 0


def test_client_with_many_short_lines_waits_for_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client may handle only a few short lines at once, because their cost is not yet known."""
    clock = SimpleNamespace(monotonic=lambda: 100.0, thread_time=lambda: 0.0)
    monkeypatch.setattr(line_scheduler, "time", clock)
    monkeypatch.setattr(line_scheduler, "MAX_AT_ONCE", 100)
    scheduler = LineScheduler()
    at_once = int(SHARE_MS / RESERVED_MS)
    with in_turn(SessionLines(scheduler, "a")):
        short = [Handler(SessionLines(scheduler, "b"), 4) for _ in range(at_once)]
        assert all(handler.begins() for handler in short)
        late = Handler(SessionLines(scheduler, "b"), 4)
        wait_for_waiting(scheduler, 1)
        with SessionLines(scheduler, "c").turn(4) as admitted:
            assert admitted
    assert late.begins()
    for handler in (*short, late):
        handler.finish()


def test_short_lines_of_many_clients_are_limited() -> None:
    scheduler = LineScheduler()
    with in_turn(SessionLines(scheduler, "a")):
        short = [Handler(SessionLines(scheduler, str(n)), 4) for n in range(MAX_AT_ONCE)]
        assert all(handler.begins() for handler in short)
        late = Handler(SessionLines(scheduler, "b"), 4)
        wait_for_waiting(scheduler, 1)
    assert late.begins()
    for handler in (*short, late):
        handler.finish()


def test_long_line_yields_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_scheduler, "SLICE_S", 0.0)
    scheduler = LineScheduler()
    lines = SessionLines(scheduler, "a")
    with lines.turn(LONG):
        other = Handler(SessionLines(scheduler, "b"))
        wait_for_waiting(scheduler, 1)
        yielding = threading.Timer(0.0, lambda: other.begins() and other.finish())
        yielding.start()
        yield_turn()
        assert other.admitted
        yielding.join()
        lines.end()
        with pytest.raises(ConnectionAbortedError):
            yield_turn()
    yield_turn()  # outside of any line


def test_positions_and_sequences_of_moves_yield(monkeypatch: pytest.MonkeyPatch) -> None:
    line = MagicMock()
    with handling(line):
        CurrentPosition().set(PositionCommand(None, ("e2e4", "e7e5")))
        board = GtpBoard(catalogue.find("tic-tac-toe"), {})
        board.play_all([(0, text) for text in board.legal_moves()[:1]])
    assert line.yield_turn.call_count == 3


def test_costly_short_lines_are_charged(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    clock = SimpleNamespace(monotonic=lambda: 100.0, thread_time=lambda: now)
    monkeypatch.setattr(line_scheduler, "time", clock)
    scheduler = LineScheduler()
    lines = SessionLines(scheduler, "a")
    with lines.turn(4):
        now += 0.5  # more than the share of a second
    with in_turn(SessionLines(scheduler, "b")):
        waiting = Handler(lines, 4)
        wait_for_waiting(scheduler, 1)
    waiting.finish()


def test_client_and_session_with_least_time_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    clock = SimpleNamespace(monotonic=lambda: now, thread_time=lambda: 0.0)
    monkeypatch.setattr(line_scheduler, "time", clock)
    scheduler = LineScheduler()
    heavy, light, other = (SessionLines(scheduler, client) for client in "aab")
    for lines, seconds in ((other, 1.0), (heavy, 2.0), (light, 0.5)):
        with lines.turn(LONG):
            now += seconds
    order = []
    handlers = {}
    with in_turn(SessionLines(scheduler, "c")):
        for name, lines in (("heavy", heavy), ("light", light), ("other", other)):
            handlers[name] = Handler(lines)
            wait_for_waiting(scheduler, len(handlers))
    for _ in range(3):
        assert until(lambda: any(handler.begun.is_set() for handler in handlers.values()))
        name = next(name for name, handler in handlers.items() if handler.begun.is_set())
        order.append(name)
        handlers.pop(name).finish()
    assert order == ["other", "light", "heavy"]


def test_ended_session_stops_waiting() -> None:
    scheduler = LineScheduler()
    lines = SessionLines(scheduler, "b")
    with in_turn(SessionLines(scheduler, "a")):
        waiting = Handler(lines)
        wait_for_waiting(scheduler, 1)
        lines.end()
        assert waiting.begins()
        assert not waiting.admitted
        waiting.finish()
        with lines.turn(4) as admitted:
            assert not admitted


def test_others_may_run_while_a_line_waits() -> None:
    scheduler = LineScheduler()
    with SessionLines(scheduler, "a").turn(LONG):
        with others_may_run(), in_turn(SessionLines(scheduler, "b")):
            pass
        waiting = Handler(SessionLines(scheduler, "b"))
    assert waiting.begins()
    waiting.finish()
    with others_may_run():  # outside of any line
        pass


def test_line_that_never_ends_does_not_block_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_scheduler, "MAX_TURN_S", 0.05)
    scheduler = LineScheduler()
    with in_turn(SessionLines(scheduler, "a")), in_turn(SessionLines(scheduler, "b")):
        pass
    with in_turn(SessionLines(scheduler, "a")):
        pass


async def test_server_handles_long_lines_of_all_sessions_one_at_a_time() -> None:
    at_once, most, lock = 0, 0, threading.Lock()

    class Counting(Puppet):
        def handle_line(self, line: str) -> Iterator[str]:
            nonlocal at_once, most
            if len(line) <= MAX_SHORT_LINE:
                yield line
                return
            with lock:
                at_once += 1
                most = max(most, at_once)
            threading.Event().wait(0.01)
            with lock:
                at_once -= 1
            yield "long"

    async with (
        running(makers={"any": Counting}) as run,
        calling(run) as one,
        calling(run) as two,
        calling(run) as other,
    ):
        for caller in (one, two):
            caller.say(*["x" * LONG] * 10)
        assert await other.ask("here") == "here"
        for caller in (one, two):
            for _ in range(10):
                assert await caller.hear() == "long"
    assert most == 1


async def test_waiting_lines_do_not_delay_shutdown() -> None:
    release = threading.Event()

    class Blocking(Puppet):
        def handle_line(self, line: str) -> Iterator[str]:
            assert release.wait(PATIENCE)
            yield "done"

    async with running(makers={"any": Blocking}) as run, calling(run) as one, calling(run) as two:
        scheduler = run.server._line_scheduler
        for caller in (one, two):
            caller.say("x" * LONG)
        await eventually(lambda: scheduler.waiting == 1)
        closing = asyncio.create_task(run.server.close())
        await eventually(lambda: scheduler.waiting == 0)
        release.set()
        assert await closing


class GtpCaller:
    """A GTP session of Go with the Python search."""

    def __init__(self, lines: SessionLines, seconds: float) -> None:
        self._heard: list[str] = []
        self._reports: list[str] = []
        self._answered = threading.Condition()
        settings = Settings(algorithm="mcts", options={"size": 5}, seconds=seconds, book=False)
        context = SessionContext(session_lines=lines)
        report = self._reports.append
        self.protocol = GtpProtocol("Kempelen", "1", self._hear, report, settings, context)

    def _hear(self, text: str) -> None:
        with self._answered:
            self._heard.append(text)
            self._answered.notify_all()

    def say(self, line: str) -> None:
        assert list(self.protocol.handle_line(line)) == []

    def hear(self) -> str:
        with self._answered:
            assert self._answered.wait_for(lambda: self._heard, PATIENCE)
            return self._heard.pop(0)


def test_gtp_command_waits_for_its_turn_and_releases_it_during_a_search() -> None:
    scheduler = LineScheduler()
    lines, other = SessionLines(scheduler, "a"), SessionLines(scheduler, "b")
    caller = GtpCaller(lines, seconds=60.0)
    with in_turn(other):
        caller.say(f"gogui-play_sequence {'b pass w pass ' * 200}")
        wait_for_waiting(scheduler, 1)
        caller.say("gg-undo 400")
    assert caller.hear().startswith("=")
    assert caller.hear().startswith("=")
    caller.say(f"kata-analyze b {'minmoves 0 ' * 200}")
    assert caller.hear().startswith("=")
    with in_turn(other):  # while the analysis runs
        caller.say("name")
        while not (answer := caller.hear()).startswith("= "):
            pass
    assert answer == "= Kempelen\n"
    lines.end()
    assert caller.protocol.close(PATIENCE)
