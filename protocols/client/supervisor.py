"""Run a program, and end with it all that it started (Linux).

Run as `python -I -S supervisor.py PARENT COMMAND [ARGUMENT...]`. The program has our input and
outputs, and we end as it ends. When it ends, when we are asked to by SIGTERM, and when PARENT
ends, however that ends, all processes that descend from the program are killed, those too that
left its process group and session: the kernel gives us the children that their parents leave
behind. Should we be killed ourselves, the kernel kills the program.

It is a process of its own since nothing else is left when PARENT is killed, and since the calls
that are needed would not be safe between fork and exec beside PARENT's threads.
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
    """Become the program's supervisor; return its exit status, or die of the signal it died of."""
    parent, *command = sys.argv[1:]
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
        control(PR_SET_DUMPABLE, 0)  # the program has left its core, if any is wanted
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        with contextlib.suppress(OSError):  # SIGKILL needs no handler and takes none
            signal.signal(-code, signal.SIG_DFL)
        os.kill(supervisor, -code)
    return code


def exec_program(command: list[str]) -> None:
    """Replace this process by the program, in a session of its own."""
    os.setsid()
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # which Python ignores
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execv(command[0], command)
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode())


def close_standard_streams() -> None:
    """Close the pipes, so that their other ends see when the program closes its own."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(nothing, descriptor)


def wait(program: int) -> int | None:
    """Return the program's status when it has ended, or None when it is to be ended."""
    while signal.sigwait(WAITED_SIGNALS) != signal.SIGTERM:
        ended, status = os.waitpid(-1, os.WNOHANG)
        while ended:
            if ended == program:
                return status
            ended, status = os.waitpid(-1, os.WNOHANG)
    return None


def kill_orphans() -> None:
    """Kill what the program left behind: each that dies leaves us its own children."""
    while orphans := children(os.getpid()):
        for orphan in orphans:
            with contextlib.suppress(OSError):
                os.kill(orphan, signal.SIGKILL)
        os.waitpid(-1, 0)


def children(parent: int) -> list[int]:
    """Return the processes whose parent is the given one."""
    found = []
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        with contextlib.suppress(OSError):
            if name.isdecimal():
                with open(f"/proc/{name}/stat", "rb") as file:
                    if int(file.read().rpartition(b")")[2].split()[1]) == parent:
                        found.append(int(name))
    return found


if __name__ == "__main__":
    sys.exit(main())
