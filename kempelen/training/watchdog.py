"""Run user code with a timeout, so that the caller can abandon a hanging call."""

import time
from collections.abc import Callable
from typing import TypeVar

from agent.threads.background_call import BackgroundCall

Returned = TypeVar("Returned")
# Heartbeat callback, called with the current activity and its time limit in seconds.
ReportActivity = Callable[[str, float], None]

POLL_INTERVAL = 0.05
# Time limit in seconds before the first heartbeat.
DEFAULT_TIMEOUT = 60.0


class WatchdogError(Exception):
    """Raised if a call times out. The message says which activity timed out."""


def run_with_watchdog(work: Callable[[ReportActivity], Returned]) -> Returned:
    """Call `work` in a background thread, and return its result or raise its exception.

    `work` receives a function that reports the current activity and its timeout in seconds. Raise
    WatchdogError if an activity times out.
    """
    started, activity, timeout = time.monotonic(), "startup", DEFAULT_TIMEOUT

    def report_activity(new_activity: str, seconds: float) -> None:
        nonlocal started, activity, timeout
        started, activity, timeout = time.monotonic(), new_activity, seconds

    def start() -> Returned:
        return work(report_activity)

    call = BackgroundCall(start, "attended")
    try:
        while not call.wait(timeout=POLL_INTERVAL):
            if time.monotonic() - started > timeout:
                raise WatchdogError(f"{activity}: timed out after {timeout:g} s")
    except BaseException:
        call.abandon()
        raise
    return call.result()
