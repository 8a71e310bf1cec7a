"""Interruption of a command by Ctrl-C, SIGTERM or SIGHUP.

The first signal raises KeyboardInterrupt in the main thread, or cancels the coroutine of `run`.
Commands then save their work. A second thread ends the process if this takes too long, because the
main thread may be in a kernel, in a compiler or in a user's function.
"""

from __future__ import annotations

import _thread
import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Collection, Coroutine, Iterator
from typing import Any, TypeVar

from kempelen.console.console_events import on_console_close

Result = TypeVar("Result")

# Seconds to save and exit: after SIGTERM, a command ends within 1 s (`docker stop` waits 10 s).
EXIT_TIMEOUT_S = 0.6
# The same after Ctrl-C and SIGHUP, and after their repetition.
INTERACTIVE_EXIT_TIMEOUT_S = 10.0
REPEATED_EXIT_TIMEOUT_S = 2.0


class _Interruption:
    """The first signal that this process received, and how a command handles it."""

    def __init__(self) -> None:
        self.signal_number: int | None = None
        self.sink: int | None = None  # the end of the pipe that receives signal numbers
        self.grace = 0.0
        self.is_server = False
        self.cancel: Callable[[], object] | None = None

    def handle(self, number: int, frame: object) -> None:
        """Interrupt the main thread, in which Python calls signal handlers."""
        self._forward(number)
        if self.signal_number is not None:
            return  # the command is already saving its work
        self.signal_number = number
        # An interrupted constructor leaves an object whose `__del__` may raise, such as llvmlite's.
        sys.unraisablehook = lambda unraisable: None
        if self.cancel is None:
            raise KeyboardInterrupt
        self.cancel()

    def _forward(self, number: int) -> None:
        """Write a signal number to the pipe if the interpreter wrote it to another descriptor.

        On Windows, asyncio replaces the wake-up descriptor with its own.
        """
        if self.sink is None:
            return
        current = signal.set_wakeup_fd(self.sink, warn_on_full_buffer=False)
        if current != self.sink:
            with contextlib.suppress(BlockingIOError):
                os.write(self.sink, bytes([number]))
        if current not in (self.sink, -1):
            signal.set_wakeup_fd(current)

    def enforce(self, source: int, numbers: Collection[int]) -> None:
        """Read signal numbers from a pipe, and end the process some time after each signal."""
        first = True
        while received := os.read(source, 1):
            number = received[0]
            if number not in numbers:
                continue
            seconds = self.grace if first else 0.0
            if number == signal.SIGTERM:
                seconds += EXIT_TIMEOUT_S
            else:
                seconds += INTERACTIVE_EXIT_TIMEOUT_S if first else REPEATED_EXIT_TIMEOUT_S
            first = False
            timer = threading.Timer(seconds, self.end, (number,))
            timer.daemon = True
            try:
                timer.start()
            except RuntimeError:  # the limit of processes and threads is reached
                time.sleep(seconds)
                self.end(number)

    def end(self, number: int) -> None:
        self.signal_number = self.signal_number or number  # the main thread may not have seen it
        os._exit(exit_status())


_interruption = _Interruption()


def install() -> None:
    """Handle the signals of this process, except signals that are ignored, as under nohup."""
    # The interpreter writes the number of a signal at once. It calls the handler only when the main
    # thread returns from C code.
    source, sink = os.pipe()
    if hasattr(os, "set_blocking"):  # on Windows since Python 3.12, and not required there
        os.set_blocking(sink, False)
    _interruption.sink = sink
    numbers = []
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _interruption.handle)
            numbers.append(number)
    on_console_close(lambda: _thread.interrupt_main(signal.SIGTERM))
    signal.set_wakeup_fd(sink, warn_on_full_buffer=False)
    threading.Thread(
        target=_interruption.enforce, args=(source, numbers), name="signals", daemon=True
    ).start()


def run_as_server(shutdown_timeout: float) -> None:
    """Give this process `shutdown_timeout` more seconds to exit, and status 0 after SIGTERM."""
    _interruption.grace, _interruption.is_server = shutdown_timeout, True


def run(
    main: Coroutine[Any, Any, Result],
    runner: Callable[[Coroutine[Any, Any, Result]], Result] | None = None,
) -> Result:
    """Run a coroutine with `asyncio.run` or another runner.

    A signal cancels the coroutine. Raise KeyboardInterrupt after a cancelled one has ended.
    """
    import asyncio  # lazy import: most commands do not need it

    async def run_cancellable() -> Result:
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        assert task is not None

        def cancel() -> None:
            with contextlib.suppress(RuntimeError):  # the event loop is closed
                loop.call_soon_threadsafe(task.cancel)

        _interruption.cancel = cancel
        return await main

    try:
        return (runner or asyncio.run)(run_cancellable())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
    finally:
        _interruption.cancel = None


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Let a signal interrupt a long block in the main thread that contains no `await`.

    Without this, a signal would cancel a coroutine of `run` only at its next `await`.
    """
    cancel = _interruption.cancel
    if cancel is not None:
        _interruption.cancel = _raise_cancelled
    try:
        yield
    finally:
        _interruption.cancel = cancel


def _raise_cancelled() -> None:
    import asyncio  # lazy import, see `run`

    raise asyncio.CancelledError


def exit_status() -> int:
    """Return the exit status of an interrupted command: 128 plus the signal number.

    For servers it is 0 after SIGTERM.
    """
    if _interruption.is_server and _interruption.signal_number == signal.SIGTERM:
        return 0
    return 128 + (_interruption.signal_number or signal.SIGINT)


def finish(status: int) -> int:
    """Return the exit status of a command, or end the process if a signal was received.

    A normal exit would wait for threads that cannot be stopped, such as a compiler's.
    """
    number = _interruption.signal_number
    if number is None:
        return status
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, OSError, ValueError):  # None if it is closed
            stream.flush()
    os._exit(status if number == signal.SIGINT else exit_status())
