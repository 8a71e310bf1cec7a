"""Hostile clients and network faults do not harm a server over TCP and TLS."""

import asyncio
import contextlib
import gc
import os
import select
import socket
import ssl
import struct
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from protocols.server import event_log, network_session
from protocols.server.event_log import EventLog
from protocols.server.tokens import TokenFile
from protocols.server.unused_memory import return_unused_memory
from tests.protocols.server.credentials import Certified, Tokens
from tests.protocols.server.support import PATIENCE, Caller, calling, running
from tests.systems import posix_only
from tests.waiting import eventually


@posix_only("reads /proc")
async def test_ten_megabyte_line_is_rejected_without_buffering() -> None:
    async with running() as run, calling(run) as attacker, calling(run) as other:
        before = _resident()
        chunk = b"x" * (1 << 20)
        for _ in range(10):
            attacker.writer.write(chunk)
            await attacker.writer.drain()
            assert await other.ask("say here") == "here"
        assert await attacker.ask("", "say still here") == "too long"
        assert await attacker.hear() == "still here"
        assert _resident() - before < 30 << 20  # includes the client's own buffer


async def test_endless_data_instead_of_token_times_out(tokens: Tokens) -> None:
    """A client is cut off after the authorization timeout, even if it keeps sending."""
    file = TokenFile(tokens.path)
    async with running(tokens=file, auth_timeout=0.5) as run, calling(run) as attacker:
        with contextlib.suppress(ConnectionError):
            while not run.events[1:]:
                attacker.writer.write(b"x" * 1000)
                await attacker.writer.drain()
                await asyncio.sleep(0.001)
        await run.logged("no token for 0.5 seconds")


async def test_line_sent_byte_by_byte_is_answered() -> None:
    async with running() as run, calling(run) as slow, calling(run) as other:
        for byte in b"say hello\n":
            slow.writer.write(bytes([byte]))
            await slow.writer.drain()
            await asyncio.sleep(0.005)
            assert await other.ask("say here") == "here"
        assert await slow.hear() == "hello"


async def test_bytes_without_newline_count_as_idle() -> None:
    async with running(idle_timeout=0.5) as run, calling(run) as slow:
        assert await slow.ask("say 1") == "1"
        dripping = asyncio.create_task(_drip(slow))
        assert await slow.hear() == "refused session idle for 0.5 seconds"
        dripping.cancel()


async def _drip(caller: Caller) -> None:
    while True:
        caller.writer.write(b"x")
        await asyncio.sleep(0.02)


async def test_token_sent_byte_by_byte_times_out(tokens: Tokens) -> None:
    file = TokenFile(tokens.path)
    async with running(tokens=file, auth_timeout=0.4) as run, calling(run) as slow:
        dripping = asyncio.create_task(_drip(slow))
        assert await slow.hear() == "refused no token for 0.4 seconds"
        dripping.cancel()


async def test_half_closed_connection_is_answered() -> None:
    """Like `printf ... | nc HOST PORT`."""
    async with running() as run, calling(run) as caller:
        caller.say("later 0.5 late", "say soon")
        caller.writer.write_eof()
        assert await caller.hear() == "soon"
        assert await caller.hear() == "late"
        assert await caller.hear() == ""
        assert "lines=2" in await run.logged('reason="end of input"')


async def test_last_line_without_newline_is_answered() -> None:
    async with running() as run, calling(run) as caller:
        caller.writer.write(b"say hello")
        caller.writer.write_eof()
        assert await caller.hear() == "hello"


async def test_session_ends_soon_after_client_disconnects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network_session, "FINAL_REPLIES_TIMEOUT_S", 0.3)
    async with running() as run:
        async with calling(run) as caller:
            caller.say("later 20 late", "say soon")
            assert await caller.hear() == "soon"
        await run.logged('reason="end of input"')
        await run.empty()


async def test_connection_reset_does_not_harm_server() -> None:
    async with running() as run:
        for lines in (b"", b"say 1\n", b"later 0.05 text\n", b"sleep 0.1\n", b"flood 3000\n"):
            client = socket.create_connection(run.at("tcp"))
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            client.sendall(lines)
            await asyncio.sleep(0.05)
            client.close()
        await run.empty()
        async with calling(run) as caller:
            assert await caller.ask("say 1") == "1"


async def test_failed_session_does_not_affect_others() -> None:
    async with running() as run, calling(run) as one, calling(run) as other:
        assert await other.ask("say 1") == "1"
        one.say("fail")
        assert await one.hear() == "refused internal server error"
        assert await one.gone()
        assert "RuntimeError: failure requested" in await run.logged(" failed ")
        assert await other.ask("say 2") == "2"


async def test_busy_session_does_not_block_others() -> None:
    async with running() as run, calling(run) as busy, calling(run) as other:
        busy.say("sleep 1", "say done")
        async with asyncio.timeout(0.9):
            for n in range(20):
                assert await other.ask(f"say {n}") == str(n)
        assert await busy.hear() == "done"


async def test_stalled_tls_handshakes_do_not_block_others(certified: Certified) -> None:
    async with running("tls", tls=certified.server, auth_timeout=0.5) as run:
        silent = [socket.create_connection(run.at("tls")) for _ in range(20)]
        nonsense = socket.create_connection(run.at("tls"))
        nonsense.sendall(b"uci\n" * 1000)
        async with calling(run, "tls", certified.client) as caller:
            assert await caller.ask("say 1") == "1"
            await asyncio.sleep(0.7)  # until the handshake timeout
            for each in silent:
                each.settimeout(PATIENCE)
                with contextlib.suppress(ConnectionError):
                    assert await asyncio.to_thread(each.recv, 1) == b""
                each.close()
            nonsense.close()
            assert await caller.ask("say 2") == "2"


@pytest.mark.skipif(sys.platform == "win32", reason="asyncio does not call accept there")
@pytest.mark.parametrize("scheme", ["tls", "wss"])
async def test_stalled_tls_handshakes_are_limited(
    certified: Certified, tokens: Tokens, scheme: str
) -> None:
    """As clients that wait for authorization. Those that are gone are not counted."""
    file = TokenFile(tokens.path)
    async with running(
        scheme, tls=certified.server, tokens=file, sessions=3, shutdown_timeout=0.2
    ) as run:
        for _ in range(3):
            silent = [socket.create_connection(run.at(scheme)) for _ in range(10)]
            async with calling(run, scheme, certified.client) as caller:
                assert run.server.admission.waiting <= 3
                if scheme == "tls":
                    assert await caller.ask(f"authorize {tokens.alice}") == "authorized"
                else:
                    assert (await caller.ask("GET /health HTTP/1.1\r", "\r")).startswith(
                        "HTTP/1.1 200"
                    )
            await eventually(lambda silent=silent: len(select.select(silent, [], [], 0)[0]) >= 7)
            for each in silent:
                each.close()


async def test_session_works_over_tls(certified: Certified) -> None:
    async with running("tls", tls=certified.server) as run:
        async with calling(run, "tls", certified.client) as caller:
            assert await caller.ask("say 1") == "1"
            caller.say("quit")
            assert await caller.gone()
        with pytest.raises(ssl.SSLCertVerificationError):
            async with calling(run, "tls", ssl.create_default_context()):
                pass


async def test_shutdown_answers_pending_requests_and_notifies_clients(tokens: Tokens) -> None:
    """Pending answers arrive within the grace period; clients without a session get the reason."""
    async with contextlib.AsyncExitStack() as stack:
        run = await stack.enter_async_context(
            running(tokens=TokenFile(tokens.path), shutdown_timeout=5.0)
        )
        callers = [await stack.enter_async_context(calling(run)) for _ in range(3)]
        thinking, idle, waiting = callers
        for caller in (thinking, idle):
            assert await caller.ask(f"authorize {tokens.alice}") == "authorized"
            assert await caller.ask("say 1") == "1"
        thinking.say("later 0.4 bestmove")
        await asyncio.sleep(0.1)
        ending = asyncio.create_task(run.server.close())
        assert await idle.hear() == "refused the server is shutting down"
        assert await idle.hear() == ""
        assert await waiting.hear() == "refused the server is shutting down"
        assert await thinking.hear() == "bestmove"
        assert await thinking.hear() == "refused the server is shutting down"
        for caller in callers:
            await caller.close()
        async with asyncio.timeout(PATIENCE):
            assert await ending
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection(*run.at("tcp"))


async def test_shutdown_grace_period_is_limited() -> None:
    async with running(shutdown_timeout=0.3) as run, calling(run) as caller:
        assert await caller.ask("later 30 bestmove", "say 1") == "1"
        asyncio.get_running_loop().call_later(0.1, asyncio.create_task, run.server.close())
        assert await caller.hear() == "refused the server is shutting down"


HTTP = "refused HTTP and other web requests are not accepted here"
BODY = "\r\n\r\nsay something\r\n"
BROWSERS = [
    f"POST / HTTP/1.1\r\nHost: 127.0.0.1{BODY}",
    f"GET /say HTTP/1.1\r\nHost: 127.0.0.1{BODY}",
    f"POST /{'x' * 100_000} HTTP/1.1\r\nHost: 127.0.0.1{BODY}",
    f"POST /{'x' * 100_000} HTTP/1.1\r\norigin: null{BODY}",
    f"PRI * HTTP/2.0\r\n\r\nSM{BODY}",
    f"\x16\x03\x01\x02\nsay something\n{BODY}",
]


@pytest.mark.parametrize("sent", BROWSERS)
@pytest.mark.parametrize("scheme", ["tcp", "tls"])
async def test_web_page_cannot_drive_text_port(
    certified: Certified, scheme: str, sent: str
) -> None:
    context = certified.client if scheme == "tls" else None
    async with running(scheme, tls=certified.server) as run, calling(run, scheme, context) as page:
        page.writer.write(sent.encode())
        assert [await page.hear(), await page.hear()] == [HTTP, ""]
        assert run.server.metrics.value("refused", "http") == 1
        await run.empty()


@pytest.mark.parametrize("line", ["GET / HTTP/1.1", "Host: 127.0.0.1", "ORIGIN: null"])
async def test_http_ends_a_session_that_has_begun(line: str) -> None:
    """Even if the first lines arrive one by one."""
    async with running() as run, calling(run) as page:
        assert await page.ask("say 1") == "1"
        assert await page.ask(line, "say 2") == HTTP
        assert await page.hear() == ""
        await run.logged("reason=http")


async def test_web_page_cannot_drive_text_port_with_tokens(tokens: Tokens) -> None:
    async with running(tokens=TokenFile(tokens.path)) as run, calling(run) as page:
        assert await page.ask("POST / HTTP/1.1", f"authorize {tokens.alice}") == HTTP
        assert await page.hear() == ""


async def test_lines_that_mention_http_are_accepted() -> None:
    async with running() as run, calling(run) as caller:
        for text in ("GET / HTTP/1.1", "Host: x", "HTTP/1.1"):
            assert await caller.ask(f"say {text}") == text


async def test_log_of_strangers_is_limited(monkeypatch: pytest.MonkeyPatch, tokens: Tokens) -> None:
    monkeypatch.setattr(event_log, "MAX_STRANGER_EVENTS", 10)
    monkeypatch.setattr(event_log, "STRANGER_EVENTS_PER_S", 1e-6)
    async with running(tokens=TokenFile(tokens.path), max_auth_failures=1000) as run:
        for _ in range(30):
            async with calling(run) as stranger:
                assert await stranger.ask("authorize wrong") == "refused wrong token"
        async with calling(run) as friend:
            assert await friend.ask(f"authorize {tokens.alice}", "say 1") == "authorized"
        await run.logged("reason=")
        await run.empty()
        await run.logged("ended session=31 name=alice")
        assert "peer=127.0.0.1:" in await run.logged("began session=31 name=alice")
        assert len(run.events) == 10 + 2
        assert run.server.metrics.value("refused", "token") == 30


async def test_log_of_sessions_without_tokens_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_log, "MAX_STRANGER_EVENTS", 10)
    monkeypatch.setattr(event_log, "STRANGER_EVENTS_PER_S", 1e-6)
    async with running() as run:
        for _ in range(30):
            async with calling(run) as stranger:
                assert await stranger.ask("say 1") == "1"
        await run.empty()
        assert len(run.events) == 10


def test_log_counts_what_it_leaves_out(monkeypatch: pytest.MonkeyPatch) -> None:
    now, lines = [1000.0], list[str]()
    monkeypatch.setattr(
        event_log, "time", SimpleNamespace(**{**vars(time), "monotonic": lambda: now[0]})
    )
    monkeypatch.setattr(event_log, "MAX_STRANGER_EVENTS", 4)
    log = EventLog(lines.append)
    for _ in range(7):
        log.write_limited("refused", reason="x" * 5000)
    log.write("stopped")
    now[0] += 1.0
    log.write_limited("refused", reason="last")
    assert len(lines) == 4 + 2
    assert all(len(line) < 300 for line in lines)
    assert lines[-1].endswith("refused reason=last unlogged=3")


def test_errors_of_the_event_loop_are_logged() -> None:
    lines: list[str] = []
    log, loop = EventLog(lines.append), asyncio.new_event_loop()
    try:
        loop.set_exception_handler(log.write_loop_error)
        loop.call_exception_handler({"message": "accept failed", "exception": OSError("too many")})
        loop.call_exception_handler({"message": "no exception"})
    finally:
        loop.close()
    assert 'failed error="accept failed: OSError: too many' in lines[0]
    assert 'failed error="no exception"' in lines[1]


async def test_memory_of_ended_sessions_is_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    returned = threading.Event()
    monkeypatch.setattr("protocols.server.server.GC_INTERVAL_S", 0.0)
    monkeypatch.setattr("protocols.server.server.return_unused_memory", returned.set)
    async with running("tcp") as run:
        await _come_and_go(run.at("tcp"), 2)
        assert await asyncio.to_thread(returned.wait, PATIENCE)


def test_unused_memory_is_returned_with_any_c_library(monkeypatch: pytest.MonkeyPatch) -> None:
    return_unused_memory()
    monkeypatch.setattr("ctypes.CDLL", lambda name: object())
    return_unused_memory()


@posix_only("reads /proc")
@pytest.mark.thorough
async def test_closed_connections_leak_no_resources(thorough: bool) -> None:
    async with running("tcp", "ws") as run:
        await _come_and_go(run.at("tcp"), 50)
        await run.empty()
        gc.collect()
        before, threads = _open_resources(), threading.active_count()
        resident = _resident()
        await _come_and_go(run.at("tcp"), 3000 if thorough else 400)
        await run.empty()
        gc.collect()
        await asyncio.sleep(0.1)
        assert _open_resources() == before
        assert threading.active_count() <= threads + 4  # the pool keeps idle threads
        assert _resident() - resident < 4 << 20
        assert not run.server._connections


async def _come_and_go(address: tuple[str, int], times: int) -> None:
    for number in range(times):
        caller = Caller(*await asyncio.open_connection(*address))
        if number % 3:
            assert await caller.ask("say 1") == "1"
        if number % 3 == 1:
            caller.say("quit")
        await caller.close()


def _open_resources() -> tuple[int, int]:
    """Return the numbers of open files and tasks."""
    return len(os.listdir("/proc/self/fd")), len(asyncio.all_tasks())


def _resident() -> int:
    """Return the resident memory of this process in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
