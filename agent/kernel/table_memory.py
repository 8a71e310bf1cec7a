"""The memory of a transposition table, whose entries `agent.kernel.transposition_table` reads and writes."""

import numpy as np

from agent.kernel.bits import U64
from agent.kernel.transposition_table import CLUSTER_BYTES, ENTRY_BYTES, GENERATIONS, HasTable
from agent.kernel.zeroed_memory import allocate_zeroed
from agent.machine import physical_memory


class TableMemory:
    """The memory of a transposition table, shared by all workers."""

    def __init__(self, megabytes: int) -> None:
        self.megabytes = megabytes
        self.clusters = megabytes * (1 << 20) // CLUSTER_BYTES
        self._allocate()

    def _allocate(self) -> None:
        """Take zeroed memory, which the system hands out page by page as it is first used."""
        size = (self.clusters + 1) * CLUSTER_BYTES
        try:
            if size > physical_memory():
                raise MemoryError
            self._memory = allocate_zeroed(size)
        except MemoryError:
            reason = f"no memory for a table of {self.megabytes} MB; choose a smaller Hash"
            raise MemoryError(reason) from None
        self.generation = 0
        # A cluster is one cache line, so it begins at a multiple of its size.
        self.address = -(-self._memory.ctypes.data // CLUSTER_BYTES) * CLUSTER_BYTES
        start = self.address - self._memory.ctypes.data
        self._words = self._memory[start : start + self.clusters * CLUSTER_BYTES].view(np.uint64)

    def clear(self) -> None:
        """Forget everything."""
        del self._words, self._memory  # given back before as much is taken again
        self._allocate()

    def attach_to(self, worker: HasTable) -> None:
        """Let a worker read and write it in the search that begins."""
        worker.table = U64(self.address)
        worker.table_clusters = U64(self.clusters)
        worker.generation = self.generation

    def next_generation(self) -> None:
        """Begin a new search: entries of earlier ones give way."""
        self.generation = (self.generation + 1) % GENERATIONS

    def permille_used(self) -> int:
        """Return how much of a sample of 1,000 entries this search has written, in permille."""
        sample = self._words[: 1000 * ENTRY_BYTES // 8 : ENTRY_BYTES // 8]
        current = np.uint64(self.generation)
        return int(np.count_nonzero((sample != 0) & (sample >> np.uint64(58) == current)))
