"""Move standard input to a private descriptor.

On Windows, a blocking read on a pipe blocks every other call on that pipe. Libraries such as
OpenBLAS, which query standard input when loaded, would hang while another thread reads it.
"""

import contextlib
import os
import threading


def detach_stdin() -> int:
    """Return a new descriptor for standard input, and replace descriptor 0 with the null device."""
    try:
        source = os.dup(0)
    except OSError:  # standard input is closed
        source = os.open(os.devnull, os.O_RDWR)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.close(null)
    return source


def exit_with_parent() -> None:
    """Start a thread that exits this process when its parent closes standard input or ends."""
    source = detach_stdin()

    def wait() -> None:
        with contextlib.suppress(OSError):
            os.read(source, 1)  # unlike a file object, takes no lock at interpreter shutdown
        os._exit(1)

    threading.Thread(target=wait, name="parent", daemon=True).start()
