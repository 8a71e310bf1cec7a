"""Move standard input to a private descriptor.

On Windows, a blocking read on a pipe blocks every other call on that pipe. Libraries such as
OpenBLAS query the standard handles while they load, and would hang. So code that reads standard
input in a thread calls `detach_stdin` first.
"""

import contextlib
import os
import threading


def detach_stdin() -> int:
    """Return a new descriptor for what standard input was; descriptor 0 is empty from now on.

    Child processes find it empty too. Nothing can be read if standard input is closed.
    """
    try:
        source = os.dup(0)
    except OSError:  # it is closed
        source = os.open(os.devnull, os.O_RDWR)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.close(nothing)
    return source


def exit_with_parent() -> None:
    """From now on end this process when standard input ends: when its parent has ended."""
    source = detach_stdin()

    def wait() -> None:
        with contextlib.suppress(OSError):
            os.read(source, 1)  # holds no lock that the interpreter's own end would wait for
        os._exit(1)

    threading.Thread(target=wait, name="parent", daemon=True).start()
