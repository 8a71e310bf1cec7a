"""Programs and sessions end soon after their client is gone, whatever is queued."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice

import pytest
from websockets.sync.client import connect

from tests.support import ROOT
from tests.systems import posix_only
from tests.waiting import PATIENCE, until

pytestmark = pytest.mark.thorough

QUERY = {"moves": [], "rules": "chinese", "boardXSize": 5, "boardYSize": 5, "maxVisits": 10**9}
GTP = "list_commands\nkata-set-param maxTime 100000\ngenmove b\n"
STUCK_SESSIONS = {
    # A move of 100,000 seconds, and more commands than wait in the queue.
    "gtp": (("gtp", "--time", "100000"), "name\ngenmove b\n" + 1000 * "name\n", "= Kempelen"),
    "uci": (("uci",), "uci\nucinewgame\ngo movetime 100000000\n", "uciok"),
    "xboard": (("xboard",), "protover 2\nst 100000\nnew\nforce\nanalyze\n", "feature"),
    "katago-analysis": (
        ("katago-analysis", "--algorithm", "mcts"),
        '{"id": "v", "action": "query_version"}\n' + json.dumps({"id": "a", **QUERY}) + "\n",
        '"v"',
    ),
}


@posix_only("a closed pipe is noticed only when it is written to")
@pytest.mark.parametrize("protocol", STUCK_SESSIONS)
@pytest.mark.parametrize("input_too", [True, False], ids=["dead", "output closed"])
def test_engine_exits_soon_after_its_front_end(protocol: str, input_too: bool) -> None:
    arguments, text, answer = STUCK_SESSIONS[protocol]
    engine = subprocess.Popen(
        [sys.executable, "-m", "kempelen.cli", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert engine.stdin
    assert engine.stdout
    try:
        engine.stdin.write(text)
        engine.stdin.flush()
        while answer not in engine.stdout.readline():
            pass
        if input_too:
            engine.stdin.close()
        engine.stdout.close()
        engine.wait(PATIENCE)
    finally:
        engine.kill()
        engine.wait()
        engine.stdin.close()


@pytest.fixture
def server() -> Iterator[list[tuple[str, int]]]:
    """Run `kempelen serve`. Yield its TCP, WebSocket and status addresses."""
    names = "127.0.0.1:0", "ws://127.0.0.1:0"
    words = [word for name in names for word in ("--address", name)]
    process = subprocess.Popen(
        [sys.executable, "-m", "kempelen.cli", "serve", *words, "--status", "127.0.0.1:0"],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert process.stderr
    try:
        lines = (re.search(r"address=\S*?([\d.]+):(\d+)", line) for line in process.stderr)
        found = ((match[1], int(match[2])) for match in lines if match)
        yield list(islice(found, 3))
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)


def gauges(status: tuple[str, int]) -> dict[str, float]:
    with socket.create_connection(status, timeout=PATIENCE) as caller:
        caller.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        text = caller.makefile().read()
    return {name: float(value) for name, value in re.findall(r"^(kempelen_\w+) (\S+)$", text, re.M)}


def busy(status: tuple[str, int]) -> bool:
    known = gauges(status)
    return bool(known["kempelen_sessions"] or known["kempelen_searches"])


@pytest.mark.parametrize("lines", [400, 40_000])
@pytest.mark.parametrize("scheme", ["tcp", "ws"])
def test_gtp_session_ends_soon_after_its_client(
    server: list[tuple[str, int]], scheme: str, lines: int
) -> None:
    tcp, web, status = server
    text = GTP + lines * "name\n"
    if scheme == "tcp":
        with socket.create_connection(tcp, timeout=PATIENCE) as client:
            client.sendall(text.encode())
            assert until(lambda: gauges(status)["kempelen_searches"])
    else:
        with connect(f"ws://{web[0]}:{web[1]}/gtp", proxy=None) as client_socket:
            for n in range(0, len(text), 50_000):
                client_socket.send(text[n : n + 50_000])
            assert until(lambda: gauges(status)["kempelen_searches"])
            client_socket.socket.shutdown(socket.SHUT_RDWR)
    assert until(lambda: not busy(status), 30.0)


@pytest.mark.parametrize("first", ["go infinite", "xboard\nanalyze", "lz-analyze b"])
def test_session_that_ends_while_it_begins_leaves_no_search(
    server: list[tuple[str, int]], first: str
) -> None:
    """The first line of a server imports the engine, which takes longer than this client stays."""
    tcp, _, status = server
    with socket.create_connection(tcp, timeout=PATIENCE) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        client.sendall(f"{first}\n".encode())
    assert until(lambda: not busy(status), 30.0)
