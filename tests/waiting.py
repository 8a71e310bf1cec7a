"""Waiting for what other processes do, and seeing whether they live."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Limit in seconds against a hang; a busy machine must not reach it.
PATIENCE = 120.0


def until(true: Callable[[], Any], limit: float = PATIENCE) -> bool:
    """Wait until a function returns something true; return whether it did within the limit."""
    deadline = time.monotonic() + limit
    while not true() and time.monotonic() < deadline:
        time.sleep(0.05)
    return bool(true())


def alive(process: int) -> bool:
    """Return whether a process runs, and is not only an exit status (a zombie); Linux only."""
    try:
        return Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()[0] != b"Z"
    except OSError:
        return False
