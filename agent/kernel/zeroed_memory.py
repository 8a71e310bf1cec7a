"""Large memory of zeros, of which the system gives each page when it is first used.

NumPy's own comes from the C library, which may hand out memory that was used before, after writing
zeros into all of it, and keeps what is given back.
"""

import contextlib
import mmap
import sys

import numpy as np
import numpy.typing as npt

_LARGE = 4 << 20  # bytes: in large pages, which searches find their way in faster


def allocate_zeroed(size: int) -> npt.NDArray[np.uint8]:
    """Return so many bytes of zeros; raises MemoryError if there is no room."""
    if sys.platform == "win32":
        return np.zeros(size, np.uint8)
    try:
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        memory = mmap.mmap(-1, max(size, 1), flags=flags)
    except (OSError, ValueError, OverflowError):
        raise MemoryError from None
    if size >= _LARGE and hasattr(mmap, "MADV_HUGEPAGE"):
        with contextlib.suppress(OSError):  # as where the system has none
            memory.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(memory, np.uint8, size)
