"""Lines and their arrival times, read by a thread."""

import asyncio
import os
import sys
import threading
import time

import pytest

from protocols.client.pipe_reader import READ_AHEAD_CHUNKS, PipeReader
from protocols.client.process import EngineDiedError, EngineProcess

ECHO = "import sys\nfor line in sys.stdin: print(line, end='', flush=True)"
NOISE = "while True: print('noise ' * 1000)"
# The loop is blocked for much longer than a program takes to answer, even on a busy machine.
BLOCKED = 3.0


def readers():
    return [thread for thread in threading.enumerate() if thread.name == "arrivals"]


async def gone(threads):
    for _ in range(500):
        if not any(thread.is_alive() for thread in threads):
            return True
        await asyncio.sleep(0.01)
    return False


@pytest.fixture
def before():
    """Threads of earlier tests."""
    return readers()


async def start(code):
    return await EngineProcess.start(sys.executable, ("-c", code))


async def test_arrival_time_is_exact_despite_a_blocked_event_loop(before):
    process = await start(ECHO)
    process.send("first")
    assert await process.read_line() == "first"
    sent = time.perf_counter()
    process.send("second\nthird")
    time.sleep(BLOCKED)
    assert await process.read_line() == "second"
    assert sent < process.arrived < sent + BLOCKED - 1
    assert await process.read_line() == "third"
    assert sent < process.arrived < sent + BLOCKED - 1
    await process.stop()
    with pytest.raises(EngineDiedError):
        await process.read_line()
    assert await gone(set(readers()) - set(before))


async def test_output_flood_is_limited_by_backpressure(before):
    process = await start(NOISE)
    assert (await process.read_line()).startswith("noise")
    await asyncio.sleep(0.5)
    assert len(process._output._chunks) <= READ_AHEAD_CHUNKS + 1
    await process.kill()
    assert await gone(set(readers()) - set(before))


async def test_output_before_end_of_file_is_read_first():
    source, sink = os.pipe()
    arrivals = PipeReader(source)
    os.write(sink, b"last words")
    os.close(sink)
    assert (await arrivals.read_chunk())[0] == b"last words"
    for _ in range(3):
        assert (await arrivals.read_chunk())[0] == b""


async def test_cancelled_read_loses_no_data():
    source, sink = os.pipe()
    arrivals = PipeReader(source)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(arrivals.read_chunk(), 0.01)
    os.write(sink, b"x" * 10)
    os.close(sink)
    assert (await arrivals.read_chunk())[0] == b"x" * 10


async def test_closing_ends_the_reader_thread(before):
    source, sink = os.pipe()
    arrivals = PipeReader(source)
    for _ in range(READ_AHEAD_CHUNKS):
        os.write(sink, b"x")
        while not arrivals._chunks:
            await asyncio.sleep(0.01)
        arrivals._chunks.clear()  # read, but not consumed
    arrivals.close()
    assert await gone(set(readers()) - set(before))
    os.close(sink)
