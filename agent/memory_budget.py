"""A budget of memory that many searches in one process share: of their tables and trees."""

import threading


class MemoryBudget:
    """So many megabytes for all; any thread may ask."""

    def __init__(self, megabytes: int) -> None:
        self.megabytes = megabytes
        self._lock = threading.Lock()
        self._reserved = 0

    @property
    def free(self) -> int:
        """How many megabytes nobody has."""
        with self._lock:
            return max(self.megabytes - self._reserved, 0)

    def resize(self, before: int, after: int) -> None:
        """Take `after` megabytes in place of `before`; raises MemoryError if less is free."""
        with self._lock:
            free = self.megabytes - self._reserved
            if after - before > max(free, 0):
                raise MemoryError(
                    f"no {after} MB are free: all sessions have {self.megabytes} MB together; "
                    f"choose {before + max(free, 0)} or less"
                )
            self._reserved += after - before

    def reserve(self, wanted: int, minimum: int) -> int:
        """Take what is wanted, or what there is of it, but the least in any case; return it."""
        with self._lock:
            reserved = max(min(wanted, self.megabytes - self._reserved), min(minimum, wanted))
            self._reserved += reserved
            return reserved

    def release(self, megabytes: int) -> None:
        """Give so many megabytes back."""
        with self._lock:
            self._reserved -= megabytes
