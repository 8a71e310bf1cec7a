"""Generate games in several processes, and receive them in numerical order."""

import contextlib
import itertools
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, Protocol, TypeVar

Result = TypeVar("Result")
Result_co = TypeVar("Result_co", covariant=True)
Failures = tuple[type[Exception], ...]


class GamesError(Exception):
    """Raised if no more games can be generated. The message says why."""


class GameGenerator(Protocol[Result_co]):
    """Generates games. An optional method `close` releases its resources."""

    def play(self, number: int, /) -> Result_co:
        """Return the game with this number."""


class Workers(Protocol):
    """A pool of workers, either local processes or threads of a cluster."""

    def games(
        self,
        make: Callable[[], GameGenerator[Result]],
        numbers: range,
        failures: Failures,
        extra_argument: Callable[[int], Any] | None = None,
    ) -> Generator[Result, None, None]:
        """Yield the games with these numbers in order. Closing the generator stops the workers.

        Each worker calls `make`, which must be picklable, to create a game generator. A game must
        depend only on `make` and its number. Exceptions of the types in `failures` are raised again
        as GamesError with the same message. `extra_argument` takes the number of a game and returns
        an additional argument for `play`. Only clusters use it.
        """


@dataclass(frozen=True)
class LocalProcesses:
    count: int

    def games(
        self,
        make: Callable[[], GameGenerator[Result]],
        numbers: range,
        failures: Failures,
        extra_argument: Callable[[int], Any] | None = None,
    ) -> Generator[Result, None, None]:
        context = multiprocessing.get_context("spawn")
        connections: list[Connection] = []
        running = []
        try:
            for index in range(min(self.count, len(numbers))):
                receiver, sender = context.Pipe(duplex=False)
                process = context.Process(
                    target=_worker_main,
                    args=(make, numbers[index :: self.count], failures, sender),
                    daemon=True,
                )
                _start(process)
                sender.close()
                connections.append(receiver)
                running.append(process)
            for _, connection in zip(numbers, itertools.cycle(connections), strict=False):
                yield _receive(connection)
        finally:
            for connection in connections:
                connection.close()
            for process in running:
                process.terminate()
            for process in running:
                process.join()


def _start(process: BaseProcess) -> None:
    """Start a process without Ctrl-C, which the parent handles, also while it loads its modules."""
    if sys.platform == "win32":
        process.start()
        return
    # Otherwise the first process would start it, which may unblock the signal.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@dataclass(frozen=True)
class _Failure:
    message: str


def _receive(connection: Connection) -> Any:
    try:
        message = connection.recv()
    except EOFError:
        raise GamesError("a worker process ended unexpectedly") from None
    if isinstance(message, _Failure):
        raise GamesError(message.message)
    return message


def _worker_main(
    make: Callable[[], GameGenerator[Any]],
    numbers: Iterable[int],
    failures: Failures,
    connection: Connection,
) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # for Windows, see `_start`
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with contextlib.suppress(OSError):  # the parent has exited
        for message in _messages(make, numbers, failures):
            connection.send(message)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _messages(
    make: Callable[[], GameGenerator[Any]], numbers: Iterable[int], failures: Failures
) -> Iterator[Any]:
    try:
        maker = make()
        for number in numbers:
            yield maker.play(number)
    except failures as error:
        yield _Failure(str(error))
