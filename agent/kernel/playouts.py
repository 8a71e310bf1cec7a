"""Runs MCTS playouts on a worker pool, and removes nodes when the tree is full."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext

from agent.kernel.mcts_tree import FULL
from agent.kernel.node_pool import NodePool
from agent.kernel.worker_pool import WorkerMemory, WorkerPool

# Playouts are grouped into levels, which are reported as depths. Level d ends after a total of
# FIRST_PLAYOUTS * 2^d playouts, so it takes as long as all earlier levels together. From
# SPLIT_DEPTH on, each level has several reports, so that the clock can end the level early.
FIRST_PLAYOUTS = 16
SPLIT_DEPTH = 8
REPORTS_PER_LEVEL = 4

MAX_VISITS = (1 << 31) - 1000  # limit of int32, with a margin for running playouts
# With fewer playouts per thread, starting threads takes longer than the playouts.
_MIN_PLAYOUTS_PER_THREAD = 64


def playout_goals(
    max_depth: int, max_playouts: int, reports_per_level: int = REPORTS_PER_LEVEL
) -> Iterator[tuple[int, int]]:
    """Yield the depth and the total number of playouts for each report, up to `max_playouts`.

    Depths from SPLIT_DEPTH on have `reports_per_level` reports, and lower depths have one.
    """
    for depth in range(1, max_depth + 1):
        reports = reports_per_level if depth >= SPLIT_DEPTH else 1
        for part in range(1, reports + 1):
            goal = int(FIRST_PLAYOUTS * 2.0 ** (depth - 1 + part / reports))
            yield depth, min(goal, max_playouts)
            if goal >= max_playouts:
                return


def grow_tree(
    pool: NodePool,
    workers: WorkerPool[WorkerMemory],
    goal: int,
    play_out: Callable[[WorkerMemory, int], object],
    cleanup_guard: AbstractContextManager[object] = nullcontext(),  # noqa: B008 - it has no state
) -> None:
    """Run playouts on all workers until the total number of playouts is `goal`.

    `play_out(memory, index)` runs playouts on one worker. `cleanup_guard` is held while nodes are
    removed.
    """
    pool.tree.goal = goal
    while True:
        if goal - pool.playouts >= _MIN_PLAYOUTS_PER_THREAD * len(workers):
            workers.start(play_out)
        play_out(workers.first, 0)
        workers.join()
        if workers.resume_after_pause():
            continue
        if pool.state != FULL:
            return
        with cleanup_guard:
            pool.prune()
