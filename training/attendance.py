"""A user's code at work: attended, so that what does not come back can be given up."""

import time
from collections.abc import Callable
from typing import TypeVar

from agent.threads.apart import Apart

Returned = TypeVar("Returned")
# Told, again and again, what is being done now and how many seconds that may take.
Doing = Callable[[str, float], None]

GLANCE = 0.05
# How long what is not told may take, in seconds.
PATIENCE = 60.0


class StuckError(Exception):
    """Something did not come back in its time; the message says what."""


def attend(work: Callable[[Doing], Returned]) -> Returned:
    """Return what `work` returns, or raise what it raises; StuckError when it is stuck."""
    began, what, patience = time.monotonic(), "the beginning", PATIENCE

    def doing(now: str, seconds: float) -> None:
        nonlocal began, what, patience
        began, what, patience = time.monotonic(), now, seconds

    def start() -> Returned:
        return work(doing)

    apart = Apart(start, "attended")
    try:
        while not apart.wait(timeout=GLANCE):
            if time.monotonic() - began > patience:
                raise StuckError(f"{what} did not come back within {patience:g} s")
    except BaseException:
        apart.give_up()
        raise
    return apart.result()
