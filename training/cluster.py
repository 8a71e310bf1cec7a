"""Games made on a Dask cluster, received in the order of their numbers.

A worker is given a few games at a time, which come back whole; which one makes them, and how often
one dies over them, changes nothing, as with the processes of one machine.
"""

import asyncio
import pickle
from collections import deque
from collections.abc import Callable, Generator, Sequence
from typing import Any, Self

from protocols.cluster.errands import Errand
from protocols.cluster.errors import ClusterError
from protocols.cluster.tasks import ClusterAddress, Report, TaskCluster, worker_of
from protocols.tasks import cancel_all
from training.workers import Failures, GamesError, Made, Maker, Task

GAMES_AT_ONCE = 8
# So many times the games that are being made may be given out, and wait for an earlier one.
AHEAD = 4


class ClusterThreads:
    """The threads of a cluster's workers, as many as there are at the time.

    Its own loop runs only while games are waited for, or it is left.
    """

    def __init__(self, address: ClusterAddress, report: Report) -> None:
        """Connect to it; GamesError if it, or any worker, is not there.

        report: is told what befalls the workers.
        """
        self._runner = asyncio.Runner()
        try:
            self._tasks = self._runner.run(TaskCluster.connect(address))
            self._runner.run(self._tasks.open(report))
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
        make: Callable[[Task], Maker[Made]],
        task: Task,
        numbers: range,
        failures: Failures,
        given: Callable[[int], Any] | None = None,
    ) -> Generator[Made, None, None]:
        """Yield the games of these numbers; see `Workers`."""
        maker = pickle.dumps((make, task))
        starts = iter(range(0, len(numbers), GAMES_AT_ONCE))
        waiting: deque[asyncio.Task[list[Made]]] = deque()

        def give_out(unit: Sequence[int]) -> None:
            wanted = [(number, *([given(number)] if given else [])) for number in unit]
            name = f"games {unit[0]} to {unit[-1]}"
            waiting.append(asyncio.create_task(self._tasks.do(name, make_games, maker, wanted)))

        async def next_games() -> list[Made]:
            while len(waiting) < AHEAD * max(self._tasks.threads, 1):
                start = next(starts, None)
                if start is None:
                    break
                give_out(numbers[start : start + GAMES_AT_ONCE])
            return await waiting.popleft() if waiting else []

        known: Failures = (ClusterError, *failures)
        try:
            while made := self._runner.run(next_games()):
                yield from made
        except known as error:
            raise GamesError(f"{worker_of(error)}{error}") from None
        finally:
            self._runner.run(_end(waiting))


async def _end(waiting: deque[asyncio.Task[Any]]) -> None:
    await cancel_all(waiting)


def make_games(errand: Errand, maker: bytes, wanted: Sequence[Sequence[Any]]) -> list[Any]:
    """Make games on a worker: each of a number, and of what was given for it.

    maker: by pickle, a function and its argument. Returns fewer if nobody waits for them any more.
    """
    made = []
    with errand.lent(maker, lambda: _made(*pickle.loads(maker))) as player:
        for entry in wanted:
            if errand.over:
                break
            made.append(player.play(*entry))
    return made


def _made(make: Callable[[Any], Maker[Any]], task: Any) -> Maker[Any]:
    return make(task)
