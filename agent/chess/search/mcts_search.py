"""Monte Carlo tree search (MCTS) for agents.

One node is counted per playout. The next search reuses the subtree of its position. If the node
pool is full, the least visited nodes are removed.
"""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Literal

import chess
import numpy as np

from agent.chess.board.kernel_board import KernelBoard
from agent.chess.endgames.root_probe import Line
from agent.chess.search.chess_search import MAX_DEPTH, ChessSearch, principal_variation
from agent.chess.search.leaf_batch import LeafBatch
from agent.chess.search.mcts import LOGISTIC_SCALE, MAX_TREE_PLY, open_root, run_playouts
from agent.chess.search.quiescence import quiescence
from agent.evaluation_types import Evaluation, EvaluationError
from agent.kernel.mcts_tree import NO_NODE, ROOT, SOLVED
from agent.kernel.node_pool import NodePool
from agent.kernel.playouts import MAX_VISITS, grow_tree, playout_goals
from agent.kernel.scores import INFINITE, MATE, MATE_BOUND, MAX_EVALUATION, score_of
from agent.limits import Info, Limits, Progress

FinalMoveRule = Literal["visits", "value", "bound"]

_QUIESCENCE_MEGABYTES = 1

EXPLORATION = 1.8
FPU_REDUCTION = 0.2


class MctsSearch(ChessSearch):
    """A compiled Monte Carlo tree search, whose threads share one tree.

    `megabytes` is the size of the tree. If `evaluation` is None, the default evaluation is used.
    `choice` selects the move with the most visits, the highest mean value, or the highest upper
    confidence bound. A proven win is always preferred, and a proven loss is chosen last.

    An evaluation that scores many positions at once replaces quiescence search, and uses one
    thread.
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
        self._board: chess.Board | None = None  # root of a reusable tree
        self._restricted = False
        self._batch = self._make_batch()
        self._batch_error: EvaluationError | None = None

    def _make_batch(self) -> LeafBatch | None:
        return LeafBatch(self.evaluation) if self.evaluation.batch else None

    def set_evaluation(self, evaluation: Evaluation) -> None:
        super().set_evaluation(evaluation)
        self._batch = self._make_batch()

    @staticmethod
    def _make_pool(megabytes: int) -> NodePool:
        pool = NodePool(megabytes)
        pool.tree.exploration = EXPLORATION
        pool.tree.fpu_reduction = FPU_REDUCTION
        return pool

    def resize(self, megabytes: int) -> None:
        self._pool = self._make_pool(megabytes)
        self._board = None

    def clear(self) -> None:
        super().clear()
        self._pool.clear()
        self._board = None

    def progress(self) -> Progress[chess.Move]:
        return Progress(
            nodes=self._pool.playouts,
            hashfull=self._pool.permille_used(),
            seldepth=int(self._workers.first.worker.seldepth),
        )

    def search(
        self, board: chess.Board, limits: Limits[chess.Move], lines: int = 1
    ) -> Iterator[Info[chess.Move]]:
        self._pool.playouts = 0
        try:
            yield from super().search(board, limits, lines)
        except EvaluationError:
            self._board = None  # discard the tree: it contains meaningless values
            raise

    def _set_root(self, board: chess.Board, limits: Limits[chess.Move]) -> None:
        self._pool.begin_search(self._find_node(board, limits))
        self._board = board.copy()
        self._restricted = bool(limits.search_moves)

    def _find_node(self, board: chess.Board, limits: Limits[chess.Move]) -> int:
        tree_board = self._board
        if tree_board is None or limits.search_moves or tree_board.chess960 != board.chess960:
            return NO_NODE
        n_played = len(tree_board.move_stack)
        if (
            board.move_stack[:n_played] != tree_board.move_stack
            or board.root() != tree_board.root()
        ):
            return NO_NODE
        new_moves = board.move_stack[n_played:]
        if self._restricted and not new_moves:
            return NO_NODE
        return self._pool.find_node(new_moves, self._workers.first.decode_move)

    def _search_iterations(
        self, board: chess.Board, limits: Limits[chess.Move], lines: int
    ) -> Iterator[Info[chess.Move]]:
        start_time = time.perf_counter()
        self._set_root(board, limits)
        self._workers.add_workers(len(self._workers) if self._batch is None else 1)
        worker, pool = self._workers.first.worker, self._pool
        pool.tree.stop_at_proven_root = lines == 1 and not limits.mate
        if self._batch is None:
            open_root(worker, pool.tree)
        max_playouts = MAX_VISITS - pool.visits(ROOT)
        for depth, goal in playout_goals(
            limits.depth or MAX_DEPTH, min(limits.nodes or max_playouts, max_playouts)
        ):
            grow_tree(pool, self._workers, goal, self._run_playouts)
            if not pool.children(ROOT):  # stopped before the root was expanded
                open_root(worker, pool.tree)
            iteration = self._infos(depth, start_time, lines)
            if self._workers.interrupted:
                yield from (replace(line, complete=False) for line in iteration)
                return
            yield from iteration
            if pool.state == SOLVED or limits.mate_found(iteration[0].score):
                return

    def _mate_line(
        self, board: chess.Board, plies: int, stopped: Callable[[], bool]
    ) -> Line | None:
        """Also repeat the quiescence search, which proves mates at the leaves of the tree."""
        line = super()._mate_line(board, plies, stopped)
        if line is not None or self._batch is not None:
            return line
        game = self._load_scratch(board, Limits())
        if abs(quiescence(game.worker, 0, -INFINITE, INFINITE)) != MATE - plies:
            return None
        line = principal_variation(game)
        if len(line) == plies:
            return line
        end = board.copy(stack=False)
        for move in line:
            end.push(move)
        tail = super()._mate_line(end, plies - len(line), stopped)
        return None if tail is None else line + tail

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
        return sorted(
            self._pool.children(node),
            key=lambda child: self._ranking_key(node, child),
            reverse=True,
        )

    def _ranking_key(self, node: int, child: int) -> tuple[int, float, float]:
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
        """Return the score of a root move, or that of the root if the move is unvisited."""
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
        game = self._workers.first
        while True:
            yield game.decode_move(self._pool.move(node))
            proof = self._pool.proven_score(node)
            children = self._ranking(node)
            if proof is not None and abs(proof) >= MATE_BOUND:
                # The mate is that of the proof, whatever the search has found since.
                reply = -proof - (1 if proof > 0 else -1)
                children = [c for c in children if self._pool.proven_score(c) == reply]
            if not children or not self._pool.visits(children[0]):
                return
            node = children[0]
