"""Iterative deepening with the compiled alpha-beta search.

Source: 'Tema 2: Búsqueda en juegos', where it is called progressive deepening.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import chess

from agent.chess.board.kernel_board import KernelBoard
from agent.chess.search.aspiration import aspiration_search, search_window
from agent.chess.search.chess_search import MAX_DEPTH, ChessSearch, principal_variation
from agent.chess.search.table_seeding import seed_table
from agent.evaluation_types import Evaluation
from agent.kernel.scores import score_of
from agent.kernel.table_memory import TableMemory
from agent.kernel.transposition_table import EXACT, LOWER
from agent.kernel.worker_pool import NO_LIMIT
from agent.learning.learned_move import LearnedMove
from agent.limits import Info, Limits, Progress
from agent.multipv import merge_interrupted

# Helper threads start at this depth. Lower depths take less time than starting threads. They also
# guarantee that a move is available even if threads start slowly.
_HELPERS_MIN_DEPTH = 5
# A node limit covers all threads, so helpers leave fewer nodes for the main thread. They are useful
# only above this number of nodes per thread.
_MIN_NODES_PER_THREAD = 10_000
# Node limit of the first iteration, which a lower limit does not interrupt: without it, the move
# would be the first one generated.
_FIRST_ITERATION_NODES = 10_000
# Bounds are reported only after this time, as by Stockfish: before, the exact score follows soon.
_BOUNDS_AFTER_S = 3.0


class AlphaBetaSearch(ChessSearch):
    """The compiled alpha-beta search. Its threads share a transposition table (Lazy SMP).

    If `evaluation` is None, the default evaluation is used. If `selective` is False, pruning,
    reductions, extensions and the transposition table are disabled.
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
        self._learned_moves: Mapping[str, LearnedMove] = {}
        self._learned_order: Sequence[str] = ()
        self._seeded_count = 0  # number of learned moves that are in the table

    def resize(self, megabytes: int) -> None:
        self._table = TableMemory(megabytes)
        self.set_learned_moves({}, ())
        self._seeded_count = 0

    def clear(self) -> None:
        super().clear()
        self.set_learned_moves({}, ())
        self._seeded_count = 0

    def set_learned_moves(
        self, learned_moves: Mapping[str, LearnedMove], order: Sequence[str]
    ) -> None:
        """Set moves from earlier games that the next search writes into the transposition table.

        `order` contains the keys in the order of learning, and may grow between searches. Clearing
        or resizing the table removes the learned moves.
        """
        self._learned_moves, self._learned_order = learned_moves, order

    def progress(self) -> Progress[chess.Move]:
        worker = self._workers.first.worker
        index = int(worker.root_index)
        return Progress(
            nodes=self._nodes(),
            hashfull=self._table.permille_used(),
            seldepth=int(worker.seldepth),
            current_move=self._root_moves.get(int(worker.root_moves[index])),
            current_move_number=index + 1,
        )

    def _max_nodes(self, limits: Limits[chess.Move]) -> int:
        return (limits.nodes or NO_LIMIT) // self._search_threads(limits)

    def _search_threads(self, limits: Limits[chess.Move]) -> int:
        worthwhile = (limits.nodes or NO_LIMIT) // _MIN_NODES_PER_THREAD
        return min(len(self._workers), max(worthwhile, 1))

    def _search_iterations(
        self, board: chess.Board, limits: Limits[chess.Move], lines: int
    ) -> Iterator[Info[chess.Move]]:
        start_time = time.perf_counter()
        game = self._workers.first
        worker = game.worker
        if new := self._learned_order[self._seeded_count :]:
            seed_table(self._table, {key: self._learned_moves[key] for key in new})
            self._seeded_count += len(new)
        self._root_moves = {number: game.decode_move(number) for number in _root_moves(game)}
        iteration: list[Info[chess.Move]] = []
        scores = [0] * lines
        worker.node_limit = max(self._max_nodes(limits), _FIRST_ITERATION_NODES)
        for depth in range(1, min(limits.depth or MAX_DEPTH, MAX_DEPTH) + 1):
            previous, iteration = iteration, []
            worker.seldepth = 0
            if depth == _HELPERS_MIN_DEPTH:
                self._workers.add_workers(self._search_threads(limits))
                self._workers.start(self._run_helper)
            for number in range(lines):
                worker.root_nodes[:] = 0
                nodes_before = int(worker.nodes)
                worker.multipv_start = number
                window = [scores[number], 0, 0, 0]
                while True:
                    *following, bound = search_window(worker, depth, *window)
                    if self._workers.resume_after_pause():
                        continue  # with the same window
                    window = following
                    if bound == EXACT or self._workers.interrupted:
                        break
                    if lines == 1 and time.perf_counter() - start_time >= _BOUNDS_AFTER_S:
                        name = "lowerbound" if bound == LOWER else "upperbound"
                        yield replace(self._info(depth, start_time), bound=name)
                scores[number] = window[0]
                if self._workers.interrupted:
                    break
                effort = int(worker.root_nodes[number]) / (int(worker.nodes) - nodes_before)
                iteration.append(self._info(depth, start_time, number + 1, effort))
            # A later MultiPV line can have a better score than an earlier one.
            order = sorted(range(len(iteration)), key=lambda number: -scores[number])
            iteration = [replace(iteration[old], multipv=new) for new, old in enumerate(order, 1)]
            if self._workers.interrupted:
                if not iteration and (
                    not previous or self._best_move() not in (None, previous[0].pv[0])
                ):
                    iteration = [self._info(depth, start_time, complete=False)]
                if iteration:
                    yield from merge_interrupted([*iteration, *previous], lines)
                return
            scores = [scores[number] for number in order]
            worker.root_moves[:lines] = worker.root_moves[order]
            yield from iteration
            worker.node_limit = self._max_nodes(limits)
            if limits.mate_found(iteration[0].score):
                return

    def _best_move(self) -> chess.Move | None:
        """Return a stopped iteration's best move, or None if its first PV line was complete."""
        worker = self._workers.first.worker
        if worker.multipv_start:
            return None
        return self._root_moves[int(worker.best_move or worker.root_moves[0])]

    def _info(
        self,
        depth: int,
        start_time: float,
        number: int = 1,
        effort: float | None = None,
        complete: bool = True,
    ) -> Info[chess.Move]:
        game = self._workers.first
        worker = game.worker
        pv = principal_variation(game) if worker.best_move else ()
        return Info(
            depth=depth,
            seldepth=int(worker.seldepth),
            multipv=number,
            score=score_of(int(worker.best_score)),
            pv=pv or (game.decode_move(_root_moves(game)[0]),),
            nodes=self._nodes(),
            time=time.perf_counter() - start_time,
            hashfull=self._table.permille_used(),
            tbhits=self._tablebase_hits(),
            complete=complete,
            effort=effort,
        )

    def _run_helper(self, game: KernelBoard, index: int) -> None:
        score = 0
        for depth in range(1 + index % 2, MAX_DEPTH + 1):
            score = int(aspiration_search(game.worker, depth, score))
            if game.worker.stop:
                self._stop_on_failure(game)
                return


def _root_moves(game: KernelBoard) -> list[int]:
    worker = game.worker
    return worker.root_moves[: worker.root_count].tolist()
