import threading


class MemoryBudget:
    """A memory budget in megabytes, shared by the searches of a process. Thread-safe."""

    def __init__(self, megabytes: int) -> None:
        self.megabytes = megabytes
        self._lock = threading.Lock()
        self._reserved = 0

    @property
    def free(self) -> int:
        with self._lock:
            return max(self.megabytes - self._reserved, 0)

    def resize(self, before: int, after: int) -> None:
        """Change a reservation in megabytes.

        Raise MemoryError if there is not enough free memory.
        """
        with self._lock:
            free = self.megabytes - self._reserved
            if after - before > max(free, 0):
                raise MemoryError(
                    f"not enough memory for {after} MB: all sessions share {self.megabytes} MB "
                    f"(choose {before + max(free, 0)} or less)"
                )
            self._reserved += after - before

    def reserve(self, wanted: int, minimum: int) -> int:
        """Reserve up to `wanted` megabytes, at least `minimum`, and return the number reserved.

        The minimum is granted even if it exceeds the free memory.
        """
        with self._lock:
            reserved = max(min(wanted, self.megabytes - self._reserved), min(minimum, wanted))
            self._reserved += reserved
            return reserved

    def release(self, megabytes: int) -> None:
        with self._lock:
            self._reserved -= megabytes
