import numpy as np

from agent.kernel.bits import U64
from agent.kernel.transposition_table import CLUSTER_BYTES, ENTRY_BYTES, GENERATIONS, HasTable
from agent.kernel.zeroed_memory import allocate_zeroed
from agent.machine import usable_memory


class TableMemory:
    """The memory of a transposition table. Raise `MemoryError` if there is not enough memory."""

    def __init__(self, megabytes: int) -> None:
        self.megabytes = megabytes
        self.clusters = megabytes * (1 << 20) // CLUSTER_BYTES
        self._allocate()

    def _allocate(self) -> None:
        size = (self.clusters + 1) * CLUSTER_BYTES
        try:
            if size > usable_memory():
                raise MemoryError
            self._memory = allocate_zeroed(size)
        except MemoryError:
            reason = f"not enough memory for a table of {self.megabytes} MB (reduce Hash)"
            raise MemoryError(reason) from None
        self.generation = 0
        # Align clusters to cache lines, which have the same size.
        self.address = -(-self._memory.ctypes.data // CLUSTER_BYTES) * CLUSTER_BYTES
        start = self.address - self._memory.ctypes.data
        self._words = self._memory[start : start + self.clusters * CLUSTER_BYTES].view(np.uint64)

    def clear(self) -> None:
        del self._words, self._memory  # free the memory before allocating it again
        self._allocate()

    def attach_to(self, worker: HasTable) -> None:
        """Make a worker use this table. This must be done before each search."""
        worker.table = U64(self.address)
        worker.table_clusters = U64(self.clusters)
        worker.generation = self.generation

    def next_generation(self) -> None:
        """Start a new generation of entries for a new search. Older entries are replaced first."""
        self.generation = (self.generation + 1) % GENERATIONS

    def permille_used(self) -> int:
        """Return the usage by the current search in permille, from a sample of 1,000 entries."""
        sample = self._words[: 1000 * ENTRY_BYTES // 8 : ENTRY_BYTES // 8]
        current = np.uint64(self.generation)
        return int(np.count_nonzero((sample != 0) & (sample >> np.uint64(58) == current)))
