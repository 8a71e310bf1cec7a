"""Run a program on Linux, and kill all of its descendants when it ends.

Usage: `python -I -S supervisor.py PARENT CPUS COMMAND [ARGUMENT...]`. The exit status is that of
the program. CPUS, such as 0,3, are the only ones that it may use; if empty, it may use all. The
descendants are also killed on SIGTERM and when the process with the id PARENT ends. As
a subreaper, the supervisor also finds descendants that have left the program's session. It is a
separate process because its system calls are not safe between fork and exec in a process with
threads.
"""

import contextlib
import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_CHILD_SUBREAPER = 36
EXEC_FAILED = 127
WAITED_SIGNALS = {signal.SIGCHLD, signal.SIGTERM}


def main() -> int:
    """Run the program and return its exit status, or end by the signal that killed the program."""
    parent, cpus, *command = sys.argv[1:]
    if cpus:
        os.sched_setaffinity(0, map(int, cpus.split(",")))
    control = ctypes.CDLL(None).prctl
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    original_mask = signal.pthread_sigmask(signal.SIG_BLOCK, WAITED_SIGNALS)
    control(PR_SET_CHILD_SUBREAPER, 1)
    control(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != int(parent):
        return EXEC_FAILED
    supervisor = os.getpid()
    program = os.fork()
    if program == 0:
        control(PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.pthread_sigmask(signal.SIG_SETMASK, original_mask)
        if os.getppid() == supervisor:
            exec_program(command)
        os._exit(EXEC_FAILED)
    close_standard_streams()
    status = wait(program)
    if status is None:
        os.kill(program, signal.SIGKILL)
        status = os.waitpid(program, 0)[1]
    kill_orphans()
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        control(PR_SET_DUMPABLE, 0)  # Prevent a second core dump.
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        with contextlib.suppress(OSError):  # A handler cannot be set for SIGKILL.
            signal.signal(-code, signal.SIG_DFL)
        os.kill(supervisor, -code)
    return code


def exec_program(command: list[str]) -> None:
    """Replace this process with the program, in a new session."""
    os.setsid()
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # ignored by Python
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execv(command[0], command)
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode())


def close_standard_streams() -> None:
    """Close the standard streams, so that the parent notices when the program closes its own."""
    devnull = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(devnull, descriptor)


def wait(program: int) -> int | None:
    """Wait for the end of the program. Return its wait status, or None after SIGTERM."""
    while signal.sigwait(WAITED_SIGNALS) != signal.SIGTERM:
        ended, status = os.waitpid(-1, os.WNOHANG)
        while ended:
            if ended == program:
                return status
            ended, status = os.waitpid(-1, os.WNOHANG)
    return None


def kill_orphans() -> None:
    """Kill the program's descendants, including the orphans that this process has adopted."""
    while orphans := children(os.getpid()):
        for orphan in orphans:
            with contextlib.suppress(OSError):
                os.kill(orphan, signal.SIGKILL)
        os.waitpid(-1, 0)


def children(parent: int) -> list[int]:
    pids = []
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        with contextlib.suppress(OSError):
            if name.isdecimal():
                with open(f"/proc/{name}/stat", "rb") as file:
                    if int(file.read().rpartition(b")")[2].split()[1]) == parent:
                        pids.append(int(name))
    return pids


if __name__ == "__main__":
    sys.exit(main())
