import asyncio
import time
from collections.abc import Awaitable, Callable, Collection
from typing import Any, TypeVar

# The pause after the first failed attempt, the longest pause, and the time for all attempts.
MIN_RETRY_PAUSE_S = 0.5
MAX_RETRY_PAUSE_S = 10.0
RETRY_TIMEOUT_S = 60.0

Returned = TypeVar("Returned")
Failures = type[Exception] | tuple[type[Exception], ...]


async def cancel_all(tasks: Collection[asyncio.Future[Any]]) -> None:
    """Cancel tasks and wait until all of them have ended, ignoring their exceptions."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def retry(
    attempt: Callable[[], Awaitable[Returned]], failures: Failures, report: Callable[[str], None]
) -> Returned:
    """Return the result of `attempt`, which is called again, with growing pauses, if it fails.

    `report` is called with the first failure. RETRY_TIMEOUT_S after it, the next one is raised.
    """
    pause, deadline = MIN_RETRY_PAUSE_S, 0.0
    while True:
        try:
            return await attempt()
        except failures as error:
            first, now = not deadline, time.monotonic()
            deadline = deadline or now + RETRY_TIMEOUT_S
            if now >= deadline:
                raise
            if first:
                report(f"{error}; retrying for {RETRY_TIMEOUT_S:g} s")
        await asyncio.sleep(pause)
        pause = min(2 * pause, MAX_RETRY_PAUSE_S)
