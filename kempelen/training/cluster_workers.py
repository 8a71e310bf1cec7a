"""Games made on a Dask cluster, received in the order of their numbers.

A worker is given a few games at a time, which come back whole; which one makes them, and how often
one dies over them, changes nothing, as with the processes of one machine.
"""

import asyncio
import pickle
from argparse import Namespace
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self

from kempelen.console.cluster_arguments import cluster_from
from kempelen.console.terminal import print_error
from kempelen.training.workers import Failures, GameMaker, GamesError, Result, Task
from protocols.cluster.client import ClusterAddress, ClusterClient, Report, worker_note
from protocols.cluster.errors import ClusterError
from protocols.cluster.worker import WorkerTask
from protocols.tasks import cancel_all

GAMES_PER_TASK = 8
# So many times the games that are being made may be given out, and wait for an earlier one.
QUEUE_FACTOR = 4


class ClusterWorkers:
    """The threads of a cluster's workers, as many as there are at the time.

    Its own loop runs only while games are waited for, or it is left.
    """

    def __init__(self, address: ClusterAddress, report: Report) -> None:
        """Connect to it; GamesError if it, or any worker, is not there.

        report: is told what befalls the workers.
        """
        self._runner = asyncio.Runner()
        try:
            self._tasks = self._runner.run(ClusterClient.connect(address))
            self._runner.run(self._tasks.start(report))
        except ClusterError as error:
            self._runner.close()
            raise GamesError(str(error)) from None
        except BaseException:
            self._runner.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        try:
            self._runner.run(self._tasks.close())
        finally:
            self._runner.close()

    def games(
        self,
        make: Callable[[Task], GameMaker[Result]],
        task: Task,
        numbers: range,
        failures: Failures,
        extra_argument: Callable[[int], Any] | None = None,
    ) -> Generator[Result, None, None]:
        """Yield the games of these numbers; see `Workers`."""
        maker = pickle.dumps((make, task))
        starts = iter(range(0, len(numbers), GAMES_PER_TASK))
        waiting: deque[asyncio.Task[list[Result]]] = deque()

        def give_out(unit: Sequence[int]) -> None:
            wanted = [
                (number, *([extra_argument(number)] if extra_argument else [])) for number in unit
            ]
            name = f"games {unit[0]} to {unit[-1]}"
            waiting.append(asyncio.create_task(self._tasks.run(name, make_games, maker, wanted)))

        async def next_games() -> list[Result]:
            while len(waiting) < QUEUE_FACTOR * max(self._tasks.threads, 1):
                start = next(starts, None)
                if start is None:
                    break
                give_out(numbers[start : start + GAMES_PER_TASK])
            return await waiting.popleft() if waiting else []

        known: Failures = (ClusterError, *failures)
        try:
            while made := self._runner.run(next_games()):
                yield from made
        except known as error:
            raise GamesError(f"{worker_note(error)}{error}") from None
        finally:
            self._runner.run(_cancel(waiting))


async def _cancel(waiting: deque[asyncio.Task[Any]]) -> None:
    await cancel_all(waiting)


def make_games(errand: WorkerTask, maker: bytes, wanted: Sequence[Sequence[Any]]) -> list[Any]:
    """Make games on a worker: each of a number, and of what was given for it.

    maker: by pickle, a function and its argument. Returns fewer if nobody waits for them any more.
    """
    made = []
    with errand.cached(maker, lambda: _call(*pickle.loads(maker))) as player:
        for entry in wanted:
            if errand.cancelled:
                break
            made.append(player.play(*entry))
    return made


def _call(make: Callable[[Any], GameMaker[Any]], task: Any) -> GameMaker[Any]:
    return make(task)


@contextmanager
def cluster_threads(arguments: Namespace, command: str) -> Iterator[ClusterWorkers | None]:
    """Give what makes games on the cluster that is named, if one is, and leave it at the end.

    Raises SettingsError, and GamesError if it is not there.
    """
    address = cluster_from(arguments)
    if address is None:
        yield None
        return
    with ClusterWorkers(address, lambda text: print_error(text, command)) as threads:
        yield threads
