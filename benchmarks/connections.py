"""Connections one after another to `kempelen listen`, and what each leaves behind in its process.

Each begins a session of UCI, over TCP or WebSocket in turn; one in ten asks for a move. Passes
(exit status 0) if at the end as many files are open as after the first hundred, and as many threads
but those of its pool, and memory has grown by less than 40 MB in the second half: the allocator
keeps some for each thread.

    python benchmarks/connections.py --connections 10000
"""

import argparse
import asyncio
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from children import end_in_order, spawn
from websockets.asyncio.client import connect

FIRST = 100
WORDS = ("--address", "127.0.0.1:0", "--address", "ws://127.0.0.1:0")
GROWTH = 40.0  # MB
# Of the pool that sessions act in, which keeps its threads: one a session at once, and its end.
POOL = 4


@contextmanager
def listening() -> Iterator[tuple[int, list[int]]]:
    """Start a server; give its process and its ports, for TCP and for WebSocket."""
    server = spawn(
        [sys.executable, "-m", "kempelen.cli", "listen", *WORDS], stderr=subprocess.PIPE, text=True
    )
    try:
        assert server.stderr
        ports = []
        while len(ports) < 2:
            if match := re.search(r" listening address=.*:(\d+)$", server.stderr.readline()):
                ports.append(int(match[1]))
        reader = spawn(["cat"], stdin=server.stderr, stdout=subprocess.DEVNULL)
        yield server.pid, ports
    finally:
        server.terminate()
        server.wait()
        reader.wait()


async def by_tcp(port: int, asks: list[str], awaited: str) -> None:
    """Say lines in a session over TCP, hear the awaited one, and leave."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write("".join(f"{line}\n" for line in asks).encode())
    while not (await reader.readline()).startswith(awaited.encode()):
        pass
    writer.close()
    await writer.wait_closed()


async def by_web(port: int, asks: list[str], awaited: str) -> None:
    """Say lines in a session over WebSocket, hear the awaited one, and leave."""
    async with connect(f"ws://127.0.0.1:{port}/uci", proxy=None, compression=None) as web:
        await web.send("\n".join(asks))
        while not str(await web.recv()).startswith(awaited):
            pass


async def open_and_close_sessions(ports: list[int], times: int) -> None:
    """Begin and end so many sessions."""
    for number in range(times):
        asks, awaited = ["uci"], "uciok"
        if number % 10 == 0:
            asks += ["position startpos moves a2a3", "go nodes 2000"]
            awaited = "bestmove"
        speak = by_web if number % 2 else by_tcp
        await asyncio.wait_for(speak(ports[number % 2], asks, awaited), 60)


def leftovers(process: int) -> tuple[float, int, int]:
    """Return the memory of a process, in MB, and how many files and threads it has."""
    folder = Path(f"/proc/{process}")
    status = (folder / "status").read_text()
    (memory,) = re.findall(r"VmRSS:\s+(\d+) kB", status)
    (threads,) = re.findall(r"Threads:\s+(\d+)", status)
    return int(memory) / 1024, len(os.listdir(folder / "fd")), int(threads)


def main() -> int:
    """Connect and report."""
    end_in_order()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--connections", type=int, default=10_000)
    connections = parser.parse_args().connections
    print("connections  seconds  memory MB  files  threads")
    with listening() as (process, ports):
        began = time.monotonic()
        kept = []
        for number in (FIRST, connections // 2, connections):
            done = kept[-1][0] if kept else 0
            asyncio.run(open_and_close_sessions(ports, max(number - done, 0)))
            time.sleep(5)  # the last sessions end, and what they leave is freed
            found = leftovers(process)
            kept.append((number, found))
            seconds = time.monotonic() - began
            print(f"{number:11} {seconds:8.1f} {found[0]:10.1f} {found[1]:6} {found[2]:8}")
    (_, first), (_, half), (_, last) = kept
    clean = last[0] - half[0] < GROWTH and last[1] <= first[1] and last[2] <= first[2] + POOL
    return 0 if clean else 1


if __name__ == "__main__":
    sys.exit(main())
