from __future__ import annotations

import json
import time
from collections.abc import Callable

from agent.io.sanitize import sanitize_line

Field = str | int | float


class EventLog:
    """Passes each event to the function `write` as one escaped line of JSON or plain text."""

    def __init__(self, write: Callable[[str], None], *, as_json: bool = False) -> None:
        self._write = write
        self._as_json = as_json

    def write(self, event: str, **fields: Field) -> None:
        """Write an event with its fields and the current UTC time."""
        now = time.time()
        stamp = (
            time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + f".{int(now % 1 * 1000):03d}Z"
        )
        shown = {name: sanitize_line(v) if isinstance(v, str) else v for name, v in fields.items()}
        if self._as_json:
            self._write(json.dumps({"time": stamp, "event": event, **shown}))
        else:
            self._write(" ".join([stamp, event, *(f"{k}={_value(v)}" for k, v in shown.items())]))


def _value(value: Field) -> str:
    text = str(value)
    return json.dumps(text, ensure_ascii=False) if not text or set(text) & set(' "=') else text
