"""Waiting for what other processes do, and seeing whether they live."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def until(true: Callable[[], Any], limit: float = 60.0) -> bool:
    """Wait until a function returns something true; tell whether it did in so many seconds."""
    deadline = time.monotonic() + limit
    while not true() and time.monotonic() < deadline:
        time.sleep(0.05)
    return bool(true())


def alive(process: int) -> bool:
    """Tell whether a process is there, and not only its exit status; for Linux."""
    try:
        return Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()[0] != b"Z"
    except OSError:
        return False
