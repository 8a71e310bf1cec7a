import contextlib
import mmap
import sys

import numpy as np
import numpy.typing as npt

_LARGE = 4 << 20  # bytes: use huge pages from this size on, for fewer TLB misses


def allocate_zeroed(size: int) -> npt.NDArray[np.uint8]:
    """Return an array of `size` zero bytes. Raise `MemoryError` if there is not enough memory.

    Except on Windows, the operating system provides pages on first use and gets them back when the
    array is freed. NumPy's allocator might zero reused memory at once and keep freed memory.
    """
    if sys.platform == "win32":
        return np.zeros(size, np.uint8)
    try:
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        memory = mmap.mmap(-1, max(size, 1), flags=flags)
    except (OSError, ValueError, OverflowError):
        raise MemoryError from None
    if size >= _LARGE and hasattr(mmap, "MADV_HUGEPAGE"):
        with contextlib.suppress(OSError):  # huge pages are not available
            memory.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(memory, np.uint8, size)
