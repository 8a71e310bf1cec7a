"""Monte Carlo tree search as the player drives it: playouts in growing numbers, then a choice.

`nodes` are playouts, which are visits of the root. The tree is kept for the next move as far
as it hangs below the new position, and when the pool is full, what was visited least is dropped.
"""

import math
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

import chess
import numpy as np

from agent.chess.board.kernel_board import KernelBoard
from agent.chess.search.chess_search import MAX_DEPTH, ChessSearch
from agent.chess.search.leaf_batch import LeafBatch
from agent.chess.search.mcts import LOGISTIC_SCALE, MAX_TREE_PLY, open_root, run_playouts
from agent.evaluation_types import Evaluation, EvaluationError
from agent.kernel.mcts_tree import NO_NODE, ROOT, SOLVED
from agent.kernel.node_pool import NodePool
from agent.kernel.playouts import MAX_VISITS, grow_tree, playout_goals
from agent.kernel.scores import MATE_BOUND, MAX_EVALUATION, score_of
from agent.limits import Info, Limits, Progress

FinalMoveRule = Literal["visits", "value", "bound"]

_QUIESCENCE_MEGABYTES = 1

EXPLORATION = 1.8
FPU_REDUCTION = 0.2


class MctsSearch(ChessSearch):
    """Monte Carlo tree search on one or more threads that share a tree.

    megabytes: the tree's. evaluation: the default one without it. choice: whether the move with the
    most visits is played, that of the greatest mean value, or that of the greatest upper bound; a
    proven win comes before all, a proven loss after all. A batched evaluation judges the leaves, in
    place of quiescence search, and makes one thread search. Implements the player's Searcher.
    """

    def __init__(
        self,
        megabytes: int = 16,
        threads: int = 1,
        evaluation: Evaluation | None = None,
        choice: FinalMoveRule = "visits",
    ) -> None:
        super().__init__(_QUIESCENCE_MEGABYTES, threads, evaluation, selective=True)
        self.final_choice = choice
        self._pool = self._make_pool(megabytes)
        self._board: chess.Board | None = None  # at the root of the tree, if that is of use
        self._restricted = False
        self._batch = self._make_batch()
        self._batch_error: EvaluationError | None = None

    def _make_batch(self) -> LeafBatch | None:
        return LeafBatch(self.evaluation) if self.evaluation.batch else None

    def set_evaluation(self, evaluation: Evaluation) -> None:
        """Evaluate with another function; see `ChessSearch`."""
        super().set_evaluation(evaluation)
        self._batch = self._make_batch()

    @staticmethod
    def _make_pool(megabytes: int) -> NodePool:
        pool = NodePool(megabytes)
        pool.tree.exploration = EXPLORATION
        pool.tree.fpu_reduction = FPU_REDUCTION
        return pool

    def resize(self, megabytes: int) -> None:
        """Replace the tree by an empty one; raises MemoryError, and keeps it, for want of room."""
        self._pool = self._make_pool(megabytes)
        self._board = None

    def clear(self) -> None:
        """Forget the tree."""
        super().clear()
        self._pool.clear()
        self._board = None

    def progress(self) -> Progress[chess.Move]:
        """Tell where the running search stands; no root move is searched before another."""
        return Progress(
            nodes=self._pool.playouts,
            hashfull=self._pool.permille_used(),
            seldepth=int(self._workers.first.worker.seldepth),
        )

    def search(
        self, board: chess.Board, limits: Limits[chess.Move], lines: int = 1
    ) -> Iterator[Info[chess.Move]]:
        """Search as every crew does, and forget the tree if the user's evaluation failed."""
        try:
            yield from super().search(board, limits, lines)
        except EvaluationError:
            self._board = None  # the tree has values that mean nothing
            raise

    def _set_root(self, board: chess.Board, limits: Limits[chess.Move]) -> None:
        """Make the position the root: its node in the tree, where there is one, or a new root."""
        self._pool.begin_search(self._find_node(board, limits))
        self._board = board.copy()
        self._restricted = bool(limits.search_moves)

    def _find_node(self, board: chess.Board, limits: Limits[chess.Move]) -> int:
        """Return the position's node in the tree, NO_NODE if there is none of use."""
        last = self._board
        if last is None or limits.search_moves or last.chess960 != board.chess960:
            return NO_NODE
        played = len(last.move_stack)
        if board.move_stack[:played] != last.move_stack or board.root() != last.root():
            return NO_NODE
        later = board.move_stack[played:]
        if self._restricted and not later:
            return NO_NODE
        return self._pool.find_node(later, self._workers.first.decode_move)

    def _search_iterations(
        self, board: chess.Board, limits: Limits[chess.Move], lines: int
    ) -> Iterator[Info[chess.Move]]:
        """Make more and more playouts; report after each level or part of one, and after a stop."""
        start_time = time.perf_counter()
        self._set_root(board, limits)
        self._workers.add_workers(len(self._workers) if self._batch is None else 1)
        worker, pool = self._workers.first.worker, self._pool
        pool.tree.stop_at_proven_root = lines == 1 and not limits.mate
        if self._batch is None:
            open_root(worker, pool.tree)
        most = MAX_VISITS - pool.visits(ROOT)
        for depth, goal in playout_goals(
            limits.depth or MAX_DEPTH, min(limits.nodes or most, most)
        ):
            grow_tree(pool, self._workers, goal, self._run_playouts)
            if not pool.children(ROOT):  # stopped before its moves were judged
                open_root(worker, pool.tree)
            iteration = self._infos(depth, start_time, lines)
            if self._workers.interrupted:
                yield from (replace(line, complete=False) for line in iteration)
                return
            yield from iteration
            if pool.state == SOLVED or limits.mate_found(iteration[0].score):
                return

    def _run_playouts(self, game: KernelBoard, number: int = 0) -> None:
        if self._batch is not None:
            self._batch_error = self._batch.run_playouts(game, self._pool.tree)
            if self._batch_error is not None:
                self.stop()
            return
        run_playouts(game.worker, self._pool.tree, np.zeros(MAX_TREE_PLY + 2, np.int64))
        self._stop_on_failure(game)

    def _take_error(self) -> EvaluationError | None:
        error, self._batch_error = self._batch_error, None
        return error or super()._take_error()

    def _infos(self, depth: int, start_time: float, lines: int) -> list[Info[chess.Move]]:
        """Report the best moves of the root, as they stand."""
        now: Info[chess.Move] = Info(
            depth=depth,
            score=score_of(0),
            pv=(),
            seldepth=int(self._workers.first.worker.seldepth),
            nodes=self._pool.playouts,
            time=time.perf_counter() - start_time,
            hashfull=self._pool.permille_used(),
            tbhits=self._tablebase_hits(),
        )
        return [
            replace(
                now,
                multipv=number,
                score=score_of(self._score(node)),
                pv=tuple(self._variation(node)),
            )
            for number, node in enumerate(self._ranking(ROOT)[:lines], 1)
        ]

    def _ranking(self, node: int) -> list[int]:
        """Return a node's children, the one to play first."""
        return sorted(
            self._pool.children(node),
            key=lambda child: self._ranking_key(node, child),
            reverse=True,
        )

    def _ranking_key(self, node: int, child: int) -> tuple[int, float, float]:
        """Return what a move is chosen by: what is proven, the final rule, and the prior."""
        pool = self._pool
        visits, prior, proof = pool.visits(child), pool.prior(child), pool.proven_score(child)
        if proof is not None and abs(proof) >= MATE_BOUND:
            return (1 if proof > 0 else -1), proof, prior
        if self.final_choice == "visits":
            return 0, visits, prior
        if not visits:
            return 0, -math.inf, prior
        merit = pool.mean(child)
        if self.final_choice == "bound":
            merit += EXPLORATION * prior * math.sqrt(pool.visits(node)) / (1 + visits)
        return 0, merit, prior

    def _score(self, node: int) -> int:
        """Return a root move's score, as the kernel writes it; without visits it is the root's."""
        proof = self._pool.proven_score(node)
        if proof is not None:
            return proof
        value = self._pool.mean(node) if self._pool.visits(node) else -self._pool.mean(ROOT)
        value = min(max(value, math.nextafter(-1, 0)), math.nextafter(1, 0))
        return max(
            min(round(LOGISTIC_SCALE * math.log((1 + value) / (1 - value))), MAX_EVALUATION),
            -MAX_EVALUATION,
        )

    def _variation(self, node: int) -> Iterator[chess.Move]:
        """Generate a root move and the best moves after it, as far as they were tried."""
        game = self._workers.first
        yield game.decode_move(self._pool.move(node))
        while ranking := self._ranking(node):
            node = ranking[0]
            if not self._pool.visits(node):
                return
            yield game.decode_move(self._pool.move(node))
