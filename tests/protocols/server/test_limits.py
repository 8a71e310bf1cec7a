"""The limits of a server, and what happens above them."""

import asyncio
import contextlib
import re
import time
from unittest.mock import MagicMock

import pytest

from protocols.server import limits, network_session
from protocols.server.admission import ANONYMOUS, AdmissionControl, RejectedError
from protocols.server.limits import RateLimiter, ServerLimits, TokenBucket
from protocols.server.transport import MAX_LINES_AT_ONCE, StreamTransport
from tests.protocols.server.support import PATIENCE, calling, running


async def test_total_sessions_are_limited() -> None:
    async with running(sessions=2) as run, calling(run) as one, calling(run) as two:
        assert await one.ask("say 1") == "1"
        assert await two.ask("say 2") == "2"
        async with calling(run) as three:
            assert await three.hear() == "refused too many sessions; try again later"
            assert await three.hear() == ""
        assert await one.ask("say still here") == "still here"
        one.say("quit")
        assert await one.gone()
        await run.logged("reason=quit")
        async with calling(run) as three:
            assert await three.ask("say 3") == "3"


async def test_sessions_per_address_are_limited() -> None:
    async with running(max_sessions_per_ip=1) as run, calling(run) as one:
        assert await one.ask("say 1") == "1"
        async with calling(run) as two:
            assert await two.hear() == "refused too many sessions from your address"
        assert await one.ask("say still here") == "still here"
        assert run.server.metrics.value("refused", "address") == 1


async def test_excess_refused_connections_are_cut_off() -> None:
    """A rejected client gets an answer, unless far too many connect."""
    async with running(max_sessions_per_ip=1) as run:
        callers = []
        for _ in range(6):
            address = run.addresses["tcp"]
            callers.append(await asyncio.open_connection(address.host, address.port))
        await run.logged("far too many connections; disconnected")
        for _, writer in callers:
            writer.close()
        await run.empty()


async def test_too_long_line_is_rejected() -> None:
    async with running(line_bytes=1024) as run, calling(run) as caller:
        assert await caller.ask("say " + "x" * 1020) == "x" * 1020
        assert await caller.ask("say " + "x" * 1021) == "too long"
        assert await caller.ask("say still here") == "still here"
        assert run.server.metrics.value("overlong_lines") == 1


@pytest.fixture
def stopped_buckets(monkeypatch: pytest.MonkeyPatch) -> None:
    """The token buckets of sessions do not refill, so it does not matter how slow the server is."""
    reserve = TokenBucket.reserve
    monkeypatch.setattr(
        TokenBucket, "reserve", lambda bucket, now, cost: reserve(bucket, bucket._updated, cost)
    )


@pytest.mark.usefixtures("stopped_buckets")
async def test_lines_per_second_are_limited() -> None:
    async with running(line_rate=50) as run, calling(run) as caller:
        began = time.monotonic()
        caller.say(*(f"say {n}" for n in range(104)))
        for n in range(104):
            assert await caller.hear() == str(n)
        # 100 lines at once. The others wait 1/50, 2/50, 3/50 and 4/50 of a second.
        assert time.monotonic() - began > 0.19
        assert run.server.metrics.value("delayed_lines") == 4


@pytest.mark.usefixtures("stopped_buckets")
async def test_long_line_counts_as_several_lines() -> None:
    async with running(line_rate=50) as run, calling(run) as caller:
        caller.say(f"say {'x' * 40_000}", f"say {'y' * 40_000}")
        for _ in range(2):
            await caller.hear()
        assert run.server.metrics.value("delayed_lines") == 0
        await caller.ask(f"say {'z' * 40_000}")  # 120 of the 100 lines that are free
        assert run.server.metrics.value("delayed_lines") == 1


async def test_lines_of_one_chunk_are_received_in_parts() -> None:
    """A chunk of empty lines must not block the event loop."""
    reader = asyncio.StreamReader(limit=1 << 20)
    reader.feed_data(b"\n" * 60_000 + b"say 1")
    reader.feed_eof()
    transport = StreamTransport(reader, MagicMock(), 1024)
    sizes = []
    while lines := await transport.receive():
        sizes.append(len(lines))
        last = lines[-1]
    assert (sum(sizes), last) == (60_001, "say 1")
    assert max(sizes) <= MAX_LINES_AT_ONCE


def test_token_bucket_refills() -> None:
    bucket = TokenBucket(10.0, 0.0)
    assert [bucket.reserve(0.0) for _ in range(20)] == [0.0] * 20
    assert bucket.reserve(0.0) == pytest.approx(0.1)
    assert bucket.reserve(0.0) == pytest.approx(0.2)
    assert bucket.reserve(1.0) == 0.0
    assert [bucket.reserve(100.0) for _ in range(21)] == [0.0] * 20 + [pytest.approx(0.1)]
    assert bucket.reserve(102.1, 30.0) == pytest.approx(1.0)


def test_failed_take_does_not_increase_wait() -> None:
    bucket = TokenBucket(10.0, 0.0, 0.5)
    assert [bucket.try_take(0.0) for _ in range(5)] == [0.0] * 5
    # A failed take does not increase the wait.
    assert [bucket.try_take(0.0) for _ in range(5)] == [pytest.approx(0.1)] * 5
    assert bucket.try_take(0.1) == 0.0


def test_charged_client_must_wait() -> None:
    buckets = RateLimiter(1.0, 10.0)
    assert buckets.try_take("a", 0.0, 5.0) == 0.0
    assert buckets.reserve("a", 0.0, 7.0) == pytest.approx(2.0)
    assert buckets.try_take("a", 0.0) == pytest.approx(3.0)
    assert buckets.reserve("a", 0.0, -3.0) == 0.0
    assert buckets.try_take("a", 0.0) == 0.0
    assert buckets.try_take("b", 0.0) == 0.0


def test_least_recently_used_bucket_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_TRACKED_CLIENTS", 3)
    buckets = RateLimiter(1.0, 2.0)
    for name in ("a", "a", "b", "c"):
        assert buckets.try_take(name, 0.0) == 0.0
    assert buckets.try_take("a", 0.0) == 1.0
    assert buckets.try_take("d", 0.0) == 0.0  # drops b, the least recently used
    assert len(buckets._buckets) == 3
    assert buckets.try_take("a", 0.0) == 1.0


async def test_idle_session_is_closed() -> None:
    async with running(idle_timeout=0.3) as run, calling(run) as caller:
        assert await caller.ask("say 1") == "1"
        assert await caller.hear() == "refused session idle for 0.3 seconds"
        assert await caller.hear() == ""
        assert "lines=1" in await run.logged("reason=idle")


async def test_session_receiving_output_is_not_idle() -> None:
    async with running(idle_timeout=0.5) as run, calling(run) as caller:
        caller.say(*(f"later {n / 4} {n}" for n in range(1, 5)))
        for n in range(1, 5):
            assert await caller.hear() == str(n)


async def test_session_without_any_request_is_closed() -> None:
    async with running(idle_timeout=0.2) as run, calling(run) as caller:
        assert await caller.hear() == "refused no input for 0.2 seconds"


async def test_session_duration_is_limited() -> None:
    async with running(max_session=0.4) as run, calling(run) as caller:
        for n in range(100):
            if (heard := await caller.ask(f"say {n}")) != str(n):
                break
            await asyncio.sleep(0.05)
        assert heard == "refused session limit of 0.4 seconds reached"
        assert await caller.gone()


async def test_client_that_does_not_read_is_disconnected() -> None:
    async with running() as run, calling(run) as deaf, calling(run) as other:
        deaf.reader._transport.pause_reading()  # type: ignore[attr-defined]
        began = time.monotonic()
        deaf.say("flood 30000")
        assert await other.ask("say here") == "here"
        await run.logged("reason=unread")
        assert time.monotonic() - began < PATIENCE / 2
        assert await other.ask("say still here") == "still here"


@pytest.mark.thorough
async def test_client_that_sends_without_reading_is_disconnected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(network_session, "WRITE_TIMEOUT_S", 0.5)
    async with running(line_rate=1e6) as run, calling(run) as deaf:
        deaf.reader._transport.pause_reading()  # type: ignore[attr-defined]
        asked = "say " + "x" * 1000
        with contextlib.suppress(ConnectionError):
            async with asyncio.timeout(PATIENCE):
                while not deaf.writer.transport.is_closing():
                    deaf.say(*[asked] * 100)
                    await deaf.writer.drain()  # blocks, since the server stops reading
        await run.logged("reason=unread")


@pytest.mark.parametrize("name", list(ServerLimits.__dataclass_fields__))
@pytest.mark.parametrize("value", [0, -1, float("inf"), float("nan")])
def test_invalid_limit_is_rejected(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"{name}: .*above 0.*{re.escape(str(value))}"):
        ServerLimits(**{name: value})


@pytest.mark.parametrize("value", [1, 1023, (4 << 20) + 1])
def test_line_length_limit_must_be_in_range(value: int) -> None:
    with pytest.raises(ValueError, match="line_bytes: must be 1024 to 4194304"):
        ServerLimits(line_bytes=value)


async def test_requests_before_quit_are_answered() -> None:
    async with running() as run, calling(run) as caller:
        caller.say("later 0.3 done", "quit")
        assert await caller.hear() == "done"
        assert await caller.hear() == ""


def test_client_whose_connection_has_ended_is_not_admitted() -> None:
    """An end of the connection may be reported before its first line is handled."""
    admission = AdmissionControl(ServerLimits(), None)
    slot = admission.open_slot("127.0.0.1")
    slot.close()
    with pytest.raises(RejectedError, match="connection has ended"):
        slot.admit(ANONYMOUS)
    assert admission.sessions == admission.waiting == 0
