"""Sessions over WebSocket, origin checks, health and metrics over HTTP."""

import asyncio
import json
import re
import ssl
import urllib.error
import urllib.request
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from protocols.server.tokens import TokenFile
from tests.protocols.server.credentials import Certified, Tokens
from tests.protocols.server.support import PATIENCE, Puppet, Running, running


def opened(
    run: Running, path: str = "/", scheme: str = "ws", token: str | None = None, **more: Any
) -> connect:
    address = run.addresses[scheme]
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    headers |= more.pop("headers", {})
    url = f"{scheme}://{more.pop('host', address.host)}:{address.port}{path}"
    return connect(url, additional_headers=headers, open_timeout=PATIENCE, proxy=None, **more)


async def ask(web: ClientConnection, line: str) -> str:
    await web.send(line)
    return await hear(web)


async def hear(web: ClientConnection) -> str:
    async with asyncio.timeout(PATIENCE):
        heard = await web.recv()
    assert isinstance(heard, str)
    return heard


async def closed(web: ClientConnection) -> int:
    """Wait until the server closes the connection, and return the close code."""
    with pytest.raises(ConnectionClosed) as ending:
        await hear(web)
    assert ending.value.rcvd is not None
    return int(ending.value.rcvd.code)


async def get(run: Running, path: str, scheme: str = "ws", token: str = "") -> tuple[int, str, str]:
    """Return status, text and media type of the answer to a plain request."""
    address = run.addresses[scheme]
    request = urllib.request.Request(f"http://{address.host}:{address.port}{path}")
    if token:
        request.add_header("Authorization", f"Bearer {token}")

    def fetch() -> tuple[int, str, str]:
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return answer.status, answer.read().decode(), answer.headers["Content-Type"]
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode(), error.headers["Content-Type"]

    return await asyncio.to_thread(fetch)


async def test_message_may_contain_several_lines() -> None:
    async with running("ws") as run, opened(run) as web:
        assert await ask(web, "say 1") == "1"
        assert await ask(web, "say 2\nsay 3\n") == "2"
        assert await hear(web) == "3"
        await web.send("")
        await web.send(b"say bytes\r\nsay \xff")
        assert await hear(web) == "bytes"
        assert await hear(web) == "\\xff"
        await web.send("quit")
        assert await closed(web) == 1000
        assert "over=ws" in await run.logged("connected")
        assert "lines=6" in await run.logged("reason=quit")


async def test_http_requests_per_second_are_limited() -> None:
    async with running("ws", request_rate=0.1) as run:
        for _ in range(2):
            assert (await get(run, "/health"))[0] == 200
        status, text, _ = await get(run, "/health")
        assert (status, text) == (429, "refused too many requests; try again later\n")
        with pytest.raises(InvalidStatus) as refusal:
            await opened(run).__aenter__()
        assert 1 <= int(refusal.value.response.headers["Retry-After"]) <= 10
        assert run.server.metrics.value("refused", "requests") == 2


async def test_url_path_selects_protocol() -> None:
    makers = dict.fromkeys(("any", "puppet", "other"), Puppet)
    async with running("ws", makers=makers) as run:
        for path in ("/", "/any", "/puppet", "/other", "/puppet/"):
            async with opened(run, path) as web:
                assert await ask(web, "say 1") == "1"
        with pytest.raises(InvalidStatus) as refusal:
            await opened(run, "/etc/passwd").__aenter__()
        assert refusal.value.response.status_code == 404
        assert refusal.value.response.body == b"refused unknown protocol etc/passwd\n"
    async with running("ws", makers=makers, protocol="puppet") as run:
        for path in ("/", "/puppet"):
            async with opened(run, path) as web:
                assert await ask(web, "say 1") == "1"
                assert "protocol=puppet" in await run.logged("began")
        with pytest.raises(InvalidStatus, match="404"):
            await opened(run, "/other").__aenter__()


async def test_token_is_accepted_in_header_or_first_line(tokens: Tokens) -> None:
    async with running("ws", tokens=TokenFile(tokens.path)) as run:
        async with opened(run, token=tokens.alice) as web:
            assert await ask(web, "say 1") == "1"
        async with opened(run) as web:
            assert await ask(web, f"authorize {tokens.bob}") == "authorized"
            assert await ask(web, "say 1") == "1"
        async with opened(run) as web:
            assert await ask(web, "say 1") == "refused expected as first line: authorize TOKEN"
            await closed(web)
        with pytest.raises(InvalidStatus) as refusal:
            await opened(run, token="wrong").__aenter__()
        assert refusal.value.response.status_code == 401
        assert refusal.value.response.body == b"refused wrong token\n"
        assert "name=alice" in await run.logged("began")
        await run.empty()
        assert not any(t in line for line in run.events for t in (tokens.alice, tokens.bob))


@pytest.mark.parametrize(
    ("origin", "host", "allowed"),
    [
        (None, "127.0.0.1", True),
        ("http://127.0.0.1:{port}", "127.0.0.1", True),
        ("http://localhost:{port}", "localhost", True),
        ("https://play.example.org", "127.0.0.1", True),
        ("HTTPS://PLAY.example.org", "127.0.0.1", True),
        ("https://evil.example.org", "127.0.0.1", False),
        ("https://play.example.org.evil.example.org", "127.0.0.1", False),
        ("http://127.0.0.1:1", "127.0.0.1", False),
        ("http://localhost:{port}", "127.0.0.1", False),
        ("null", "127.0.0.1", False),
        ("", "127.0.0.1", False),
        ("http://[", "127.0.0.1", False),
        # DNS rebinding: an attacker's name that resolves to this machine.
        ("http://rebound.example.org:{port}", "rebound.example.org", False),
    ],
)
async def test_websocket_origin_is_checked(origin: str | None, host: str, allowed: bool) -> None:
    async with running("ws", origins=("https://play.example.org",)) as run:
        port = run.addresses["ws"].port
        headers = {} if origin is None else {"Origin": origin.format(port=port)}
        address = host if host == "localhost" else "127.0.0.1"
        url = f"ws://{host}:{port}/"
        web = connect(url, additional_headers=headers, proxy=None, host=address)
        if allowed:
            async with web as connection:
                assert await ask(connection, "say 1") == "1"
        else:
            with pytest.raises(InvalidStatus) as refusal:
                await web.__aenter__()
            assert refusal.value.response.status_code == 403
            assert b"refused requests from this origin" in (refusal.value.response.body or b"")
            assert run.server.metrics.value("refused", "origin") == 1


@pytest.mark.parametrize(
    "headers", [{"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example.org"}]
)
async def test_requests_of_another_site_do_not_count_against_client(
    headers: dict[str, str],
) -> None:
    async with running("ws", request_rate=0.1) as run:
        for _ in range(9):
            with pytest.raises(InvalidStatus) as refusal:
                await opened(run, "/nothing", headers=headers).__aenter__()
        assert refusal.value.response.status_code == 429
        async with opened(run) as web:
            assert await ask(web, "say 1") == "1"


async def test_page_of_allowed_origin_counts_as_client() -> None:
    """Otherwise other pages could use up its rate."""
    origin = "https://play.example.org"
    async with running("ws", request_rate=0.1, origins=(origin,)) as run:
        with pytest.raises(InvalidStatus):
            await opened(run, "/nothing", headers={"Sec-Fetch-Site": "cross-site"}).__aenter__()
        limiter = run.server.admission._request_limiter
        assert list(limiter._buckets) == [("foreign", "address", "127.0.0.1")]
        async with opened(run, headers={"Origin": origin, "Sec-Fetch-Site": "cross-site"}) as web:
            assert await ask(web, "say 1") == "1"
        assert ("address", "127.0.0.1") in limiter._buckets


@pytest.mark.parametrize("name", ["Key", "Version", "Extensions"])
async def test_handshake_header_that_is_not_ascii_is_rejected(name: str) -> None:
    async with running("ws") as run:
        sent = {"Sec-WebSocket-Key": "A" * 22 + "==", "Sec-WebSocket-Version": "13"}
        sent[f"Sec-WebSocket-{name}"] = "\xe9" * 24
        lines = "".join(f"{key}: {value}\r\n" for key, value in sent.items())
        start = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        answer = await exchange(run, f"{start}{lines}\r\n".encode("latin-1"))
        assert answer.startswith(b"HTTP/1.1 400 ")
        assert f"refused Sec-WebSocket-{name}: must be ASCII".encode() in answer


async def test_path_that_is_not_ascii_is_rejected() -> None:
    async with running("ws") as run:
        answer = await exchange(run, b"GET /\xff HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 404 ")
        assert b"refused unknown protocol \\udcff" in answer


async def exchange(run: Running, request: bytes) -> bytes:
    """Send a request unchanged, and return the response."""
    reader, writer = await asyncio.open_connection(*run.at("ws"))
    writer.write(request)
    async with asyncio.timeout(PATIENCE):
        answer = await reader.read()
    writer.close()
    return answer


async def test_any_host_name_is_same_origin_with_token(tokens: Tokens) -> None:
    async with running("ws", tokens=TokenFile(tokens.path)) as run:
        port = run.addresses["ws"].port
        headers = {
            "Origin": f"https://chess.example.org:{port}",
            "Authorization": f"Bearer {tokens.alice}",
        }
        url = f"ws://chess.example.org:{port}/"
        async with connect(url, host="127.0.0.1", additional_headers=headers, proxy=None) as web:
            assert await ask(web, "say 1") == "1"


async def test_health_reports_ok_or_ending() -> None:
    async with running("ws") as run:
        assert await get(run, "/health") == (200, "ok\n", "text/plain; charset=utf-8")
        run.server.shutting_down = True
        assert (await get(run, "/health"))[:2] == (503, "ending\n")


async def test_metrics_use_prometheus_format() -> None:
    async with running("ws", "tcp") as run:
        async with opened(run) as web:
            assert await ask(web, "say 1") == "1"
            status, text, media_type = await get(run, "/metrics")
        assert status == 200
        assert media_type == "text/plain; version=0.0.4; charset=utf-8"
        assert_is_prometheus_text(text)
        assert "\nkempelen_sessions 1\n" in text
        assert '\nkempelen_sessions_begun_total{protocol="any"} 1\n' in text
        assert '\nkempelen_lines_total{protocol="any"} 1\n' in text
        with pytest.raises(InvalidStatus):
            await opened(run, "/nothing").__aenter__()
        _, text, _ = await get(run, "/metrics")
        assert '\nkempelen_refused_total{reason="path"} 1\n' in text


def assert_is_prometheus_text(text: str) -> None:
    """Check the format: every sample follows the help and type of its name."""
    declared: set[str] = set()
    name = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
    for line in text.splitlines():
        if match := re.fullmatch(rf"# TYPE ({name}) (counter|gauge)", line):
            declared.add(match[1])
        elif not re.fullmatch(rf"# HELP {name} .+", line):
            sample = re.fullmatch(rf'({name})(\{{{name}="[^"\\\n]*"\}})? [0-9.e+-]+', line)
            assert sample, line
            assert sample[1] in declared
    assert text.endswith("\n")


async def test_metrics_require_token_where_sessions_do(tokens: Tokens) -> None:
    async with running("ws", "status", tokens=TokenFile(tokens.path)) as run:
        assert (await get(run, "/metrics"))[0] == 401
        assert (await get(run, "/metrics", token="wrong"))[0] == 401
        assert (await get(run, "/metrics", token=tokens.alice))[0] == 200
        assert (await get(run, "/health"))[0] == 200
        assert run.server.admission.sessions == 0
        assert (await get(run, "/metrics", "status"))[0] == 200
        await run.empty()


async def test_status_address_serves_no_sessions() -> None:
    async with running("status") as run:
        assert (await get(run, "/health", "status"))[0] == 200
        status, text, _ = await get(run, "/any", "status")
        assert (status, text) == (404, "refused only /health and /metrics are available here\n")
        address = run.addresses["status"]
        with pytest.raises(InvalidStatus, match="404"):
            await connect(f"ws://127.0.0.1:{address.port}/", proxy=None).__aenter__()


async def test_silent_connections_do_not_keep_clients_out() -> None:
    async with running("ws", sessions=2, max_sessions_per_ip=9) as run:
        silent = [await asyncio.open_connection(*run.at("ws")) for _ in range(4)]
        async with opened(run) as web:
            assert await ask(web, "say 1") == "1"
            assert run.server.admission.waiting <= 2
        for _, writer in silent:
            writer.close()


async def test_plain_http_request_gets_upgrade_required() -> None:
    async with running("ws") as run:
        assert (await get(run, "/"))[0] == 426  # Upgrade Required
        await run.empty()


async def test_sessions_per_address_are_limited() -> None:
    async with running("ws", max_sessions_per_ip=1) as run, opened(run) as web:
        assert await ask(web, "say 1") == "1"
        with pytest.raises(InvalidStatus) as refusal:
            await opened(run).__aenter__()
        assert refusal.value.response.status_code == 503
        assert refusal.value.response.body == b"refused too many sessions from your address\n"


async def test_total_sessions_are_limited() -> None:
    async with running("ws", sessions=1) as run, opened(run) as web:
        assert await ask(web, "say 1") == "1"
        async with opened(run) as other:
            assert await hear(other) == "refused too many sessions; try again later"
            await closed(other)


async def test_too_long_lines_and_messages_are_rejected() -> None:
    async with running("ws", line_bytes=1024) as run:
        web = await opened(run)
        assert await ask(web, "say " + "x" * 1020) == "x" * 1020
        assert await ask(web, "say " + "x" * 1021) == "too long"
        await web.send("x" * 10_000_000)
        assert await closed(web) == 1009
        await run.logged('reason="message too long"')


async def test_client_that_does_not_read_is_disconnected() -> None:
    async with running("ws") as run, opened(run, close_timeout=0.1) as deaf:
        deaf.transport.pause_reading()
        await deaf.send("flood 30000")
        await run.logged("reason=unread")
        deaf.transport.resume_reading()


async def test_websocket_works_over_tls(certified: Certified) -> None:
    async with running("wss", tls=certified.server) as run:
        async with opened(run, scheme="wss", ssl=certified.client, host="localhost") as web:
            assert await ask(web, "say 1") == "1"
        with pytest.raises(ssl.SSLCertVerificationError):
            await opened(run, scheme="wss", host="localhost").__aenter__()


async def test_log_is_written_as_json() -> None:
    async with running("ws", as_json=True) as run:
        async with opened(run) as web:
            assert await ask(web, "say 1") == "1"
        await run.logged("ended")
        events = [json.loads(line) for line in run.events]
        assert [event["event"] for event in events] == ["connected", "began", "ended"]
        assert events[-1]["lines"] == 1
        assert events[-1]["reason"] == "closed"
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", events[0]["time"])


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"GET / HTTP/1.1\r\n" + b"A: " + b"x" * 100_000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 10_000 + b"\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 9999999999\r\n\r\n",
        b"\x16\x03\x01\x00\xa5\x01\x00\x00",
        b"\n" * 1000,
        b"GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
    ],
)
async def test_malformed_request_does_not_harm_server(request_bytes: bytes) -> None:
    async with running("ws", auth_timeout=1.0) as run:
        address = run.addresses["ws"]
        reader, writer = await asyncio.open_connection(address.host, address.port)
        writer.write(request_bytes)
        async with asyncio.timeout(PATIENCE):
            try:
                while await reader.read(1000):
                    pass
            except ConnectionError:
                pass
        writer.close()
        await run.empty()
        async with opened(run) as web:
            assert await ask(web, "say 1") == "1"
