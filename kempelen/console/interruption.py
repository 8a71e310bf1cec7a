"""How a run ends when it is told to: by Ctrl-C, by SIGTERM, or with its terminal."""

import asyncio
import contextlib
import signal
import sys

from kempelen.console.console_events import on_console_close


class Interruption:
    """The signal that ended a run; Ctrl-C, unless another is heard."""

    def __init__(self) -> None:
        self.signal_number: int = signal.SIGINT

    @property
    def exit_status(self) -> int:
        """The exit status that shells expect."""
        return 128 + self.signal_number

    def install_handlers(self) -> None:
        """Have SIGTERM and SIGHUP cancel the current task as Ctrl-C does.

        One that is ignored, as by nohup, stays so. On Windows the events of a console do that, as
        SIGTERM.
        """
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        assert task is not None

        def end(number: int) -> None:
            self.signal_number = number
            task.cancel()

        def end_from_console() -> None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(end, signal.SIGTERM)

        on_console_close(end_from_console)
        if sys.platform == "win32":
            return
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:
                loop.add_signal_handler(number, end, number)
