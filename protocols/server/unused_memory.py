"""Return the memory that ended sessions have used to the operating system."""

import ctypes


def return_unused_memory() -> None:
    """Return free memory to the operating system if the C library is glibc.

    It has an arena for each of many threads, and otherwise keeps what was used in the past.
    """
    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (OSError, TypeError, AttributeError):  # another C library
        return
    trim(0)
