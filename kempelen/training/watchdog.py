"""A user's code at work: attended, so that what does not come back can be given up."""

import time
from collections.abc import Callable
from typing import TypeVar

from agent.threads.background_call import BackgroundCall

Returned = TypeVar("Returned")
# Told, again and again, what is being done now and how many seconds that may take.
ReportActivity = Callable[[str, float], None]

POLL_INTERVAL = 0.05
# How long what is not told may take, in seconds.
DEFAULT_TIMEOUT = 60.0


class WatchdogError(Exception):
    """Something did not come back in its time; the message says what."""


def run_with_watchdog(work: Callable[[ReportActivity], Returned]) -> Returned:
    """Return what `work` returns, or raise what it raises; WatchdogError when it is stuck."""
    began, what, patience = time.monotonic(), "the beginning", DEFAULT_TIMEOUT

    def report_activity(now: str, seconds: float) -> None:
        nonlocal began, what, patience
        began, what, patience = time.monotonic(), now, seconds

    def start() -> Returned:
        return work(report_activity)

    apart = BackgroundCall(start, "attended")
    try:
        while not apart.wait(timeout=POLL_INTERVAL):
            if time.monotonic() - began > patience:
                raise WatchdogError(f"{what} did not come back within {patience:g} s")
    except BaseException:
        apart.abandon()
        raise
    return apart.result()
