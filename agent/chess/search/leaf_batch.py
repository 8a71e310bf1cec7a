import numpy as np

from agent.chess.board.kernel_board import KernelBoard
from agent.chess.board.records import MAX_MOVES
from agent.chess.search.batched_mcts import (
    BITBOARD_COLUMNS,
    CASTLING,
    KINDS,
    LEAF,
    NUMBER_COLUMNS,
    PLAYOUT_COLUMNS,
    SIDES,
    backup_leaves,
    collect_leaves,
)
from agent.chess.search.mcts import MAX_TREE_PLY
from agent.evaluation_types import Evaluation, EvaluationError
from agent.games.chess_batch import oriented_batch
from agent.games.game_batch import evaluate_batch
from agent.kernel.mcts_tree import NodeTree
from agent.kernel.scores import MAX_EVALUATION

# Maximum number of pending playouts per leaf of a batch. Several playouts may reach the same leaf.
_PLAYOUTS_PER_LEAF = 2


class LeafBatch:
    """Runs Monte Carlo tree search with an evaluation that scores leaves in batches."""

    def __init__(self, evaluation: Evaluation) -> None:
        size = evaluation.batch
        self._evaluation = evaluation
        self._paths = np.zeros((_PLAYOUTS_PER_LEAF * size, MAX_TREE_PLY + 2), np.int64)
        self._playouts = np.zeros((_PLAYOUTS_PER_LEAF * size, PLAYOUT_COLUMNS), np.int64)
        self._bitboards = np.zeros((size, BITBOARD_COLUMNS), np.uint64)
        self._numbers = np.zeros((size, NUMBER_COLUMNS), np.int64)
        self._moves = np.zeros((size, MAX_MOVES), np.int32)
        self._batch_moves = np.zeros((size, MAX_MOVES), np.int32)
        self._priors = np.zeros((size, MAX_MOVES), np.float32)

    def run_playouts(self, game: KernelBoard, tree: NodeTree) -> EvaluationError | None:
        """Run playouts until the tree reaches its goal or stops growing.

        If the evaluation fails, cancel the playouts of the batch and return the error. Otherwise
        return None.
        """
        while n_playouts := collect_leaves(
            game.worker,
            tree,
            self._paths,
            self._playouts,
            self._bitboards,
            self._numbers,
            self._moves,
            self._batch_moves,
            self._priors,
        ):
            error, scores = None, np.zeros(0)
            try:
                scores = self._evaluate_leaves(int(self._playouts[:n_playouts, LEAF].max()) + 1)
            except EvaluationError as raised:
                error = raised
            backup_leaves(
                game.worker,
                tree,
                self._paths,
                self._playouts[:n_playouts],
                self._numbers,
                self._moves,
                self._priors,
                scores,
            )
            game.worker.nodes += n_playouts
            if error is not None:
                return error
        return None

    def _evaluate_leaves(self, leaves: int) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
        bitboards, numbers = self._bitboards[:leaves], self._numbers[:leaves]
        batch = oriented_batch(
            bitboards[:, KINDS:SIDES],
            bitboards[:, SIDES:CASTLING],
            bitboards[:, CASTLING],
            numbers,
            self._batch_moves[:leaves],
        )
        scores, priors = evaluate_batch(self._evaluation, batch)
        if priors is not None:
            self._priors[:leaves, : priors.shape[1]] = priors
        return np.clip(scores, -MAX_EVALUATION, MAX_EVALUATION)
