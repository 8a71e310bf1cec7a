"""Processes that benchmarks start: they end with it, unless it is killed by SIGKILL."""

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
    """Let SIGTERM end this process as an exit does, so that what it has started ends too."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _exit)


def _exit(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def spawn(*arguments: Any, **options: Any) -> subprocess.Popen[Any]:
    """Start a process, as `subprocess.Popen` does, that is killed at our end if it still runs."""
    process = subprocess.Popen(*arguments, **options)
    _started.add(process)
    return process


@atexit.register
def _end_all() -> None:
    for child in list(_started):
        with contextlib.suppress(OSError):
            child.kill()
