"""Generate games on a Dask cluster. If a worker dies, another one repeats its tasks."""

import asyncio
import pickle
from argparse import Namespace
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Self

from kempelen.console import interruption
from kempelen.console.cluster_arguments import cluster_from
from kempelen.console.terminal import print_error
from kempelen.training.workers import Failures, GameGenerator, GamesError, Result
from protocols.cluster.client import ClusterAddress, ClusterClient, Report, worker_note
from protocols.cluster.errors import ClusterError, WorkersLostError
from protocols.cluster.worker import WorkerTask
from protocols.tasks import cancel_all, retry

GAMES_PER_TASK = 8
# Maximum pending tasks per worker thread. Finished tasks wait for earlier ones.
QUEUE_FACTOR = 4


class ClusterWorkers:
    """A pool of all worker threads of a Dask cluster."""

    def __init__(self, address: ClusterAddress, report: Report) -> None:
        """Connect to the cluster. Raise GamesError if it is unreachable or has no workers."""
        self._report = report
        self._runner = asyncio.Runner()
        try:
            self._tasks = interruption.run(ClusterClient.connect(address), self._runner.run)
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
        make: Callable[[], GameGenerator[Result]],
        numbers: range,
        failures: Failures,
        extra_argument: Callable[[int], Any] | None = None,
    ) -> Generator[Result, None, None]:
        maker = pickle.dumps(make)
        starts = iter(range(0, len(numbers), GAMES_PER_TASK))
        pending: deque[asyncio.Task[list[Result]]] = deque()

        def give_out(unit: Sequence[int]) -> None:
            entries = [
                (number, *([extra_argument(number)] if extra_argument else [])) for number in unit
            ]
            name = f"games {unit[0]} to {unit[-1]}"
            run = partial(self._tasks.run, name, make_games, maker, entries)
            pending.append(asyncio.create_task(retry(run, WorkersLostError, self._report)))

        async def next_games() -> list[Result]:
            while len(pending) < QUEUE_FACTOR * max(self._tasks.threads, 1):
                start = next(starts, None)
                if start is None:
                    break
                give_out(numbers[start : start + GAMES_PER_TASK])
            return await pending.popleft() if pending else []

        all_failures: Failures = (ClusterError, *failures)
        try:
            while games := interruption.run(next_games(), self._runner.run):
                yield from games
        except all_failures as error:
            raise GamesError(f"{worker_note(error)}{error}") from None
        finally:
            self._runner.run(cancel_all(pending))


def make_games(worker_task: WorkerTask, maker: bytes, wanted: Sequence[Sequence[Any]]) -> list[Any]:
    """Generate games on a worker. Return only the finished games if the task is cancelled.

    `maker` is the pickled factory function of a game generator. `wanted` holds the number
    and the extra arguments of each game.
    """
    games = []
    with worker_task.cached(maker, lambda: pickle.loads(maker)()) as player:
        for entry in wanted:
            if worker_task.cancelled:
                break
            games.append(player.play(*entry))
    return games


@contextmanager
def cluster_threads(arguments: Namespace, command: str) -> Iterator[ClusterWorkers | None]:
    """Yield the pool of the cluster given by `arguments`, or None if they specify no cluster.

    Raise SettingsError if the arguments are invalid, and GamesError if the cluster is unreachable.
    """
    address = cluster_from(arguments)
    if address is None:
        yield None
        return
    with ClusterWorkers(address, lambda text: print_error(text, command)) as workers:
        yield workers
