"""An engine's process ends together with all its descendants."""

import asyncio
import os
import signal
import subprocess
import sys

import pytest

from protocols.client.process import EngineDiedError, EngineProcess
from tests.systems import module_or_skip, posix_signal
from tests.waiting import PATIENCE, alive, until

supervisor = module_or_skip("protocols.client.supervisor")

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems have no subreaper")

# Prints three process ids: its own, a child in a new session, and an orphan.
PARENT = """
import os, subprocess, sys
child = subprocess.Popen(["sleep", "600"], start_new_session=True)
left = "setsid sleep 600 > /dev/null 2>&1 & echo $!"
orphan = subprocess.run(["sh", "-c", left], capture_output=True, text=True).stdout.strip()
print(os.getpid(), child.pid, orphan, flush=True)
for line in sys.stdin:
    exec(line)
"""
RUNNER = """
import asyncio, sys
from protocols.client.process import EngineProcess

async def main():
    process = await EngineProcess.start(sys.executable, ["-c", sys.argv[1]])
    print(await process.read_line(), flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


def all_gone(processes, limit=10.0):
    return until(lambda: not any(map(alive, processes)), limit)


async def start():
    process = await EngineProcess.start(sys.executable, ["-c", PARENT])
    family = list(map(int, (await process.read_line()).split()))
    assert len(family) == 3
    assert all(map(alive, family))
    return process, family


async def test_children_outside_the_process_group_end_with_engine():
    process, family = await start()
    process.send("sys.exit(3)")
    with pytest.raises(EngineDiedError):
        await process.read_line()
    assert await process.describe_end() == "ended with status 3"
    assert all_gone(family)
    await process.kill()


async def test_stop_and_kill_leave_no_processes():
    for end in (lambda process: process.stop(0.1), EngineProcess.kill):
        process, family = await start()
        process.send("import time; time.sleep(600)")
        await end(process)
        assert all_gone([*family, process.pid], limit=0.0)


@pytest.mark.parametrize("number", [posix_signal("SIGKILL"), signal.SIGTERM, signal.SIGSEGV])
async def test_fatal_signal_is_reported(number):
    process, family = await start()
    os.kill(family[0], number)
    with pytest.raises(EngineDiedError):
        await process.read_line()
    assert await process.describe_end() == f"was killed by signal {number}"
    assert all_gone(family)
    await process.kill()


async def test_engine_killing_its_group_leaves_no_processes():
    process, family = await start()
    process.send("os.kill(0, 9)")
    with pytest.raises(EngineDiedError):
        await process.read_line()
    assert await process.describe_end() == "was killed by signal 9"
    assert all_gone(family)
    await process.kill()


async def test_engine_ends_with_its_supervisor():
    process, family = await start()
    os.kill(process.pid, signal.SIGKILL)
    assert all_gone(family[:1])
    for other in family[1:]:
        os.kill(other, signal.SIGKILL)
    await process.kill()


def test_killed_runner_leaves_no_processes():
    line = [sys.executable, "-c", RUNNER, PARENT]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as runner:
        assert runner.stdout is not None
        family = list(map(int, runner.stdout.readline().split()))
        assert len(family) == 3
        runner.kill()
    assert all_gone(family)


async def test_closed_engine_output_is_reported():
    process, family = await start()
    process.send("child.kill(); child.wait(); os.close(1)")
    with pytest.raises(EngineDiedError):
        await asyncio.wait_for(process.read_line(), PATIENCE)
    assert await process.describe_end() == "closed its output"
    await process.kill()
    assert all_gone(family, limit=0.0)


async def test_engine_starts_with_no_blocked_signals():
    process, _ = await start()
    process.send("import signal; print(*signal.pthread_sigmask(signal.SIG_BLOCK, ()), '.')")
    process.send("sys.stdout.flush()")
    assert await process.read_line() == "."
    program = supervisor.children(process.pid)[0]
    with open(f"/proc/{program}/status") as file:
        assert "SigBlk:\t0000000000000000" in file.read()
    await process.kill()
