"""What Windows tells the programs of a console instead of sending signals."""

import sys
import time
from collections.abc import Callable
from typing import Any

# Ctrl-Break; the window is closed, the user logs off, the machine is shut down.
CTRL_BREAK_EVENT = 1
CTRL_CLOSE_EVENT, CTRL_LOGOFF_EVENT, CTRL_SHUTDOWN_EVENT = 2, 5, 6
CLOSE_EVENTS = (CTRL_CLOSE_EVENT, CTRL_LOGOFF_EVENT, CTRL_SHUTDOWN_EVENT)
# Windows ends the process when the last event has been handled, or after 5 seconds.
CLOSE_GRACE_S = 4.5

_handlers: list[Any] = []  # Windows keeps no reference to what it calls


def on_console_close(end: Callable[[], object]) -> None:
    """Have Windows call `end`, in a thread of its own, when this program is to end.

    Ctrl-C is not among it, which Python itself knows. On other systems nothing happens.
    """
    if sys.platform != "win32":
        return
    import ctypes

    def handle(event: int) -> bool:
        if event != CTRL_BREAK_EVENT and event not in CLOSE_EVENTS:
            return False
        end()
        if event in CLOSE_EVENTS:
            time.sleep(CLOSE_GRACE_S)  # unless the program ends before
        return True

    handler = ctypes.WINFUNCTYPE(ctypes.c_int, ctypes.c_uint32)(handle)
    _handlers.append(handler)
    ctypes.WinDLL("kernel32").SetConsoleCtrlHandler(handler, 1)
