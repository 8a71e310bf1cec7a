"""Games made by several processes, received in the order of their numbers.

Game n of those that are wanted is made by process n modulo their number. What it holds must follow
from the task and its number alone: it is then the same however many processes there are.
"""

import contextlib
import itertools
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, Protocol, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")
Result_co = TypeVar("Result_co", covariant=True)
Failures = tuple[type[Exception], ...]


class GamesError(Exception):
    """No more games can be made; the message says why."""


class GameMaker(Protocol[Result_co]):
    """Makes any game by its number. What it has to close, it closes in a method `close`."""

    def play(self, number: int, /) -> Result_co:
        """Return what is kept of a game."""


class Workers(Protocol):
    """Who makes games: processes of this machine, or the threads of a cluster."""

    def games(
        self,
        make: Callable[[Task], GameMaker[Result]],
        task: Task,
        numbers: range,
        failures: Failures,
        extra_argument: Callable[[int], Any] | None = None,
    ) -> Generator[Result, None, None]:
        """Yield the games of these numbers, in their order; to close it ends who makes them.

        make: called with the task by each worker; it must be at the top of a module.
        failures: what `make` and its makers may raise; becomes a GamesError with the same message.
        given: what a maker on another machine takes beside a number, where one on this machine
        finds it by itself.
        """


@dataclass(frozen=True)
class LocalProcesses:
    """So many processes of this machine."""

    count: int

    def games(
        self,
        make: Callable[[Task], GameMaker[Result]],
        task: Task,
        numbers: range,
        failures: Failures,
        extra_argument: Callable[[int], Any] | None = None,
    ) -> Generator[Result, None, None]:
        """Yield the games of these numbers; see `Workers`."""
        context = multiprocessing.get_context("spawn")
        connections: list[Connection] = []
        running = []
        try:
            for index in range(min(self.count, len(numbers))):
                ours, theirs = context.Pipe(duplex=False)
                process = context.Process(
                    target=_worker_main,
                    args=(make, task, numbers[index :: self.count], failures, theirs),
                    daemon=True,
                )
                process.start()
                theirs.close()
                connections.append(ours)
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


@dataclass(frozen=True)
class _Failure:
    """What a process could not do."""

    message: str


def _receive(connection: Connection) -> Any:
    try:
        message = connection.recv()
    except EOFError:
        raise GamesError("a process that makes games ended unexpectedly") from None
    if isinstance(message, _Failure):
        raise GamesError(message.message)
    return message


def _worker_main(
    make: Callable[[Any], GameMaker[Any]],
    task: Any,
    numbers: Iterable[int],
    failures: Failures,
    connection: Connection,
) -> None:
    """Be one process: send what is made until nobody listens."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent's to handle
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with contextlib.suppress(OSError):  # the parent has gone
        for message in _messages(make, task, numbers, failures):
            connection.send(message)


def _end_with_parent() -> None:
    """End this process amid its game once its parent has gone, however that was."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _messages(
    make: Callable[[Any], GameMaker[Any]], task: Any, numbers: Iterable[int], failures: Failures
) -> Iterator[Any]:
    """Yield games; or, at the end, what went wrong."""
    try:
        maker = make(task)
        for number in numbers:
            yield maker.play(number)
    except failures as error:
        yield _Failure(str(error))
