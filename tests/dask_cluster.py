"""A Dask cluster for tests: a real scheduler and real workers, as processes."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from protocols.cluster.client import ClusterAddress, ClusterClient
from protocols.cluster.errors import ClusterError
from tests.waiting import until

_QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
_OPTIONS = ["--no-dashboard"]


class Dask:
    """A scheduler and workers of one thread each on the loopback address."""

    def __init__(self, folder, workers=2):
        self._folder = folder
        file = folder / "scheduler.json"
        self.processes = [self._start("scheduler", "--port", "0", "--scheduler-file", str(file))]
        assert until(lambda: file.exists() and file.stat().st_size), "no scheduler"
        self.address = json.loads(file.read_text())["address"]
        self.workers = [self.add_worker() for _ in range(workers)]

    @property
    def alive(self):
        """Whether there is a scheduler."""
        return self.processes[0].poll() is None

    def restore(self):
        """Have two workers again that answer, after what a test has done."""
        for worker in self.workers:
            if worker.poll() is None and state_of(worker) == "T":
                worker.kill()
                worker.wait()
        living = [worker for worker in self.processes[1:] if worker.poll() is None]
        self.workers = living + [self.add_worker() for _ in range(2 - len(living))]

    def wait(self, workers=2):
        """Wait until so many workers have joined."""
        asyncio.run(self.joined(workers))

    async def joined(self, workers=2):
        """As `wait`, within a loop."""
        for _ in range(600):
            try:
                cluster = await ClusterClient.connect(ClusterAddress(self.address))
            except ClusterError:
                await asyncio.sleep(0.1)
                continue
            threads = cluster.threads
            await cluster.close()
            if threads >= workers:
                return
            await asyncio.sleep(0.1)
        raise TimeoutError("the workers do not come")

    def add_worker(self):
        worker = self._start(
            "worker", self.address, "--nthreads", "1", "--no-nanny",
            "--local-directory", str(self._folder),
        )  # fmt: skip
        self.processes.append(worker)
        return worker

    def close(self):
        for process in self.processes:
            process.send_signal(signal.SIGCONT)
            process.kill()
        for process in self.processes:
            process.wait()

    def _start(self, kind, *arguments):
        line = [sys.executable, "-m", "distributed.cli.dask_" + kind, "--host", "127.0.0.1"]
        environment = {**os.environ, "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__GIL__ENABLED": "0"}
        return subprocess.Popen([*line, *_OPTIONS, *arguments], env=environment, **_QUIET)


def state_of(process):
    """How the system has a process: T if it is stopped."""
    return Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0]
