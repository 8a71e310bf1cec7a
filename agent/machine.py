"""What this process may use of the machine: cores and memory."""

import os
import sys
from collections.abc import Iterator
from math import inf
from pathlib import Path

# Of Windows (processthreadsapi.h): after those of normal priority, before those that run when
# nothing else does. Processes that are started inherit it.
_BELOW_NORMAL_PRIORITY_CLASS = 0x4000


def usable_cores() -> int:
    """Return the number of cores that this process may keep busy, of all that the machine has.

    A container may see more cores than its quota of processor time pays for. Threads beyond that
    would use it up early in each period, and all of them stand still for the rest.
    """
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    return max(int(min(cores, cpu_quota())), 1)


def lower_priority() -> None:
    """Let other processes run before this one and those that it starts."""
    if sys.platform == "win32":
        import ctypes

        kernel32 = ctypes.WinDLL("kernel32")
        kernel32.GetCurrentProcess.restype = ctypes.c_void_p
        kernel32.SetPriorityClass.argtypes = [ctypes.c_void_p, ctypes.c_uint32]
        kernel32.SetPriorityClass(kernel32.GetCurrentProcess(), _BELOW_NORMAL_PRIORITY_CLASS)
    elif hasattr(os, "nice"):
        os.nice(5)


def cpu_quota(root: Path = Path("/")) -> float:
    """Return how many cores' time the control groups of this process leave it (Linux).

    root: where the system's files are.
    """
    return min((_read_cpu_quota(folder) for folder in _control_groups(root, "cpu")), default=inf)


def memory_limit(root: Path = Path("/")) -> float:
    """Return how many bytes of memory the control groups of this process leave it (Linux).

    root: where the system's files are.
    """
    limits = (_read_memory_limit(folder) for folder in _control_groups(root, "memory"))
    return min(limits, default=inf)


def _control_groups(root: Path, controller: str) -> Iterator[Path]:
    """Generate the folders of the groups that may limit this process, versions 1 and 2."""
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        mounts = (controller, controllers) if controllers else ("", "unified")
        for mount in dict.fromkeys(mounts):
            top = root / "sys/fs/cgroup" / mount
            group = top / path.lstrip("/")
            # In a container the path may be that of the host, where only the top is to be seen.
            yield from (up for up in (group, *group.parents) if up.is_relative_to(top))


def _read_cpu_quota(folder: Path) -> float:
    for names in (("cpu.max",), ("cpu.cfs_quota_us", "cpu.cfs_period_us")):
        try:
            words = " ".join((folder / name).read_text() for name in names).split()
            allowed, period = map(int, words[:2])
        except (OSError, ValueError):  # no such group, or "max", which is no limit
            continue
        if allowed > 0 and period > 0:
            return allowed / period
    return inf


def _read_memory_limit(folder: Path) -> float:
    for name in ("memory.max", "memory.limit_in_bytes"):
        try:
            return int((folder / name).read_text())
        except (OSError, ValueError):  # no such group, or "max", which is no limit
            continue
    return inf


def cpu_model(root: Path = Path("/")) -> str:
    """Return what the processor calls itself, "" where the system does not tell.

    root: where the system's files are.
    """
    try:
        lines = (root / "proc/cpuinfo").read_text(errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    if names:
        return names[0]
    from platform import processor as told  # not at start-up, which it would lengthen

    return told()


def physical_memory() -> float:
    """Return the machine's memory in bytes, infinite where the system does not tell."""
    if sys.platform == "win32":
        return _windows_physical_memory()
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return inf


def _windows_physical_memory() -> float:
    """Ask GlobalMemoryStatusEx, whose first word of 64 bits has the size of the structure."""
    if sys.platform != "win32":
        return inf
    import ctypes

    status = (ctypes.c_uint64 * 8)(64)
    if not ctypes.WinDLL("kernel32").GlobalMemoryStatusEx(ctypes.byref(status)):
        return inf
    return float(status[1])
