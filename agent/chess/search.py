"""The compiled search as the player drives it: progressive deepening, one kernel call a step.

Progressive deepening ('Tema 2: Búsqueda en juegos') searches to depth 1, 2, 3, ... so that an
answer is there at any time; each level orders the next, and its score is what the next expects
(see `aspiration`).
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import chess

from agent.chess.aspiration import aspirate
from agent.chess.crew_search import MAX_DEPTH, CrewSearch
from agent.chess.rules import KernelBoard
from agent.chess.table_lessons import write_lessons
from agent.compiled.crew import NO_LIMIT
from agent.compiled.scores import score_of
from agent.compiled.table_memory import TableMemory
from agent.evaluation import Evaluation
from agent.experience.lesson import Lesson
from agent.limits import Info, Limits, Progress
from agent.lines import cut_short

# Other threads help from this depth on: the levels before are over sooner than threads start, and
# with them there is a move to play, however long the threads keep this one waiting.
_HELPED_DEPTH = 5
# Threads are not worth starting for fewer nodes each: what they search comes off the main thread's.
_NODES_A_THREAD = 10_000


class KernelSearch(CrewSearch):
    """The compiled alpha-beta on one or more threads that share a table (Lazy SMP).

    Implements the player's Searcher. evaluation: the default one without it. selective: False
    switches off all pruning, reductions, extensions and the table, for comparison with plain
    minimax.
    """

    def __init__(
        self,
        megabytes: int = 16,
        threads: int = 1,
        evaluation: Evaluation | None = None,
        *,
        selective: bool = True,
    ) -> None:
        super().__init__(megabytes, threads, evaluation, selective)
        self._root_moves: dict[int, chess.Move] = {}
        # What experience knows, and how much of it the table does.
        self._lessons: Mapping[str, Lesson] = {}
        self._lessons_order: Sequence[str] = ()
        self._taught = 0

    def resize(self, megabytes: int) -> None:
        """Replace the table by an empty one; raises MemoryError, and keeps it, for want of room."""
        self._table = TableMemory(megabytes)
        self.learn_from({}, ())
        self._taught = 0

    def clear(self) -> None:
        """Empty the table."""
        super().clear()
        self.learn_from({}, ())
        self._taught = 0

    def learn_from(self, lessons: Mapping[str, Lesson], order: Sequence[str]) -> None:
        """Meet lessons in the tree from the next search on: see `table_lessons`.

        order: in which they were learned; it may grow from one search to the next. An emptied
        table has forgotten all: they are to be told again.
        """
        self._lessons, self._lessons_order = lessons, order

    def progress(self) -> Progress[chess.Move]:
        """Tell where the running search stands."""
        worker = self._crew.first.worker
        index = int(worker.root_current)
        return Progress(
            nodes=self._nodes(),
            hashfull=self._table.permille_used(),
            seldepth=int(worker.seldepth),
            move=self._root_moves.get(int(worker.root_moves[index])),
            number=index + 1,
        )

    def _most_nodes(self, limits: Limits[chess.Move]) -> int:
        return (limits.nodes or NO_LIMIT) // self._searching(limits)

    def _searching(self, limits: Limits[chess.Move]) -> int:
        """Return how many threads search, the main one included."""
        worthwhile = (limits.nodes or NO_LIMIT) // _NODES_A_THREAD
        return min(len(self._crew), max(worthwhile, 1))

    def _levels(
        self, board: chess.Board, limits: Limits[chess.Move], lines: int
    ) -> Iterator[Info[chess.Move]]:
        """Search level by level; after a stop tell what was found of the last one."""
        started = time.perf_counter()
        game = self._crew.first
        worker = game.worker
        if new := self._lessons_order[self._taught :]:
            write_lessons(self._table, {key: self._lessons[key] for key in new})
            self._taught += len(new)
        self._root_moves = {number: game.move(number) for number in _root_moves(game)}
        level: list[Info[chess.Move]] = []
        scores = [0] * lines
        for depth in range(1, min(limits.depth or MAX_DEPTH, MAX_DEPTH) + 1):
            last, level = level, []
            worker.seldepth = 0
            if depth == _HELPED_DEPTH:
                self._crew.employ(self._searching(limits))
                self._crew.start(self._help)
            for number in range(lines):
                worker.root_nodes[:] = 0
                before = int(worker.nodes)
                worker.root_first = number
                score = int(aspirate(worker, depth, scores[number]))
                while self._crew.rested():
                    score = int(aspirate(worker, depth, scores[number]))
                scores[number] = score
                if self._crew.halted:
                    break
                effort = int(worker.root_nodes[number]) / (int(worker.nodes) - before)
                level.append(self._line(depth, started, number + 1, effort))
            # A line searched later may turn out better than one searched before it.
            order = sorted(range(len(level)), key=lambda number: -scores[number])
            level = [replace(level[old], multipv=new) for new, old in enumerate(order, 1)]
            if self._crew.halted:
                if not level and (not last or self._best_move() not in (None, last[0].pv[0])):
                    level = [self._line(depth, started, complete=False)]
                if level:
                    yield from cut_short([*level, *last], lines)
                return
            scores = [scores[number] for number in order]
            worker.root_moves[:lines] = worker.root_moves[order]
            yield from level
            if limits.mate_found(level[0].score):
                return

    def _best_move(self) -> chess.Move | None:
        """Return the move that the last level had found best when it was stopped, if any.

        A move that failed high stands first in the list while it is searched again.
        """
        worker = self._crew.first.worker
        if worker.root_first:
            return None
        return self._root_moves[int(worker.best_move or worker.root_moves[0])]

    def _line(
        self,
        depth: int,
        started: float,
        number: int = 1,
        effort: float | None = None,
        complete: bool = True,
    ) -> Info[chess.Move]:
        """Report the principal variation that the kernel has just found."""
        game = self._crew.first
        worker = game.worker
        frame = worker.frames[0]
        moves = frame.pv[: frame.pv_length].tolist() if worker.best_move else []
        return Info(
            depth=depth,
            seldepth=int(worker.seldepth),
            multipv=number,
            score=score_of(int(worker.best_score)),
            pv=tuple(game.move(move) for move in moves or _root_moves(game)[:1]),
            nodes=self._nodes(),
            time=time.perf_counter() - started,
            hashfull=self._table.permille_used(),
            tbhits=self._table_hits(),
            complete=complete,
            effort=effort,
        )

    def _help(self, game: KernelBoard, index: int) -> None:
        """Deepen beside the main thread, for the table's sake; every other helper a ply ahead."""
        score = 0
        for depth in range(1 + index % 2, MAX_DEPTH + 1):
            score = int(aspirate(game.worker, depth, score))
            if game.worker.stop:
                self._heed(game)
                return


def _root_moves(game: KernelBoard) -> list[int]:
    worker = game.worker
    return worker.root_moves[: worker.root_count].tolist()
