"""Games made by several processes, received in the order of their numbers.

Game n is made by process n modulo their number. What it holds must follow from the task and n
alone: it is then the same however many processes there are.
"""

import contextlib
import itertools
import multiprocessing
import signal
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from multiprocessing.connection import Connection
from typing import Protocol, TypeVar

import numpy as np

from agent.chess.packed import packed_dtype
from training.positions import Packed

Task = TypeVar("Task")
Failures = tuple[type[Exception], ...]


class GamesError(Exception):
    """No more games can be made; the message says why."""


class Maker(Protocol):
    """Makes any game by its number."""

    def play(self, number: int) -> Packed:
        """Return the positions of a game."""


def games(
    make: Callable[[Task], Maker], task: Task, first: int, processes: int, failures: Failures
) -> Generator[Packed, None, None]:
    """Yield the games from number `first` on, without end; to close it ends the processes.

    make: called with the task in each process; it must be at the top of a module.
    failures: what `make` and its makers may raise; becomes a GamesError with the same message.
    """
    context = multiprocessing.get_context("spawn")
    connections: list[Connection] = []
    running = []
    try:
        for index in range(processes):
            ours, theirs = context.Pipe(duplex=False)
            numbers = range(first + index, sys.maxsize, processes)
            process = context.Process(
                target=_serve, args=(make, task, numbers, failures, theirs), daemon=True
            )
            process.start()
            theirs.close()
            connections.append(ours)
            running.append(process)
        for connection in itertools.cycle(connections):
            yield _receive(connection)
    finally:
        for connection in connections:
            connection.close()
        for process in running:
            process.terminate()
        for process in running:
            process.join()


def _receive(connection: Connection) -> Packed:
    try:
        message = connection.recv()
    except EOFError:
        raise GamesError("a process that makes games ended unexpectedly") from None
    if isinstance(message, str):
        raise GamesError(message)
    return np.frombuffer(message, packed_dtype)


def _serve(
    make: Callable[[Task], Maker],
    task: Task,
    numbers: Iterable[int],
    failures: Failures,
    connection: Connection,
) -> None:
    """Be one process: send what is made until nobody listens."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent's to handle
    with contextlib.suppress(OSError):  # the parent has gone
        for message in _messages(make, task, numbers, failures):
            connection.send(message)


def _messages(
    make: Callable[[Task], Maker], task: Task, numbers: Iterable[int], failures: Failures
) -> Iterator[bytes | str]:
    """Yield games, as bytes; or, as text and last, what went wrong."""
    try:
        maker = make(task)
        for number in numbers:
            yield maker.play(number).tobytes()
    except failures as error:
        yield str(error)
