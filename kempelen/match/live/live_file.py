"""Store the live state of a tournament in a file beside its ledger, for viewers on this machine.

The file contains only the current snapshots, and is removed when the run ends.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agent.io import strict_json
from agent.io.files import MAX_FILE_SIZE, replace_atomically
from agent.io.text_files import read_text
from kempelen.match.live.events import Event
from kempelen.match.live.live_state import LiveState

# Minimum seconds between two writes, and maximum seconds without a write.
WRITE_INTERVAL = 0.1
HEARTBEAT = 2.0
# A run counts as lost after this number of seconds without a write.
LOST_AFTER = 15.0
# The file includes the moves of all boards.
MAX_FILE_SIZE = 4 * MAX_FILE_SIZE


def live_file_path(ledger: str) -> Path:
    return Path(f"{ledger}.live")


class LiveFile:
    """An event listener that writes the live state to a file in a thread, ignoring write errors."""

    def __init__(self, path: Path, curve: Sequence[dict[str, Any]] = ()) -> None:
        """Start the writer thread. `curve` is the Elo curve of earlier runs."""
        self._path = path
        self._state = LiveState(curve)
        self._lock = threading.Lock()
        self._changed = threading.Event()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._write_loop, name="live file", daemon=True)
        self._thread.start()

    def __call__(self, event: Event) -> None:
        with self._lock:
            self._state.apply(event)
        self._changed.set()

    def close(self) -> None:
        """Stop the writer thread and remove the file."""
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
            with contextlib.suppress(OSError):  # the next write may succeed
                replace_atomically(self._path, text.encode(), keep=False)
            self._closed.wait(WRITE_INTERVAL)


def read_live_file(path: Path) -> dict[str, dict[str, Any]] | None:
    """Return the snapshots of an active run by name, or None if no run is active."""
    try:
        content = strict_json.loads(read_text(path, MAX_FILE_SIZE))
        if time.time() - content["time"] > LOST_AFTER:
            return None
        return {str(name): dict(value) for name, value in content["snapshots"].items()}
    except (OSError, ValueError, TypeError, LookupError, AttributeError):
        return None
