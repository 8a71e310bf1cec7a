"""Become a program that dies with the process that asked for it (Linux).

Run as `python -I -S launcher.py PARENT COMMAND [ARGUMENT...]`. The kernel kills this process
when PARENT ends, however it ends, and that holds on for the program that takes its place. Set
after fork in the runner itself, the same call would not be safe beside its threads.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1
EXEC_FAILED = 127


def main() -> int:
    """Tie this process to its parent and replace it by the command."""
    parent, *command = sys.argv[1:]
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != int(parent):
        return EXEC_FAILED
    try:
        os.execv(command[0], command)
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr)
        return EXEC_FAILED


if __name__ == "__main__":
    sys.exit(main())
