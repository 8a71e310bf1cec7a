"""Child processes of benchmarks. They end with the benchmark, unless SIGKILL ends it."""

import atexit
import contextlib
import signal
import subprocess
import threading
from types import FrameType
from typing import Any
from weakref import WeakSet

_started: "WeakSet[subprocess.Popen[Any]]" = WeakSet()


def end_in_order() -> None:
    """Convert SIGTERM to a normal exit, so that child processes are killed."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _exit)


def _exit(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def spawn(*arguments: Any, **options: Any) -> subprocess.Popen[Any]:
    """Start a process like `subprocess.Popen`, and kill it when this process exits."""
    process = subprocess.Popen(*arguments, **options)
    _started.add(process)
    return process


@atexit.register
def _end_all() -> None:
    for child in list(_started):
        with contextlib.suppress(OSError):
            child.kill()
