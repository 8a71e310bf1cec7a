from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from typing import Any

from agent.io.sanitize import MAX_LINE_LENGTH, sanitize_line
from agent.io.user_code import describe
from protocols.server.admission import ANONYMOUS
from protocols.server.limits import TokenBucket

# A stranger can cause this many events at once and per second: at most 50 MB of log per day.
MAX_STRANGER_EVENTS = 500
STRANGER_EVENTS_PER_S = 2.0
MAX_STRANGER_FIELD = 200  # characters

Field = str | int | float


class EventLog:
    """Passes each event to the function `write` as one escaped line of JSON or plain text."""

    def __init__(self, write: Callable[[str], None], *, as_json: bool = False) -> None:
        self._write = write
        self._as_json = as_json
        seconds = MAX_STRANGER_EVENTS / STRANGER_EVENTS_PER_S
        self._bucket = TokenBucket(STRANGER_EVENTS_PER_S, time.monotonic(), seconds)
        self._unlogged = 0

    def write(self, event: str, **fields: Field) -> None:
        """Write an event with its fields and the current UTC time."""
        self._write_event(event, fields, MAX_LINE_LENGTH)

    def write_limited(self, event: str, **fields: Field) -> None:
        """Write an event that a client caused.

        Without a token holder as `name`, the rate is limited. The field `unlogged` of the next
        event is the number of events left out.
        """
        if fields.get("name", "") not in ("", ANONYMOUS):
            self.write(event, **fields)
        elif self._bucket.try_take(time.monotonic()):
            self._unlogged += 1
        else:
            if self._unlogged:
                fields["unlogged"], self._unlogged = self._unlogged, 0
            self._write_event(event, fields, MAX_STRANGER_FIELD)

    def write_loop_error(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Write an error of the event loop. By default, asyncio prints tracebacks without limit."""
        error = context.get("exception")
        text = context["message"] if error is None else f"{context['message']}: {describe(error)}"
        self.write_limited("failed", error=text)

    def _write_event(self, event: str, fields: dict[str, Field], max_length: int) -> None:
        now = time.time()
        stamp = (
            time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + f".{int(now % 1 * 1000):03d}Z"
        )
        shown = {
            name: sanitize_line(value, max_length) if isinstance(value, str) else value
            for name, value in fields.items()
        }
        if self._as_json:
            self._write(json.dumps({"time": stamp, "event": event, **shown}))
        else:
            self._write(" ".join([stamp, event, *(f"{k}={_value(v)}" for k, v in shown.items())]))


def _value(value: Field) -> str:
    text = str(value)
    return json.dumps(text, ensure_ascii=False) if not text or set(text) & set(' "=') else text
