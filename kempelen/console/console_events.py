"""Windows console control events, the counterpart of Unix signals."""

import sys
import time
from collections.abc import Callable
from typing import Any

# Ctrl-Break, closing the window, logging off, and shutting down.
CTRL_BREAK_EVENT = 1
CTRL_CLOSE_EVENT, CTRL_LOGOFF_EVENT, CTRL_SHUTDOWN_EVENT = 2, 5, 6
CLOSE_EVENTS = (CTRL_CLOSE_EVENT, CTRL_LOGOFF_EVENT, CTRL_SHUTDOWN_EVENT)
# Seconds after a close event until Windows kills the process.
CLOSE_GRACE_S = 4.5

_handlers: list[Any] = []  # references keep the ctypes callbacks alive


def on_console_close(end: Callable[[], object]) -> None:
    """On Windows, call `end` in another thread on any console control event except Ctrl-C."""
    if sys.platform != "win32":
        return
    import ctypes

    def handle(event: int) -> bool:
        if event != CTRL_BREAK_EVENT and event not in CLOSE_EVENTS:
            return False
        end()
        if event in CLOSE_EVENTS:
            time.sleep(CLOSE_GRACE_S)  # the program usually ends earlier
        return True

    handler = ctypes.WINFUNCTYPE(ctypes.c_int, ctypes.c_uint32)(handle)
    _handlers.append(handler)
    ctypes.WinDLL("kernel32").SetConsoleCtrlHandler(handler, 1)
