"""The engine as a process with pipes, as GUIs start it."""

import queue
import subprocess
import sys
import threading

import pytest

from agent.chess.parts import OPTIONAL_PARTS
from tests import in_process
from tests.protocols.server.credentials import certified, tokens  # noqa: F401
from tests.support import factory_fixture
from tests.waiting import PATIENCE


@pytest.fixture(scope="session")
def warm_cache():
    """Compile the kernel into the cache."""
    assert in_process.run("warmup").returncode == 0


@pytest.fixture(scope="session")
def warm_variants(warm_cache):
    """Compile the kernels of the variants of chess into the cache too."""
    assert in_process.run("warmup", *OPTIONAL_PARTS).returncode == 0


class EngineProcess:
    """An engine process: lines in, lines out."""

    def __init__(self, *arguments, **options):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "kempelen.cli", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            bufsize=1,
            **options,
        )
        self._lines = queue.Queue()
        self._listener = threading.Thread(target=self._listen)
        self._listener.start()

    def _listen(self):
        for line in self.process.stdout:
            self._lines.put(line.rstrip("\n"))
        self._lines.put(None)

    def send(self, *lines):
        for line in lines:
            self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def read_until(self, start):
        """Return all lines up to the first that begins with `start`."""
        lines = []
        while not lines or not lines[-1].startswith(start):
            line = self._lines.get(timeout=PATIENCE)
            assert line is not None, f"the engine ended before it said {start}: {lines}"
            lines.append(line)
        return lines

    def read_all(self):
        """Return all lines until the engine ends."""
        lines = []
        while (line := self._lines.get(timeout=PATIENCE)) is not None:
            lines.append(line)
        return lines

    def end_input(self):
        self.process.stdin.close()

    def wait(self):
        """Return the exit status and the text on standard error."""
        status = self.process.wait(PATIENCE)
        return status, self.process.stderr.read()

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(PATIENCE)
        self._listener.join(PATIENCE)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            pipe.close()


start_engine = factory_fixture(EngineProcess, EngineProcess.close)
