"""CPU cores and memory that are available to this process."""

import os
import sys
from collections.abc import Iterator
from math import inf
from pathlib import Path

# From processthreadsapi.h (Windows). Child processes inherit this priority class.
_BELOW_NORMAL_PRIORITY_CLASS = 0x4000


def usable_cores() -> int:
    """Return the number of CPU cores that this process may use, limited by its CPU quota."""
    cores = len(usable_cpus()) or os.cpu_count() or 1
    return max(int(min(cores, cpu_quota())), 1)


def usable_cpus() -> tuple[int, ...]:
    """Return the numbers of the CPUs to which a process can be bound (Linux only)."""
    return tuple(sorted(os.sched_getaffinity(0))) if hasattr(os, "sched_getaffinity") else ()


def lower_priority() -> None:
    if sys.platform == "win32":
        import ctypes

        kernel32 = ctypes.WinDLL("kernel32")
        kernel32.GetCurrentProcess.restype = ctypes.c_void_p
        kernel32.SetPriorityClass.argtypes = [ctypes.c_void_p, ctypes.c_uint32]
        kernel32.SetPriorityClass(kernel32.GetCurrentProcess(), _BELOW_NORMAL_PRIORITY_CLASS)
    elif hasattr(os, "nice"):
        os.nice(5)


def cpu_quota(root: Path = Path("/")) -> float:
    """Return the CPU quota of this process in cores (Linux control groups), or infinity."""
    return min((_read_cpu_quota(folder) for folder in _control_groups(root, "cpu")), default=inf)


def memory_limit(root: Path = Path("/")) -> float:
    """Return the memory limit of this process in bytes (Linux control groups), or infinity."""
    limits = (_read_memory_limit(folder) for folder in _control_groups(root, "memory"))
    return min(limits, default=inf)


def _control_groups(root: Path, controller: str) -> Iterator[Path]:
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
            # In a container, the path may be valid only on the host. Then only the top directory
            # exists.
            yield from (up for up in (group, *group.parents) if up.is_relative_to(top))


def _read_cpu_quota(folder: Path) -> float:
    for names in (("cpu.max",), ("cpu.cfs_quota_us", "cpu.cfs_period_us")):
        try:
            words = " ".join((folder / name).read_text() for name in names).split()
            quota, period = map(int, words[:2])
        except (OSError, ValueError):  # no such group, or "max" (unlimited)
            continue
        if quota > 0 and period > 0:
            return quota / period
    return inf


def _read_memory_limit(folder: Path) -> float:
    for name in ("memory.max", "memory.limit_in_bytes"):
        try:
            return int((folder / name).read_text())
        except (OSError, ValueError):  # no such group, or "max" (unlimited)
            continue
    return inf


def cpu_model(root: Path = Path("/")) -> str:
    """Return the model name of the processor, or "" if it is unknown."""
    try:
        lines = (root / "proc/cpuinfo").read_text(errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    if names:
        return names[0]
    from platform import processor  # lazy import: slow to load

    return processor()


def physical_memory() -> float:
    """Return the physical memory of the machine in bytes, or infinity if unknown."""
    if sys.platform == "win32":
        return _windows_physical_memory()
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return inf


def usable_memory() -> float:
    """Return the memory that this process may use in bytes, or infinity if unknown."""
    return min(physical_memory(), memory_limit())


def _windows_physical_memory() -> float:
    if sys.platform != "win32":
        return inf
    import ctypes

    status = (ctypes.c_uint64 * 8)(64)
    if not ctypes.WinDLL("kernel32").GlobalMemoryStatusEx(ctypes.byref(status)):
        return inf
    return float(status[1])
