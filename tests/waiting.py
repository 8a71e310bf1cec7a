"""Waiting for what threads and other processes do, and seeing whether they live."""

import asyncio
import socket
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

# Limit in seconds against a hang; a busy machine must not reach it.
PATIENCE = 120.0


def until(true: Callable[[], Any], limit: float = PATIENCE) -> bool:
    """Wait until a function returns something true; return whether it did within the limit."""
    deadline = time.monotonic() + limit
    while not true() and time.monotonic() < deadline:
        time.sleep(0.01)
    return bool(true())


async def eventually(true: Callable[[], Any], limit: float = PATIENCE) -> None:
    """Let other tasks run until a function returns something true."""
    async with asyncio.timeout(limit):
        while not true():
            await asyncio.sleep(0.01)


def free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def listens(port: int) -> bool:
    """Return whether a server accepts connections at a port of this machine."""
    with closing(socket.socket()) as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def alive(process: int) -> bool:
    """Return whether a process runs, and is not only an exit status (a zombie); Linux only."""
    try:
        return Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()[0] != b"Z"
    except OSError:
        return False
