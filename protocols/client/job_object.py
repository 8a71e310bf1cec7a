"""Windows job objects, which kill a process together with its children."""

import ctypes
import sys
from typing import Any, Self

# From jobapi2.h and winnt.h.
_EXTENDED_LIMIT_INFORMATION = 9
_LIMIT_KILL_ON_JOB_CLOSE = 0x2000
_PROCESS_SET_QUOTA, _PROCESS_TERMINATE = 0x100, 0x1


class _BasicLimits(ctypes.Structure):
    _fields_ = (
        ("process_time", ctypes.c_int64),
        ("job_time", ctypes.c_int64),
        ("flags", ctypes.c_uint32),
        ("min_working_set", ctypes.c_size_t),
        ("max_working_set", ctypes.c_size_t),
        ("active_processes", ctypes.c_uint32),
        ("affinity", ctypes.c_size_t),
        ("priority_class", ctypes.c_uint32),
        ("scheduling_class", ctypes.c_uint32),
    )


class _ExtendedLimits(ctypes.Structure):
    _fields_ = (
        ("basic", _BasicLimits),
        ("io_counters", ctypes.c_uint64 * 6),
        ("process_memory", ctypes.c_size_t),
        ("job_memory", ctypes.c_size_t),
        ("peak_process_memory", ctypes.c_size_t),
        ("peak_job_memory", ctypes.c_size_t),
    )


class JobObject:
    """A process and its later children, which are killed when the current process ends."""

    def __init__(self, kernel32: Any, handle: int) -> None:
        self._kernel32 = kernel32
        self._handle = handle

    @classmethod
    def of(cls, pid: int) -> Self | None:
        """Return a job for a process, or None on an error and on systems other than Windows."""
        if sys.platform != "win32":
            return None
        kernel32 = _kernel32()
        handle = kernel32.CreateJobObjectW(None, None)
        if not handle:
            return None
        job = cls(kernel32, handle)
        if job._limit() and job._add(pid):
            return job
        job.close()
        return None

    def end(self) -> None:
        self._kernel32.TerminateJobObject(self._handle, 1)

    def close(self) -> None:
        """Kill all processes in the job and close its handle."""
        handle, self._handle = self._handle, 0
        if handle:
            self._kernel32.CloseHandle(handle)

    def _limit(self) -> bool:
        limits = _ExtendedLimits()
        limits.basic.flags = _LIMIT_KILL_ON_JOB_CLOSE
        return bool(
            self._kernel32.SetInformationJobObject(
                self._handle,
                _EXTENDED_LIMIT_INFORMATION,
                ctypes.byref(limits),
                ctypes.sizeof(limits),
            )
        )

    def _add(self, pid: int) -> bool:
        process = self._kernel32.OpenProcess(_PROCESS_SET_QUOTA | _PROCESS_TERMINATE, 0, pid)
        if not process:
            return False
        try:
            return bool(self._kernel32.AssignProcessToJobObject(self._handle, process))
        finally:
            self._kernel32.CloseHandle(process)


def _kernel32() -> Any:
    kernel32 = getattr(ctypes, "WinDLL")("kernel32")  # noqa: B009 - missing on other systems
    handle = ctypes.c_void_p
    for function, result, arguments in (
        (kernel32.CreateJobObjectW, handle, (handle, ctypes.c_wchar_p)),
        (kernel32.OpenProcess, handle, (ctypes.c_uint32, ctypes.c_int, ctypes.c_uint32)),
        (kernel32.AssignProcessToJobObject, ctypes.c_int, (handle, handle)),
        (
            kernel32.SetInformationJobObject,
            ctypes.c_int,
            (handle, ctypes.c_int, handle, ctypes.c_uint32),
        ),
        (kernel32.TerminateJobObject, ctypes.c_int, (handle, ctypes.c_uint32)),
        (kernel32.CloseHandle, ctypes.c_int, (handle,)),
    ):
        function.restype, function.argtypes = result, arguments
    return kernel32
