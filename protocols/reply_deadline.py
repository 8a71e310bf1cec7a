"""The deadline for pending replies after the end of input."""

import time
from math import inf


class ReplyDeadline:
    """A deadline that begins again whenever a reply has been sent."""

    def __init__(self) -> None:
        self._deadline = inf
        self._pending = 0

    @property
    def is_set(self) -> bool:
        return self._deadline < inf

    def remaining(self, pending: int, seconds: float) -> float:
        """Return the time in seconds until the deadline, which is negative after it.

        The deadline is `seconds` after the first call, or after the number of `pending` replies has
        fallen.
        """
        now = time.monotonic()
        if not self.is_set or pending < self._pending:
            self._deadline = now + seconds
        self._pending = pending
        return self._deadline - now
