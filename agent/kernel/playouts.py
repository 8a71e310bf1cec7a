"""How a tree grows: playouts in growing numbers, by a crew, with old nodes dropped as needed."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext

from agent.kernel.mcts_tree import FULL
from agent.kernel.node_pool import NodePool
from agent.kernel.worker_pool import WorkerMemory, WorkerPool

# A level of `depth` d ends when 2^d times this have been made, so each takes as long as all before
# it; from SPLIT_DEPTH on it is reported in parts, because a clock may end it at any of them.
FIRST_PLAYOUTS = 16
SPLIT_DEPTH = 8
REPORTS_PER_LEVEL = 4

MAX_VISITS = (1 << 31) - 1000  # what a tree can count; some are under way
# Threads are not worth starting for fewer playouts each.
_MIN_PLAYOUTS_PER_THREAD = 64


def playout_goals(
    max_depth: int, max_playouts: int, reports_per_level: int = REPORTS_PER_LEVEL
) -> Iterator[tuple[int, int]]:
    """Generate the numbers of playouts, up to `most`, at which to report, each with its level.

    parts: of a level, once it takes long.
    """
    for depth in range(1, max_depth + 1):
        number = reports_per_level if depth >= SPLIT_DEPTH else 1
        for part in range(1, number + 1):
            goal = int(FIRST_PLAYOUTS * 2.0 ** (depth - 1 + part / number))
            yield depth, min(goal, max_playouts)
            if goal >= max_playouts:
                return


def grow_tree(
    pool: NodePool,
    crew: WorkerPool[WorkerMemory],
    goal: int,
    play_out: Callable[[WorkerMemory, int], object],
    cleanup_guard: AbstractContextManager[object] = nullcontext(),  # noqa: B008 - it has no state
) -> None:
    """Make playouts up to a number of them, in all threads.

    play_out: what a worker does. tidying: held while old nodes are dropped.
    """
    pool.tree.goal = goal
    while True:
        if goal - pool.playouts >= _MIN_PLAYOUTS_PER_THREAD * len(crew):
            crew.start(play_out)
        play_out(crew.first, 0)
        crew.join()
        if crew.resume_after_pause():
            continue
        if pool.state != FULL:
            return
        with cleanup_guard:
            pool.prune()
