"""What goes on in a tournament, in a file beside its ledger, for whoever looks on at this machine.

It holds the live state's snapshots as they are now, and is written anew, whole, when they change:
so it stays small, and who comes late sees as much as who was there. It goes with its run.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agent.io.files import MAX_FILE_SIZE, read_text, replace_atomically
from kempelen.match.live.events import Event
from kempelen.match.live.live_state import LiveState

# Seconds between two states, and until one is written though nothing has changed.
WRITE_INTERVAL = 0.1
HEARTBEAT = 2.0
# Without a word for so long, in seconds, a run has gone without one.
LOST_AFTER = 15.0
# Moves of a board are many, those of all boards more.
MAX_FILE_SIZE = 4 * MAX_FILE_SIZE


def live_file_path(ledger: str) -> Path:
    """Return where the run of a ledger says what goes on."""
    return Path(f"{ledger}.live")


class LiveFile:
    """A listener that keeps the file. It never waits for the disk, and needs no room on it."""

    def __init__(self, path: Path, curve: Sequence[dict[str, Any]] = ()) -> None:
        """Begin. curve: of the games that have been played before."""
        self._path = path
        self._state = LiveState(curve)
        self._lock = threading.Lock()
        self._changed = threading.Event()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._write_loop, name="live file", daemon=True)
        self._thread.start()

    def __call__(self, event: Event) -> None:
        """Follow an event."""
        with self._lock:
            self._state.apply(event)
        self._changed.set()

    def close(self) -> None:
        """Remove the file: what has been played is in the ledger."""
        self._closed.set()
        self._changed.set()
        self._thread.join()
        with contextlib.suppress(OSError):
            self._path.unlink()

    def _write_loop(self) -> None:
        while not self._closed.is_set():
            self._changed.wait(HEARTBEAT)
            self._changed.clear()
            with self._lock:
                text = json.dumps({"time": time.time(), "snapshots": self._state.snapshots})
            with contextlib.suppress(OSError):  # who looks on waits for the next one
                replace_atomically(self._path, text.encode(), keep=False)
            self._closed.wait(WRITE_INTERVAL)


def read_live_file(path: Path) -> dict[str, dict[str, Any]] | None:
    """Return the snapshots, None if nothing goes on."""
    try:
        found = json.loads(read_text(path, MAX_FILE_SIZE))
        if time.time() - found["time"] > LOST_AFTER:
            return None
        return {str(name): dict(value) for name, value in found["snapshots"].items()}
    except (OSError, ValueError, TypeError, LookupError, AttributeError):
        return None
