"""Leak test of `kempelen serve`: successive connections, and the resources that each leaves behind.

Each connection begins a UCI session, alternately over TCP and WebSocket. One in ten requests a
move. The test passes (exit status 0) if the number of open files at the end is the same as after
the first hundred connections. The number of threads must also be the same, apart from the thread
pool. Memory must grow by less than 40 MB in the second half, because the allocator keeps some
memory per thread.

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

from child_processes import end_in_order, spawn
from websockets.asyncio.client import connect

FIRST = 100
WORDS = ("--address", "127.0.0.1:0", "--address", "ws://127.0.0.1:0")
GROWTH = 40.0  # maximum growth of the memory in MB
# Size of the session thread pool, which keeps its threads.
POOL = 4


@contextmanager
def listening() -> Iterator[tuple[int, list[int]]]:
    """Start a server; yield its process ID and its TCP and WebSocket ports."""
    server = spawn(
        [sys.executable, "-m", "kempelen.cli", "serve", *WORDS], stderr=subprocess.PIPE, text=True
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
    """Send lines in a TCP session, wait for a line that starts with `awaited`, and disconnect."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write("".join(f"{line}\n" for line in asks).encode())
    while not (await reader.readline()).startswith(awaited.encode()):
        pass
    writer.close()
    await writer.wait_closed()


async def by_web(port: int, asks: list[str], awaited: str) -> None:
    """Send lines in a WebSocket session, wait for the awaited line, and disconnect."""
    async with connect(f"ws://127.0.0.1:{port}/uci", proxy=None, compression=None) as web:
        await web.send("\n".join(asks))
        while not str(await web.recv()).startswith(awaited):
            pass


async def open_and_close_sessions(ports: list[int], times: int) -> None:
    """Open and close `times` sessions."""
    for number in range(times):
        asks, awaited = ["uci"], "uciok"
        if number % 10 == 0:
            asks += ["position startpos moves a2a3", "go nodes 2000"]
            awaited = "bestmove"
        speak = by_web if number % 2 else by_tcp
        await asyncio.wait_for(speak(ports[number % 2], asks, awaited), 60)


def leftovers(process: int) -> tuple[float, int, int]:
    """Return a process's memory in MB, and its numbers of open files and threads."""
    folder = Path(f"/proc/{process}")
    status = (folder / "status").read_text()
    (memory,) = re.findall(r"VmRSS:\s+(\d+) kB", status)
    (threads,) = re.findall(r"Threads:\s+(\d+)", status)
    return int(memory) / 1024, len(os.listdir(folder / "fd")), int(threads)


def main() -> int:
    """Open the connections and report."""
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
            time.sleep(5)  # let the last sessions end and free their resources
            found = leftovers(process)
            kept.append((number, found))
            seconds = time.monotonic() - began
            print(f"{number:11} {seconds:8.1f} {found[0]:10.1f} {found[1]:6} {found[2]:8}")
    (_, first), (_, half), (_, last) = kept
    clean = last[0] - half[0] < GROWTH and last[1] <= first[1] and last[2] <= first[2] + POOL
    return 0 if clean else 1


if __name__ == "__main__":
    sys.exit(main())
