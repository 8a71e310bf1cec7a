"""Move standard input to a private descriptor.

On Windows, a blocking read on a pipe blocks every other call on that pipe. Libraries such as
OpenBLAS query the standard handles while they load, and would hang. Code that reads standard input
in a thread must therefore call `detach_stdin` first.
"""

import contextlib
import os
import threading


def detach_stdin() -> int:
    """Move standard input to a new descriptor and return that descriptor.

    Afterwards, descriptor 0 is empty, also in child processes. If standard input is closed, the new
    descriptor is empty.
    """
    try:
        source = os.dup(0)
    except OSError:  # standard input is closed
        source = os.open(os.devnull, os.O_RDWR)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.close(null)
    return source


def exit_with_parent() -> None:
    """Start a thread that ends this process when standard input is closed.

    Standard input is closed when the parent process exits.
    """
    source = detach_stdin()

    def wait() -> None:
        with contextlib.suppress(OSError):
            os.read(source, 1)  # unlike a file object, takes no lock at interpreter shutdown
        os._exit(1)

    threading.Thread(target=wait, name="parent", daemon=True).start()
