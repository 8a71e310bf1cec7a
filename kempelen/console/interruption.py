"""Interruption of a run by Ctrl-C, SIGTERM or SIGHUP."""

import asyncio
import contextlib
import signal
import sys

from kempelen.console.console_events import on_console_close


class Interruption:
    """The signal that interrupted a run, or SIGINT if no other signal was received."""

    def __init__(self) -> None:
        self.signal_number: int = signal.SIGINT

    @property
    def exit_status(self) -> int:
        return 128 + self.signal_number

    def install_handlers(self) -> None:
        """Cancel the current asyncio task on SIGTERM, SIGHUP and Windows console events.

        Signals that are ignored, for example under nohup, stay ignored.
        """
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        assert task is not None

        def end(number: int) -> None:
            self.signal_number = number
            task.cancel()

        def end_from_console() -> None:
            with contextlib.suppress(RuntimeError):  # the event loop is closed
                loop.call_soon_threadsafe(end, signal.SIGTERM)

        on_console_close(end_from_console)
        if sys.platform == "win32":
            return
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:
                loop.add_signal_handler(number, end, number)
