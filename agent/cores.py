"""How many cores this process may use."""

import os


def usable_cores() -> int:
    """Return the number of cores that this process may run on, of all that the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
