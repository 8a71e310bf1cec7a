"""How a run ends when it is told to: by Ctrl-C, by SIGTERM, or with its terminal."""

import asyncio
import signal
import sys


class Interruption:
    """The signal that ended a run; Ctrl-C, unless another is heard."""

    def __init__(self) -> None:
        self.number: int = signal.SIGINT

    @property
    def status(self) -> int:
        """The exit status that shells expect."""
        return 128 + self.number

    def listen(self) -> None:
        """Have SIGTERM and SIGHUP cancel the current task as Ctrl-C does, where there are any.

        One that is ignored, as by nohup, stays so.
        """
        if sys.platform == "win32":
            return
        task = asyncio.current_task()
        assert task is not None

        def end(number: int) -> None:
            self.number = number
            task.cancel()

        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:
                asyncio.get_running_loop().add_signal_handler(number, end, number)
