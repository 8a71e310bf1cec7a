"""The end of a connection is noticed at once, however many lines wait."""

import asyncio
import contextlib
import os
import select
import socket
import ssl
import struct
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect

from protocols.server import network_session
from protocols.server.line_scheduler import SessionLines
from tests.protocols.server.credentials import Certified
from tests.protocols.server.support import PATIENCE, Puppet, Running, calling, running
from tests.systems import posix_only
from tests.waiting import eventually

SCHEMES = ["tcp", "tls", "ws"]
needs_pollrdhup = pytest.mark.skipif(not hasattr(select, "POLLRDHUP"), reason="only on Linux")


class Stuck(Puppet):
    """Also handles `block`, which waits until the session is closed, as a full queue does."""

    def __init__(self, send: Callable[[str], None], session_lines: SessionLines) -> None:
        super().__init__(send, session_lines)
        self._closing = threading.Event()

    def handle_line(self, line: str) -> Iterator[str]:
        if line == "block":
            self._send("blocked")
            assert self._closing.wait(PATIENCE)
        yield from super().handle_line(line)

    def close(self, timeout: float) -> bool:
        self._closing.set()
        return super().close(timeout)


@contextlib.asynccontextmanager
async def stuck_server(scheme: str, certified: Certified, **limits: Any) -> AsyncIterator[Running]:
    tls = certified.server if scheme == "tls" else None
    async with running(scheme, makers={"any": Stuck}, tls=tls, **limits) as run:
        yield run


class Client:
    """A client that can vanish."""

    def __init__(self, transport: asyncio.Transport, said: Callable[..., Any]) -> None:
        self._transport = transport
        self.say = said

    def reset(self) -> None:
        """Close the connection with a reset, as the system does for a client that died."""
        self._transport.get_extra_info("socket").setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
        )
        self._transport.abort()

    def vanish(self) -> None:
        """Close the connection without a reset, if nothing is unread."""
        self._transport.abort()


@contextlib.asynccontextmanager
async def blocked_client(
    run: Running, scheme: str, context: ssl.SSLContext | None
) -> AsyncIterator[Client]:
    """Yield a client with one line that is being handled."""
    if scheme == "ws":
        host, port = run.at("ws")
        web: ClientConnection
        async with connect(f"ws://{host}:{port}/", proxy=None) as web:
            await web.send("block")
            assert await web.recv() == "blocked"

            async def say(*lines: str) -> None:
                await web.send("\n".join(lines))

            yield Client(web.transport, say)
    else:
        async with calling(run, scheme, context) as caller:
            assert await caller.ask("block") == "blocked"

            async def say(*lines: str) -> None:
                caller.say(*lines)

            yield Client(caller.writer.transport, say)


@pytest.mark.parametrize("how", ["reset", "vanish"])
@pytest.mark.parametrize("scheme", SCHEMES)
async def test_gone_client_is_noticed_while_a_line_is_handled(
    scheme: str, how: str, certified: Certified, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over TCP, a client that vanishes may still read, so it gets the time for final replies."""
    monkeypatch.setattr(network_session, "FINAL_REPLIES_TIMEOUT_S", 0.3)
    context = certified.client if scheme == "tls" else None
    async with (
        stuck_server(scheme, certified) as run,
        blocked_client(run, scheme, context) as client,
    ):
        await client.say(*["say x"] * 400)
        getattr(client, how)()
        await run.empty()


@pytest.mark.parametrize("how", ["reset", pytest.param("vanish", marks=needs_pollrdhup)])
@posix_only("detects lost connections only while reading")
@pytest.mark.parametrize("scheme", SCHEMES)
async def test_gone_client_is_noticed_while_reading_pauses(
    scheme: str, how: str, certified: Certified, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network_session, "FINAL_REPLIES_TIMEOUT_S", 0.3)
    monkeypatch.setattr(network_session, "MAX_READ_AHEAD_BYTES", 1000)
    monkeypatch.setattr(network_session, "READ_AHEAD_TIMEOUT_S", PATIENCE)
    context = certified.client if scheme == "tls" else None
    async with (
        stuck_server(scheme, certified) as run,
        blocked_client(run, scheme, context) as client,
    ):
        for _ in range(20):
            await client.say(*["x" * 1000] * 10)
        getattr(client, how)()
        await run.logged("reason=lost")
        await run.empty()


async def test_gone_client_is_noticed_while_its_lines_are_delayed() -> None:
    async with running(line_rate=0.001) as run, calling(run) as caller:
        assert await caller.ask("say 1", "say 2", "say 3") == "1"
        Client(caller.writer.transport, caller.say).reset()
        if os.name != "nt":  # there a reset may be reported as the end of the input
            await run.logged("reason=lost")
        await run.empty()


async def test_gone_client_is_noticed_after_quit() -> None:
    async with running() as run, calling(run) as caller:
        assert await caller.ask(f"later {PATIENCE} x", "say 1", "quit") == "1"
        Client(caller.writer.transport, caller.say).reset()
        await run.empty()


async def test_lines_wait_without_filling_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network_session, "MAX_READ_AHEAD_BYTES", 1000)
    monkeypatch.setattr(network_session, "POLL_INTERVAL", 0.01)
    async with running(line_rate=1e6) as run, calling(run) as caller:
        caller.say(*(f"say {n} {'x' * 100}" for n in range(3000)))
        session = None
        for n in range(3000):
            assert (await caller.hear()).startswith(f"{n} ")
            session = session or next(iter(run.server._connections.values()))
            assert session is not None
            assert session._received._bytes < 1000 + 2 * (64 << 10)  # one chunk more


async def test_client_that_sends_far_ahead_of_a_long_line_is_disconnected(
    certified: Certified, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The end of its connection may be behind lines that the server does not read."""
    monkeypatch.setattr(network_session, "MAX_READ_AHEAD_BYTES", 1000)
    monkeypatch.setattr(network_session, "READ_AHEAD_TIMEOUT_S", 0.1)
    async with stuck_server("tcp", certified) as run, calling(run) as caller:
        assert await caller.ask("block", *["say x"] * 100) == "blocked"
        assert await caller.hear() == "refused too many unanswered commands"
        await run.logged("reason=flood")


async def test_delayed_lines_of_half_closed_client_are_all_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The time for final replies begins again with each reply."""
    monkeypatch.setattr(network_session, "FINAL_REPLIES_TIMEOUT_S", 1.0)
    async with running(line_rate=10) as run, calling(run) as caller:
        caller.say(*(f"say {n}" for n in range(40)))
        caller.writer.write_eof()
        for n in range(40):
            assert await caller.hear() == str(n)
        assert await caller.hear() == ""
        assert "lines=40" in await run.logged('reason="end of input"')


async def test_lines_without_replies_do_not_keep_half_closed_client(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(network_session, "FINAL_REPLIES_TIMEOUT_S", 0.3)
    async with running(line_rate=10) as run, calling(run) as caller:
        caller.say(*["silence"] * 10_000)
        caller.writer.write_eof()
        assert await caller.hear() == ""
        await run.logged('reason="end of input"')


async def test_search_that_begins_while_the_session_is_closed_is_stopped() -> None:
    """The first line creates the engine, which takes longer than the client stays."""
    handling, release = threading.Event(), threading.Event()

    class Late(Puppet):
        closes = 0
        searching = False

        def __init__(self, send: Callable[[str], None], session_lines: SessionLines) -> None:
            super().__init__(send, session_lines)
            made.append(self)

        def handle_line(self, line: str) -> Iterator[str]:
            handling.set()
            assert release.wait(PATIENCE)
            self.searching = True
            yield from ()

        def close(self, timeout: float) -> bool:
            self.closes += 1
            self.searching = False
            return True

    made: list[Late] = []
    async with running(makers={"any": Late}) as run, calling(run) as caller:
        caller.say("go infinite")
        await eventually(handling.is_set)
        Client(caller.writer.transport, caller.say).reset()
        await eventually(lambda: made[0].closes == 1)
        release.set()
        await eventually(lambda: made[0].closes == 2)
        assert not made[0].searching
        await run.empty()
